package database

import (
	"errors"
	"testing"

	"purveyor/internal/storage/postgres"
	"purveyor/internal/testkit/pg"
)

// Postgres returns the URL of a new database on the PostgreSQL server that all
// tests of the process share. When the test ends, it is dropped, or emptied for another test.
func Postgres(t testing.TB) string {
	t.Helper()
	s := pg.Shared(t)
	return s.Clone(t, "filled", func(url string) error {
		e, err := postgres.Open(url, postgres.Options{})
		if err != nil {
			return err
		}
		if s.Cluster() {
			_, err = e.Distribute(t.Context())
		}
		return errors.Join(err, e.Close())
	})
}
