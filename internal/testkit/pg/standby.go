package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Standby makes a second server that follows this one, and returns when it is the
// synchronous standby: from then on a commit waits until the standby has it on disk.
// It has the same settings, and is made inside a folder as by Start.
func (s *Server) Standby(inside string) (*Server, error) {
	second, err := create(inside, s.settings, func(second *Server) error {
		return second.command("pg_basebackup", "-D", second.data(), "-d", s.URL("postgres"),
			"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	})
	if err != nil {
		return nil, err
	}
	err = s.SQL("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	if err == nil {
		err = s.until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
	}
	if err != nil {
		return nil, errors.Join(err, second.Close())
	}
	return second, nil
}

// Promote makes a standby accept writes. Its former primary must not run.
func (s *Server) Promote() error {
	return errors.Join(s.SQL("SELECT pg_promote(wait => false)"), s.until("SELECT NOT pg_is_in_recovery()"))
}

// until waits until a query returns true. A standby cancels a query that is in the way of what
// it still has to replay; it is then asked again.
func (s *Server) until(query string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for {
		var ok bool
		err := conn.QueryRow(ctx, query).Scan(&ok)
		refusal, refused := errors.AsType[*pgconn.PgError](err)
		if cancelled := refused && refusal.Code == "40001"; ok || err != nil && !cancelled {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v in vain for: %s", patience, query)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
