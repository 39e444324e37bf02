package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// reader implements storage.Reader on the pool of reading connections.
type reader struct {
	reads.Reader
	e *Engine
}

func newReader(e *Engine) reader {
	r := reader{e: e}
	r.Reader.Rows = r.rows
	return r
}

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

// queryEach runs a statement once for each key. All see one state.
func queryEach[K any](ctx context.Context, r reader, keys []K, sql string, bind func(schema.Binder, K), row func(*scanner, K)) error {
	return r.snapshot(ctx, func(conn *connection) error {
		for _, k := range keys {
			err := query(conn, sql, func(b schema.Binder) { bind(b, k) }, func(s *scanner) { row(s, k) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// rows implements reads.Rows.
func (r reader) rows(ctx context.Context, sql string, bind func(schema.Binder), row func(schema.Scanner)) error {
	return r.with(ctx, func(conn *connection) error {
		return query(conn, sql, bind, func(s *scanner) { row(s) })
	})
}

func (r reader) Stores(ctx context.Context, f storage.StoreFilter) (list []commerce.Store, err error) {
	ids, err := json.Marshal(f.IDs)
	if err != nil {
		return nil, err
	}
	sql := "SELECT id, " + schema.Stores.Values() + " FROM stores WHERE active = ?1 AND id > ?2"
	if f.IDs != nil {
		sql += " AND id IN (SELECT value FROM json_each(?4))"
	}
	err = r.rows(ctx, sql+" ORDER BY id LIMIT ?3", func(b schema.Binder) {
		b.Bool(f.Active).Text(f.After).Int(int64(f.Limit))
		if f.IDs != nil {
			b.JSON(ids)
		}
	}, func(s schema.Scanner) { list = append(list, schema.Stores.Scan(s, s.Text())) })
	return list, err
}

func (r reader) Categories(ctx context.Context, f storage.CategoryFilter) (list []commerce.Category, err error) {
	of, err := json.Marshal(f.StoreIDs)
	if err != nil {
		return nil, err
	}
	sql := "SELECT id, name, active FROM categories WHERE true"
	if f.Active != nil {
		sql += " AND active = ?"
	}
	if f.StoreIDs != nil {
		sql += " AND EXISTS (SELECT 1 FROM stock WHERE stock.store_id IN (SELECT value FROM json_each(?)) AND stock.category_id = categories.id)"
	}
	sql += " ORDER BY name, id"
	err = r.rows(ctx, sql, func(b schema.Binder) {
		if f.Active != nil {
			b.Bool(*f.Active)
		}
		if f.StoreIDs != nil {
			b.JSON(of)
		}
	}, func(s schema.Scanner) { list = append(list, schema.Categories.Scan(s, s.Text())) })
	return list, err
}

func (r reader) Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error) {
	found := make(map[string]commerce.Stock, len(productIDs))
	sql := "SELECT product_stores.store_id, " + schema.Qualified("stock", schema.Stock.Mutable) +
		" FROM product_stores JOIN stock ON stock.store_id = product_stores.store_id AND stock.product_id = product_stores.product_id" +
		" WHERE product_stores.product_id = ?"
	err := queryEach(ctx, r, productIDs, sql, schema.ProductStores.BindKey, func(s *scanner, id string) {
		found[id] = schema.Stock.Scan(s, commerce.ProductKey{StoreID: s.Text(), ProductID: id})
	})
	return found, err
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
