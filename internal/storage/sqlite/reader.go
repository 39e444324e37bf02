package sqlite

import (
	"context"
	"crypto/subtle"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// reader implements storage.Reader on the pool of reading connections.
type reader struct{ e *Engine }

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

// one reads a row by its key; storage.ErrNotFound if there is none.
func one[K comparable, V any](ctx context.Context, r reader, t typed[K, V], k K) (v V, err error) {
	found := false
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, t.selectSQL, func(b schema.Binder) { t.BindKey(b, k) }, func(s *scanner) { v, found = t.Scan(s, k), true })
	})
	if err == nil && !found {
		err = storage.ErrNotFound
	}
	return v, err
}

func (r reader) Store(ctx context.Context, id string) (commerce.Store, error) {
	return one(ctx, r, stores, id)
}

func (r reader) StoreByNo(ctx context.Context, no int64) (commerce.Store, error) {
	id := ""
	err := r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT id FROM stores WHERE no = ?", func(b schema.Binder) { b.Int(no) }, func(s *scanner) { id = s.Text() })
	})
	if err != nil {
		return commerce.Store{}, err
	}
	return r.Store(ctx, id)
}

func (r reader) Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error) {
	return one(ctx, r, orders, key)
}

func (r reader) ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error) {
	ref, err := one(ctx, r, externalIDs, key)
	return ref.Order, err
}

func (r reader) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	return one(ctx, r, partners, id)
}

func (r reader) Partners(ctx context.Context) (list []commerce.Partner, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT id, "+partners.Values()+" FROM partners ORDER BY id", noArgs,
			func(s *scanner) { list = append(list, partners.Scan(s, s.Text())) })
	})
	return list, err
}

// KeyHolder finds the key by an index over hashes, which tells an attacker
// nothing of the key; what was found is compared in constant time all the same.
func (r reader) KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error) {
	var key commerce.APIKey
	err := r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT partner_id, mode, hash FROM api_keys WHERE hash = ?",
			func(b schema.Binder) { b.Blob(hash[:]) },
			func(s *scanner) {
				key.PartnerID, key.Mode = s.Text(), commerce.Mode(s.Text())
				copy(key.Hash[:], s.Blob())
			})
	})
	if err != nil {
		return commerce.Partner{}, "", err
	}
	if subtle.ConstantTimeCompare(key.Hash[:], hash[:]) != 1 {
		return commerce.Partner{}, "", storage.ErrNotFound
	}
	p, err := r.Partner(ctx, key.PartnerID)
	return p, key.Mode, err
}

func (r reader) Stores(ctx context.Context, f storage.StoreFilter) (list []commerce.Store, err error) {
	if f.IDs != nil {
		return r.storesByID(ctx, f)
	}
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT id, "+stores.Values()+" FROM stores WHERE active = ? AND id > ? ORDER BY id LIMIT ?",
			func(b schema.Binder) { b.Bool(f.Active).Text(f.After).Int(int64(f.Limit)) },
			func(s *scanner) { list = append(list, stores.Scan(s, s.Text())) })
	})
	return list, err
}

func (r reader) storesByID(ctx context.Context, f storage.StoreFilter) (list []commerce.Store, err error) {
	ids, err := json.Marshal(f.IDs)
	if err != nil {
		return nil, err
	}
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT id, "+stores.Values()+
			" FROM stores WHERE active = ? AND id > ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?",
			func(b schema.Binder) { b.Bool(f.Active).Text(f.After).JSON(ids).Int(int64(f.Limit)) },
			func(s *scanner) { list = append(list, stores.Scan(s, s.Text())) })
	})
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
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, sql, func(b schema.Binder) {
			if f.Active != nil {
				b.Bool(*f.Active)
			}
			if f.StoreIDs != nil {
				b.JSON(of)
			}
		}, func(s *scanner) { list = append(list, categories.Scan(s, s.Text())) })
	})
	return list, err
}

func (r reader) Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error) {
	found := make(map[string]commerce.Stock, len(productIDs))
	err := r.snapshot(ctx, func(conn *connection) error {
		for _, id := range productIDs {
			err := query(conn, "SELECT product_stores.store_id, "+schema.Qualified("stock", stock.Mutable)+
				" FROM product_stores JOIN stock ON stock.store_id = product_stores.store_id AND stock.product_id = product_stores.product_id"+
				" WHERE product_stores.product_id = ?",
				func(b schema.Binder) { b.Text(id) },
				func(s *scanner) { found[id] = stock.Scan(s, commerce.ProductKey{StoreID: s.Text(), ProductID: id}) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

func (r reader) Timeline(ctx context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error) {
	var list []commerce.TimelineEvent
	err := r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT seq, "+schema.Timeline.Rest+" FROM timeline WHERE store_id = ? AND order_id = ? ORDER BY seq DESC LIMIT ?",
			func(b schema.Binder) { b.Text(key.StoreID).Text(key.OrderID).Int(int64(limit)) },
			func(s *scanner) {
				list = append(list, schema.ScanTimeline(s, key))
			})
	})
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
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
