// Package sqlitetest makes databases for tests of the service on SQLite.
package sqlitetest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"purveyor/internal/storage/sqlite"
)

// migrated is the content of a database with the schema and no rows. To copy it
// takes a hundredth of the time of all migrations.
var migrated = sync.OnceValues(func() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "sqlitetest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "purveyor.db")
	e, err := sqlite.Open(path, sqlite.Options{Now: func() time.Time { return time.Unix(0, 0) }}) // before the clock of any test
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Database makes a database with the schema and no rows, and gives the path of its
// file. It goes at the end of the test. Tests with a clock of their own (synctest)
// call it before their time begins.
func Database(t testing.TB) string {
	t.Helper()
	content, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "purveyor.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
