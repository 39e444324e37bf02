package pg

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// Several fleets of three processes may use it at once. Each process has 12
// connections, and twice as many while it is replaced.
var shared = sync.OnceValues(func() (*Server, error) {
	if url := outsideURL(); url != "" {
		return outside(url)
	}
	return Start("", "fsync=off", "shared_buffers=32MB", "max_connections=400")
})

// Shared returns the server that all tests of this process share: the one that
// OutsideVariable names, or one that starts on first use and ends with the process. Tests
// must not stop it.
func Shared(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves PostgreSQL out")
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var databases atomic.Int64 // number made so far

// Database makes an empty database that is dropped when the test ends, and returns
// its URL. It is safe for concurrent use.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.database(t, "template1")
}

// Clone makes a database like Database, with the contents that fill puts into one.
// fill is called once per server and template, and all clones are copies of its result; on a
// server from outside it is called for each database that is made.
func (s *Server) Clone(t testing.TB, template string, fill func(url string) error) string {
	t.Helper()
	if s.outside != nil && os.Getenv(RunVariable) != "" {
		return s.outside.lend(t, template, fill)
	}
	if s.outside != nil {
		url := s.Database(t)
		if err := fill(url); err != nil {
			t.Fatal(err)
		}
		return url
	}
	filled, _ := s.templates.LoadOrStore(template, sync.OnceValue(func() error {
		if err := s.SQL("CREATE DATABASE " + template); err != nil {
			return err
		}
		return fill(s.URL(template))
	}))
	if err := filled.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return s.database(t, template)
}

func (s *Server) database(t testing.TB, template string) string {
	t.Helper()
	n := databases.Add(1)
	name := fmt.Sprintf("test_%d", n)
	if o := s.outside; o != nil {
		name = fmt.Sprint(o.names, n)
		t.Cleanup(func() {
			if err := o.drop(context.Background(), name); err != nil {
				t.Error(err)
			}
		})
		if err := o.make(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		return o.at("", name)
	}
	if err := s.SQL("CREATE DATABASE " + name + " TEMPLATE " + template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.SQL("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s.URL(name)
}
