package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// snapshot implements schema.Snapshot in a transaction.
type snapshot struct {
	ctx    context.Context
	tx     pgx.Tx
	spread bool
	state  *schema.State // when it was first asked for
}

// Snapshot implements storage.Engine.
func (e *Engine) Snapshot(ctx context.Context, f func(schema.Snapshot) error) error {
	return e.alone(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(s snapshot) error { return f(s) })
}

// Fill implements storage.Engine.
func (e *Engine) Fill(ctx context.Context, f func(schema.Filling) error) error {
	return e.alone(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(s snapshot) error { return f(filling{s}) })
}

// alone runs a transaction on a connection of its own, which may take long.
func (e *Engine) alone(ctx context.Context, o pgx.TxOptions, f func(snapshot) error) error {
	conn, err := e.connect(ctx)
	if err != nil {
		return unavailable(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it was used for this alone
	var failed error                             // of f, and so perhaps of another database
	err = pgx.BeginTxFunc(ctx, conn, o, func(tx pgx.Tx) error {
		failed = f(snapshot{ctx, tx, e.spread, &schema.State{}})
		return failed
	})
	if failed != nil {
		return failed
	}
	return unavailable(err)
}

// State implements schema.Snapshot. A cluster has no snapshot over its nodes, so its state is
// read once, before the rows: a batch that is saved later shows.
func (s snapshot) State() (schema.State, error) {
	if s.state.NextStoreNo != 0 {
		return *s.state, nil
	}
	state, guards := schema.State{}, []*guard{guardOfAll}
	if s.spread {
		guards = append(guards, guardOfStores, guardOfPartners)
	}
	for _, g := range guards {
		var last, saved int64
		if err := s.tx.QueryRow(s.ctx, g.state).Scan(&last, &saved); err != nil {
			return state, unavailable(err)
		}
		if state.Stamp = max(state.Stamp, last); s.spread {
			state.Saved += saved // stamps of different stores do not rise together
		}
	}
	if err := s.tx.QueryRow(s.ctx, "SELECT value FROM meta WHERE name = 'next_store_no'").Scan(&state.NextStoreNo); err != nil {
		return state, unavailable(err)
	}
	var secret []byte
	if err := s.tx.QueryRow(s.ctx, "SELECT secret FROM meta WHERE name = 'tracking'").Scan(&secret); err != nil {
		return state, unavailable(err)
	}
	state.TrackingSecret = string(secret)
	*s.state = state
	return state, nil
}

func (s snapshot) Each(t *schema.Plain, row func(schema.Scanner) error) error {
	return s.query("SELECT "+t.Columns+" FROM "+t.Name, func(r *scanner) {
		if err := row(r); err != nil {
			r.Fail(err)
		}
	})
}

func (s snapshot) Items(storeID string, item func(commerce.Item) error) error {
	sql, args := schema.ItemsSQL(""), []any(nil)
	if storeID != "" {
		sql, args = schema.ItemsSQL(" WHERE products.store_id = $1"), []any{storeID}
	}
	return s.query(sql, func(r *scanner) {
		if err := item(schema.ScanItem(r)); err != nil {
			r.Fail(err)
		}
	}, args...)
}

func (s snapshot) Sums(t *schema.Plain) (sums []int64, err error) {
	err = s.query(t.SumsSQL(), func(r *scanner) { sums = t.ReadSums(r) })
	return sums, err
}

func (s snapshot) query(sql string, row func(*scanner), args ...any) error {
	rows, err := s.tx.Query(s.ctx, sql, args...)
	if err != nil {
		return unavailable(err)
	}
	return each(rows, row)
}

// filling implements schema.Filling.
type filling struct{ snapshot }

// SetState leaves the stamp behind as a writer that has come and gone.
func (f filling) SetState(s schema.State) error {
	_, err := f.tx.Exec(f.ctx, "INSERT INTO writers (id, last, until) VALUES ('copy', $1, now())", s.Stamp)
	if err == nil {
		_, err = f.tx.Exec(f.ctx, "UPDATE meta SET value = $1 WHERE name = 'next_store_no'", s.NextStoreNo)
	}
	if err == nil {
		_, err = f.tx.Exec(f.ctx, "UPDATE meta SET secret = $1 WHERE name = 'tracking'", []byte(s.TrackingSecret))
	}
	return unavailable(err)
}

func (f filling) Insert(t *schema.Plain, each func(row func(schema.Scanner) error) error) error {
	const most = 1000 // rows in a statement
	width := len(schema.Split(t.Columns))
	rows := make(values, 0, most*width)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		_, err := f.tx.Exec(f.ctx, insertSQL(t.Name, t.Columns, rows[:width]), rows.arrays(width)...)
		rows = rows[:0]
		return unavailable(err)
	}
	err := each(func(s schema.Scanner) error {
		t.Move(s, &rows)
		if len(rows) < most*width {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
