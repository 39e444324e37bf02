package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// reader implements storage.Reader on the pool of reading connections.
type reader struct {
	reads.Reader
	e *Engine
}

func newReader(e *Engine) reader {
	r := reader{e: e}
	r.Reader.Rows = func(ctx context.Context, sql string, bind func(schema.Binder), row func(schema.Scanner)) error {
		var bound values
		bind(&bound)
		return r.rows(ctx, sql, bound.args(), func(s *scanner) { row(s) })
	}
	return r
}

// readTime bounds one read, so that a server that went silent does not hold up its callers.
const readTime = 10 * time.Second

// read runs f, and once more if its connection turns out to be broken: a pooled connection
// may be older than the server's last restart.
func (r reader) read(ctx context.Context, f func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	err := f(bounded)
	if broken(err) && bounded.Err() == nil {
		err = f(bounded)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the caller has gone
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "22021" {
		return nil // PostgreSQL cannot store such a text (a NUL, broken UTF-8), so no row has it
	}
	return unavailable(err)
}

func broken(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnreadable) {
		return false
	}
	pg, answered := errors.AsType[*pgconn.PgError](err)
	return !answered || pg.Code[:2] == "57"
}

// rows runs one statement and calls row for each of its rows, which is not done
// again where the connection breaks in the midst of them.
func (r reader) rows(ctx context.Context, sql string, args []any, row func(*scanner)) error {
	var broke error
	given := false
	return r.read(ctx, func(ctx context.Context) error {
		if given {
			return broke
		}
		broke = query(ctx, r.e.readers, func(s *scanner) {
			given = true
			row(s)
		}, sql, args...)
		return broke
	})
}

// Store implements storage.Reader, as do the others.
func (r reader) Store(ctx context.Context, id string) (commerce.Store, error) {
	return single(ctx, r, r.e.singles.stores, id)
}

func (r reader) Stores(ctx context.Context, f storage.StoreFilter) (list []commerce.Store, err error) {
	sql, args := "SELECT id, "+schema.Stores.Values()+" FROM stores WHERE active = $1 AND id > $2", []any{f.Active, f.After, f.Limit}
	if f.IDs != nil {
		sql, args = sql+" AND id = ANY($4)", append(args, f.IDs)
	}
	err = r.rows(ctx, sql+" ORDER BY id LIMIT $3", args, func(s *scanner) { list = append(list, schema.Stores.Scan(s, s.Text())) })
	return list, err
}

func (r reader) Categories(ctx context.Context, f storage.CategoryFilter) (list []commerce.Category, err error) {
	sql, args := "SELECT id, "+schema.Categories.Values()+" FROM categories WHERE true", []any{}
	if f.Active != nil {
		args = append(args, *f.Active)
		sql += " AND active = $" + strconv.Itoa(len(args))
	}
	if f.StoreIDs != nil {
		of, err := r.categoriesOf(ctx, f.StoreIDs)
		if err != nil {
			return nil, err
		}
		args = append(args, of)
		sql += " AND id = ANY($" + strconv.Itoa(len(args)) + ")"
	}
	err = r.rows(ctx, sql+" ORDER BY name, id", args, func(s *scanner) { list = append(list, schema.Categories.Scan(s, s.Text())) })
	return list, err
}

// categoriesOf looks through all products of the stores: an index for it would
// be one more that each sale moves.
func (r reader) categoriesOf(ctx context.Context, storeIDs []string) (ids []string, err error) {
	err = r.rows(ctx, "SELECT DISTINCT category_id FROM stock WHERE store_id = ANY($1)", []any{storeIDs}, func(s *scanner) { ids = append(ids, s.Text()) })
	return ids, err
}

var stockSQL = textOf(schema.Stock.Name).inRange

func (r reader) Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error) {
	found := make(map[string]commerce.Stock, len(productIDs))
	byStore := map[string][]string{}
	err := r.rows(ctx, "SELECT product_id, store_id FROM product_stores WHERE product_id = ANY($1)", []any{productIDs},
		func(s *scanner) {
			id, store := s.Text(), s.Text()
			byStore[store] = append(byStore[store], id)
		})
	if err != nil {
		return nil, err
	}
	err = r.snapshot(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var q pgx.Batch
		for store, ids := range byStore {
			queue(&q, func(s *scanner) {
				id := s.Text()
				found[id] = schema.Stock.Scan(s, commerce.ProductKey{StoreID: store, ProductID: id})
			}, stockSQL, store, ids)
		}
		return tx.SendBatch(ctx, &q).Close()
	})
	return found, err
}

// snapshot runs statements that all see one state.
func (r reader) snapshot(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	return r.read(ctx, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, r.e.readers, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(tx pgx.Tx) error { return f(ctx, tx) })
	})
}

func (r reader) Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error) {
	return single(ctx, r, r.e.singles.orders, key)
}

func (r reader) Ping(ctx context.Context) error {
	return r.rows(ctx, "SELECT version FROM schema_version WHERE id = 1", nil, func(*scanner) {})
}

func (r reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return single(ctx, r, r.e.singles.deliveries, key)
}

func (r reader) Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error) {
	return single(ctx, r, r.e.singles.replies, key)
}

func (r reader) Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error) {
	return single(ctx, r, r.e.singles.payments, key)
}

func (r reader) SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error) {
	return single(ctx, r, r.e.singles.sandbox, id)
}
