package main

import (
	"context"
	"errors"
	"time"

	"purveyor/bench/internal/load"

	"github.com/jackc/pgx/v5"
)

// transactions are what was seen of those that are open at PostgreSQL.
type transactions struct {
	oldest time.Duration
	looks  int
}

const oldestOpen = `SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8
	FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

// watch looks at the open transactions of a database while f runs. Of SQLite
// there is nothing to look at.
func (p *payments) watch(c *load.Contender, seen *transactions, f func()) error {
	if c.Name != load.Postgres {
		f()
		return nil
	}
	conn, err := pgx.Connect(p.Ctx, c.Data.URL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(p.Ctx)
	ended := make(chan error)
	go func() { ended <- seen.look(ctx, conn) }()
	f()
	cancel()
	return errors.Join(<-ended, conn.Close(context.WithoutCancel(p.Ctx)))
}

func (t *transactions) look(ctx context.Context, conn *pgx.Conn) error {
	const pause = 20 * time.Millisecond
	for {
		var seconds float64
		if err := conn.QueryRow(context.WithoutCancel(ctx), oldestOpen).Scan(&seconds); err != nil {
			return err
		}
		t.oldest = max(t.oldest, time.Duration(seconds*float64(time.Second)))
		t.looks++
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
