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
	r.Reader = reads.Reader{Rows: r.rows, Each: r.each, Among: "= ANY({list})", WaitingJobs: "jobs", Number: "{parameter}", Lookups: e.lookups}
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

// once is read for statements whose rows are given to a caller: it does not run f again
// where the connection breaks in the midst of them. f sets given with the first row.
func (r reader) once(ctx context.Context, f func(ctx context.Context, given *bool) error) error {
	var broke error
	given := false
	return r.read(ctx, func(ctx context.Context) error {
		if !given {
			broke = f(ctx, &given)
		}
		return broke
	})
}

// rows implements reads.Rows.
func (r reader) rows(ctx context.Context, sql string, args []any, row func(schema.Scanner)) error {
	return r.once(ctx, func(ctx context.Context, given *bool) error {
		return query(ctx, r.e.readers, func(s *scanner) {
			*given = true
			row(s)
		}, sql, args...)
	})
}

// each implements reads.Reader.Each in one round trip.
func (r reader) each(ctx context.Context, sql string, n int, args func(i int) []any, row func(i int, s schema.Scanner)) error {
	return r.once(ctx, func(ctx context.Context, given *bool) error {
		var q pgx.Batch
		q.Queue(seen(beginSnapshot))
		for i := range n {
			queue(&q, func(s *scanner) {
				*given = true
				row(i, s)
			}, sql, args(i)...)
		}
		q.Queue(seen(endSnapshot))
		return r.e.readers.SendBatch(ctx, &q).Close()
	})
}

// Categories implements storage.Reader, as do the others.
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
	err = r.rows(ctx, sql+" ORDER BY name, id", args, func(s schema.Scanner) { list = append(list, schema.Categories.Scan(s, s.Text())) })
	return list, err
}

// categoriesOf looks through all products of the stores: an index for it would
// be one more that each sale moves.
func (r reader) categoriesOf(ctx context.Context, storeIDs []string) (ids []string, err error) {
	err = r.rows(ctx, "SELECT DISTINCT category_id FROM stock WHERE store_id = ANY($1)", []any{storeIDs}, func(s schema.Scanner) { ids = append(ids, s.Text()) })
	return ids, err
}

func (r reader) Ping(ctx context.Context) error {
	return r.rows(ctx, "SELECT version FROM schema_version WHERE id = 1", nil, func(schema.Scanner) {})
}
