package postgres

import (
	"context"
	"crypto/rand"
	"errors"
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

var (
	errStandby  = errors.New("the server is a standby and takes no writes; name all servers with target_session_attrs=read-write in --database")
	errReadOnly = errors.New("the database is set to read-only; set default_transaction_read_only to off for it and for the user")
)

// Writable implements storage.Engine. It writes what every batch writes first.
// It does not use the connection of batches, because a batch may wait for a lock.
func (e *Engine) Writable(ctx context.Context) error {
	var standby, readOnly bool
	err := e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		if err != nil {
			return err
		}
		// If the rollback fails, the connection is closed, and the server rolls back.
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		err = tx.QueryRow(ctx, "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean").Scan(&standby, &readOnly)
		if err == nil && !standby && !readOnly {
			_, err = exec(ctx, tx, guardOfAll.publish, "probe_"+rand.Text(), int64(0))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case standby:
		return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, storage.ErrUnusable, errStandby)
	case readOnly:
		return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, storage.ErrUnusable, errReadOnly)
	}
	return nil
}
