// Package postgrestest makes databases for tests of the service on PostgreSQL.
package postgrestest

import (
	"testing"

	"purveyor/internal/pgtest"
	"purveyor/internal/storage/postgres"
)

// Database makes a database with the schema and no rows, on the server of all
// tests of the process, and gives its URL. It goes at the end of the test.
func Database(t testing.TB) string {
	t.Helper()
	return pgtest.Shared(t).Clone(t, func(url string) error {
		e, err := postgres.Open(url, postgres.Options{})
		if err != nil {
			return err
		}
		return e.Close()
	})
}
