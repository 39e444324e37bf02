package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
)

type file string

func (f file) Open(t testing.TB, now func() time.Time) storage.Engine {
	e, err := sqlite.Open(string(f), sqlite.Options{Now: now})
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

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) storagetest.Database { return file(filepath.Join(t.TempDir(), "test.db")) })
}
