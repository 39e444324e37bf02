package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"
)

// reader implements storage.Reader on the pool of reading connections.
type reader struct {
	reads.Reader
	e *Engine
}

func newReader(e *Engine) reader {
	r := reader{e: e}
	r.Reader = reads.Reader{Rows: r.rows, Each: r.each,
		Among: "IN (SELECT value FROM json_each({list}))", WaitingJobs: "jobs INDEXED BY jobs_waiting", Number: unpeeked, Text: unpeekedText}
	return r
}

// Parameters as expressions. SQLite plans a statement again at each use if a
// parameter bounds a range, and when a parameter that a column must equal changes to or from
// 0 or 1, as a slot does (bound parameter peeking). That takes longer than a read of few rows.
const (
	unpeeked     = "{parameter}+0"
	unpeekedText = "{parameter}||''"
)

// with lends a connection for the time of f.
func (r reader) with(ctx context.Context, f func(*connection) error) error {
	select {
	case conn := <-r.e.readers:
		defer func() { r.e.readers <- conn }()
		return unavailable(f(conn))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshot is with, in one transaction: all its statements see one state.
func (r reader) snapshot(ctx context.Context, f func(*connection) error) error {
	return r.with(ctx, func(conn *connection) error {
		if err := exec(conn, "BEGIN", noArgs); err != nil {
			return err
		}
		err := f(conn)
		if end := exec(conn, "ROLLBACK", noArgs); err == nil {
			err = end // nothing was written: a rollback is as good as a commit
		}
		return err
	})
}

// rows implements reads.Rows.
func (r reader) rows(ctx context.Context, sql string, args []any, row func(schema.Scanner)) error {
	return r.with(ctx, func(conn *connection) error {
		return query(conn, sql, bind(args...), func(s *scanner) { row(s) })
	})
}

// each implements reads.Reader.Each.
func (r reader) each(ctx context.Context, sql string, n int, args func(i int) []any, row func(i int, s schema.Scanner)) error {
	return r.snapshot(ctx, func(conn *connection) error {
		for i := range n {
			if err := query(conn, sql, bind(args(i)...), func(s *scanner) { row(i, s) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// Categories implements storage.Reader, as do the others.
func (r reader) Categories(ctx context.Context, f storage.CategoryFilter) (list []commerce.Category, err error) {
	sql, args := "SELECT id, name, active FROM categories WHERE true", []any{}
	if f.Active != nil {
		sql, args = sql+" AND active = ?", append(args, *f.Active)
	}
	if f.StoreIDs != nil {
		sql += " AND EXISTS (SELECT 1 FROM stock WHERE stock.store_id IN (SELECT value FROM json_each(?)) AND stock.category_id = categories.id)"
		args = append(args, f.StoreIDs)
	}
	err = r.rows(ctx, sql+" ORDER BY name, id", args, func(s schema.Scanner) { list = append(list, schema.Categories.Scan(s, s.Text())) })
	return list, err
}

// Ping implements storage.Reader. It reads from each table that every request
// needs, because damage of a file is seen only where it is read.
func (r reader) Ping(ctx context.Context) error {
	return r.with(ctx, func(conn *connection) error {
		for _, table := range []string{"meta", "partner_keys INDEXED BY partner_keys_hash", "partners", "stores", "stock"} {
			if err := exec(conn, "SELECT count(*) FROM (SELECT 1 FROM "+table+" LIMIT 1)", noArgs); err != nil {
				return err
			}
		}
		return nil
	})
}

var stockMove = "SELECT " + schema.MoveColumns + ` FROM stock_moves AS m
	LEFT JOIN stock_notes AS n ON n.store_id = m.store_id AND n.product_id = m.product_id AND n.seq = m.seq
	WHERE m.at = ? AND m.store_id = ? AND m.product_id = ? AND m.seq < ? ORDER BY m.seq DESC LIMIT 1`

func (r reader) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) (list []commerce.StockMove, err error) {
	err = r.with(ctx, func(conn *connection) error {
		for n := 0; n < limit; n++ {
			err := query(conn, stockMove, bind(from.At, key.StoreID, key.ProductID, from.Seq),
				func(s *scanner) { list = append(list, schema.ScanStockMove(s, key)) })
			if err != nil || len(list) == n {
				return err
			}
			from = list[n].Before()
		}
		return nil
	})
	return list, err
}

// EventPage implements storage.Reader. SQLite has one writer: ids become
// visible in their order.
func (r reader) EventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, err error) {
	sql, args := f.SQL("id, " + schema.WebhookEvents.Rest)
	newest, list := "", f.List()
	err = r.snapshot(ctx, func(conn *connection) error {
		err := query(conn, sql, bind(args...), func(s *scanner) {
			if !list.Full() {
				list.Add(schema.ScanEvent(s, f.PartnerID))
			}
		})
		if err != nil {
			return err
		}
		return query(conn, "SELECT id FROM webhook_events WHERE partner_id = ? ORDER BY id DESC LIMIT 1",
			func(b schema.Binder) { b.Text(f.PartnerID) }, func(s *scanner) { newest = s.Text() })
	})
	return list.Page(newest), err
}

const sitesSQL = "SELECT " + schema.SiteColumns + " FROM stores WHERE active = ? AND band = ? AND lng BETWEEN ? AND ?"

// Sites implements storage.Reader. Each strip is a piece of a covering index.
func (r reader) Sites(ctx context.Context, f storage.SiteFilter) (list []commerce.Site, err error) {
	err = r.each(ctx, sitesSQL, len(f.Area), func(i int) []any { return []any{f.Active, f.Area[i].Band, f.Area[i].West, f.Area[i].East} },
		func(_ int, s schema.Scanner) { list = append(list, schema.ScanSite(s)) })
	return list, err
}
