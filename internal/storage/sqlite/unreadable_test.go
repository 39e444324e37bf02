package sqlite

import (
	"path/filepath"
	"testing"

	"purveyor/internal/storage/storagetest"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	storagetest.RunUnreadable(t, file(path), func(sql string) {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			t.Fatal(err)
		}
	})
}
