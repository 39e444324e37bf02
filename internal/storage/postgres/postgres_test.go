package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"
)

type address string

func (a address) Open(t testing.TB, now func() time.Time) storage.Engine {
	e, err := Open(string(a), Options{Now: now, Readers: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func fresh(t testing.TB) storagetest.Database { return address(database(t)) }

// database makes a database with the schema and no rows.
func database(t testing.TB) (url string) {
	t.Helper()
	s := pg.Shared(t)
	return s.Clone(t, "filled", func(url string) error { return fill(t.Context(), url, s.Cluster()) })
}

// fill gives a database the schema, and distributes its tables if it has what that needs.
func fill(ctx context.Context, url string, distribute bool) error {
	e, err := Open(url, Options{})
	if err != nil {
		return err
	}
	if distribute {
		_, err = e.Distribute(ctx)
	}
	return errors.Join(err, e.Close())
}

func TestCopies(t *testing.T) {
	file := func(t testing.TB) storagetest.Database { return path(files(t)) }
	t.Run("to itself", func(t *testing.T) { storagetest.RunCopies(t, fresh, fresh) })
	t.Run("from SQLite", func(t *testing.T) { storagetest.RunCopies(t, file, fresh) })
	t.Run("to SQLite", func(t *testing.T) { storagetest.RunCopies(t, fresh, file) })
}

// TestCopiesOfCluster: copies keep stamps and notice changes where the tables of one server do not
// have them.
func TestCopiesOfCluster(t *testing.T) {
	cluster := func(t testing.TB) storagetest.Database { return distributed(t) }
	t.Run("to a cluster", func(t *testing.T) { storagetest.RunCopies(t, fresh, cluster) })
	t.Run("from a cluster", func(t *testing.T) { storagetest.RunCopies(t, cluster, fresh) })
}

// path is a database of the other engine.
type path string

var files = storagetest.Copies(func(path string, now func() time.Time) (storage.Engine, error) {
	return sqlite.Open(path, sqlite.Options{Now: now})
})

func (p path) Open(t testing.TB, now func() time.Time) storage.Engine {
	e, err := sqlite.Open(string(p), sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
