package postgres

import (
	"context"
	"fmt"

	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
)

// spare holds a writing connection while it is free (nil: there is none yet). It is for
// statements that must not wait for a batch.
type spare chan *pgx.Conn

func newSpare() spare {
	s := make(spare, 1)
	s <- nil
	return s
}

// close waits until the connection is given back.
func (s spare) close() {
	if conn := <-s; conn != nil {
		_ = conn.Close(context.Background()) // a broken connection is as good as closed
	}
}

// on lends the connection to f. If the connection breaks, f runs once more with a new one,
// so the statements of f may take effect twice.
func (e *Engine) on(ctx context.Context, s spare, f func(*pgx.Conn) error) (err error) {
	var conn *pgx.Conn
	select {
	case conn = <-s:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	}
	defer func() { s <- conn }()
	for range 2 {
		if conn == nil || conn.IsClosed() {
			if conn, err = e.connectWriter(ctx); err != nil {
				return unavailable(err)
			}
		}
		if err = f(conn); !broken(err) {
			break
		}
	}
	return unavailable(err)
}
