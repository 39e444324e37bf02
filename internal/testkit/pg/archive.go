package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// Archive is where a server keeps a copy of itself and its log since, so that another one can have
// its state at any moment.
type Archive struct {
	folder  string
	install installation
}

// NewArchive makes an archive inside a folder, as Start makes a server.
func NewArchive(inside string) (*Archive, error) {
	install, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(inside, "archive-")
	if err != nil {
		return nil, err
	}
	a := &Archive{folder, install}
	if err = os.Mkdir(a.log(), 0o700); err == nil {
		err = install.own(a.log())
	}
	if err == nil {
		err = install.own(folder)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Archive) log() string  { return filepath.Join(a.folder, "log") }
func (a *Archive) base() string { return filepath.Join(a.folder, "base") }

// Close deletes the archive.
func (a *Archive) Close() error { return os.RemoveAll(a.folder) }

// Settings are those of a server that keeps its log here, as docs/OPERATING.md has them.
func (a *Archive) Settings() []string {
	return []string{"archive_mode=on", fmt.Sprintf("archive_command=test ! -f %[1]s/%%f && cp %%p %[1]s/%%f", a.log())}
}

// BaseBackup copies a running server here.
func (a *Archive) BaseBackup(s *Server) error {
	return s.command("pg_basebackup", "-D", a.base(), "-d", s.URL("postgres"), "--checkpoint=fast", "--no-sync")
}

// Complete returns when all that the server has committed is here.
func (a *Archive) Complete(s *Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	last := ""
	err = conn.QueryRow(ctx, "SELECT pg_walfile_name(pg_switch_wal())").Scan(&last)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	return s.until("SELECT coalesce(last_archived_wal >= '" + last + "', false) FROM pg_stat_archiver")
}

// Restore makes a server, inside a folder as by Start, of the base backup, which it takes, with the
// state of a moment that is here.
func (a *Archive) Restore(inside string, at time.Time, settings ...string) (*Server, error) {
	settings = append(settings, fmt.Sprintf("restore_command=cp %s/%%f %%p", a.log()),
		"recovery_target_time="+at.UTC().Format("2006-01-02 15:04:05.000000+00"), "recovery_target_action=promote")
	s, err := create(inside, settings, func(s *Server) error {
		if err := os.Rename(a.base(), s.data()); err != nil {
			return err
		}
		signal := filepath.Join(s.data(), "recovery.signal")
		return errors.Join(os.WriteFile(signal, nil, 0o600), a.install.own(signal))
	})
	if err != nil {
		return nil, err
	}
	if err := s.until("SELECT NOT pg_is_in_recovery()"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
