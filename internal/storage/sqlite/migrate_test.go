package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestMigrations(t *testing.T) {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	storagetest.RunMigrations(t, func(t testing.TB) storagetest.Raw { return rawFile(filepath.Join(t.TempDir(), "raw.db")) }, known)
}

// rawFile is the path of a database.
type rawFile string

func (f rawFile) Pending() ([]storage.Migration, error) { return Pending(string(f)) }

func (f rawFile) Open(a storage.Access) (storage.Engine, error) {
	e, err := Open(string(f), Options{Access: a})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (f rawFile) MakeFirst(t testing.TB) {
	t.Helper()
	script, err := migrationFiles.ReadFile("migrations/0001_core.sql")
	if err != nil {
		t.Fatal(err)
	}
	f.Execute(t, string(script))
	f.Execute(t, fmt.Sprintf("PRAGMA user_version=1; PRAGMA application_id=%d;", applicationID))
}

func (f rawFile) Execute(t testing.TB, sql string) {
	t.Helper()
	f.with(t, func(conn *sqlite.Conn) error { return sqlitex.ExecuteScript(conn, sql, nil) })
}

func (f rawFile) Query(t testing.TB, sql string) (list []string) {
	t.Helper()
	f.with(t, func(conn *sqlite.Conn) error {
		return sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			list = append(list, stmt.ColumnText(0))
			return nil
		}})
	})
	return list
}

func (f rawFile) with(t testing.TB, do func(*sqlite.Conn) error) {
	t.Helper()
	conn, err := sqlite.OpenConn(string(f), sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(conn), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestMigratedMeanwhile: a process that looks at the schema while another one
// migrates does not take what it sees for the schema of another program.
func TestMigratedMeanwhile(t *testing.T) {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	for before := 1; ; before *= 2 {
		f := rawFile(filepath.Join(t.TempDir(), "raw.db"))
		f.MakeFirst(t)
		f.Query(t, "PRAGMA journal_mode=WAL")
		looked := 0
		f.with(t, func(driver *sqlite.Conn) error {
			err := driver.SetAuthorizer(sqlite.AuthorizeFunc(func(a sqlite.Action) sqlite.AuthResult {
				if a.Type() != sqlite.OpSelect && a.Type() != sqlite.OpPragma {
					return sqlite.AuthResultOK
				}
				if looked++; looked == before {
					if e, err := Open(string(f), Options{BusyTimeout: 10 * time.Millisecond}); err != nil {
						t.Error(err)
					} else if err := e.Close(); err != nil {
						t.Error(err)
					}
				}
				return sqlite.AuthResultOK
			}))
			if err != nil {
				return err
			}
			if _, err := checkMigrated(&connection{Conn: driver, prepared: map[string]*sqlite.Stmt{}}, known); err != nil {
				t.Errorf("migrated before look %d: %v", before, err)
			}
			return nil
		})
		if looked < before {
			return
		}
	}
}
