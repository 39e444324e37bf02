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

// watch looks at the open transactions of a database until stop is called. Of
// SQLite there is nothing to look at.
func (p *payments) watch(c *contender, seen *transactions) (stop func() error, err error) {
	if c.name != load.Postgres {
		return func() error { return nil }, nil
	}
	conn, err := pgx.Connect(p.Ctx, c.data.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.Ctx)
	ended := make(chan error)
	go func() { ended <- seen.look(ctx, conn) }()
	return func() error {
		cancel()
		return errors.Join(<-ended, conn.Close(context.WithoutCancel(p.Ctx)))
	}, nil
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
