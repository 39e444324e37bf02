// Package database makes databases for tests of the service: they have the
// schema and no rows. A migrated database is made once and copied for each test.
package database

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

// SQLite returns the path of a new database file.
func SQLite(t testing.TB) string {
	t.Helper()
	return copies(t)
}
