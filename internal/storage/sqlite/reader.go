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
		Among: "IN (SELECT value FROM json_each({list}))", WaitingJobs: "jobs INDEXED BY jobs_waiting", Number: unpeeked}
	return r
}

// unpeeked is a parameter as an expression. SQLite plans a statement again at each use if a
// parameter bounds a range, and when a parameter that a column must equal changes to or from
// 0 or 1, as a slot does (bound parameter peeking). That takes longer than a read of few rows.
const unpeeked = "{parameter}+0"

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
		for _, table := range []string{"meta", "api_keys INDEXED BY api_keys_hash", "partners", "stores", "stock"} {
			if err := exec(conn, "SELECT count(*) FROM (SELECT 1 FROM "+table+" LIMIT 1)", noArgs); err != nil {
				return err
			}
		}
		return nil
	})
}
