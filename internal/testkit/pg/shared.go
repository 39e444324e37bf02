package pg

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// Several fleets of three processes may use it at once. Each process has 12
// connections, and twice as many while it is replaced.
var shared = sync.OnceValues(func() (*Server, error) {
	return Start("", "fsync=off", "shared_buffers=32MB", "max_connections=400")
})

// Shared returns the server that all tests of this process share. It starts on first
// use and ends with the process; tests must not stop it.
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
// fill is called once per server, and all clones are copies of its result.
func (s *Server) Clone(t testing.TB, fill func(url string) error) string {
	t.Helper()
	const filled = "filled"
	s.fill.Do(func() {
		if s.fillErr = s.SQL("CREATE DATABASE " + filled); s.fillErr == nil {
			s.fillErr = fill(s.URL(filled))
		}
	})
	if s.fillErr != nil {
		t.Fatal(s.fillErr)
	}
	return s.database(t, filled)
}

func (s *Server) database(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
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
