// Package pg runs throwaway PostgreSQL servers for tests and benchmarks.
package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"purveyor/internal/testkit/port"

	"github.com/jackc/pgx/v5"
)

// user is the superuser of each server. It has no password.
const user = "purveyor"

// patience bounds the start and the stop of a server.
const patience = time.Minute

// Server is a PostgreSQL server with its own data. Only URL, Address, Database and
// Clone are safe for concurrent use.
type Server struct {
	install  installation
	folder   string // holds the data and the log
	port     int
	settings []string
	outside  *outsider // nil: the server was started here

	templates sync.Map // by name, the func() error that fills what Clone copies

	guard io.Closer     // see guard
	run   *exec.Cmd     // nil before the first start
	ended chan struct{} // closed when run has ended
}

// Start makes a new server inside a folder (empty: the folder for temporary files),
// and starts it. If root runs the tests, the user postgres must be allowed to enter
// the folder. Settings are as in postgresql.conf: "fsync=off". The server keeps its
// address until Close, which the caller has to call; if the process dies before, the
// server still ends, and its data is removed.
//
// Texts are sorted by the rules of a language, as in most installations.
func Start(inside string, settings ...string) (*Server, error) {
	return create(inside, settings, func(s *Server) error {
		return s.command("initdb", "-D", s.data(), "-U", user, "--auth=trust", "--no-sync", "--encoding=UTF8",
			"--locale=C", "--locale-provider=icu", "--icu-locale=en-US")
	})
}

// create makes a server, has fill create its data folder, and starts it.
func create(inside string, settings []string, fill func(*Server) error) (*Server, error) {
	install, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(inside, "pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{install: install, folder: folder, settings: settings}
	if s.guard, err = guard(folder); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := install.own(folder); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := fill(s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// Another process may take the port first.
	for range 5 {
		if s.port, err = port.Free(); err != nil {
			break
		}
		if err = s.Restart(); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, s.Close())
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// command runs a program of PostgreSQL to its end.
func (s *Server) command(program string, args ...string) error {
	cmd := s.install.command(s.folder, program, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// Address returns the address that the server listens on: 127.0.0.1:port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL returns the URL of a database of the server. "postgres" always exists.
func (s *Server) URL(database string) string { return URL(database, s.Address()) }

// URL returns the URL of a database at an address. Of several addresses it is the one
// whose server accepts writes.
func URL(database string, addresses ...string) string {
	url := fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", user, strings.Join(addresses, ","), database)
	if len(addresses) > 1 {
		url += "&target_session_attrs=read-write"
	}
	return url
}

// Restart starts the server again after Stop or Kill. It stops a running server
// first, and returns when the server accepts connections.
func (s *Server) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	run, ended := s.install.command(s.folder, "postgres", args...), make(chan struct{})
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		return err
	}
	go func() {
		defer close(ended)
		_ = run.Wait() // a killed server ends with an error
	}()
	s.run, s.ended = run, ended
	return s.ready()
}

// ready waits until the server accepts connections.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("PostgreSQL ended at once:\n%s", s.logTail())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL is not ready after %v: %w\n%s", patience, err, s.logTail())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// logTail returns the end of the server's log.
func (s *Server) logTail() []byte {
	log, err := os.ReadFile(filepath.Join(s.folder, "log"))
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(log[max(0, len(log)-4000):])
}

// Stop ends the server in order: it rolls transactions back and writes its data. It
// is no error if the server is not running.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// Kill ends the server like a crash: the next start recovers from the log.
func (s *Server) Kill() error { return s.end(syscall.SIGQUIT) }

func (s *Server) end(how syscall.Signal) error {
	if s.run == nil {
		return nil
	}
	if err := s.run.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("PostgreSQL still runs %v after %v:\n%s", patience, how, s.logTail())
	}
}

// Close ends the server and removes its data.
func (s *Server) Close() error { return errors.Join(s.Kill(), s.guard.Close()) }

// SQL runs statements in the database "postgres", as the superuser.
func (s *Server) SQL(statements ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
