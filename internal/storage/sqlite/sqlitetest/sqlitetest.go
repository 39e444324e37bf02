// Package sqlitetest makes databases for tests of the service on SQLite.
package sqlitetest

import (
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
)

var copies = storagetest.Copies(func(path string, now func() time.Time) (storage.Engine, error) {
	return sqlite.Open(path, sqlite.Options{Now: now})
})

// Database makes a database with the schema and no rows, and gives the path of its
// file, as storagetest.Copies says.
func Database(t testing.TB) string {
	t.Helper()
	return copies(t)
}
