package postgres

import (
	"testing"
	"time"

	"purveyor/internal/pgtest"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
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

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) storagetest.Database { return address(pgtest.Shared(t).Database(t)) })
}
