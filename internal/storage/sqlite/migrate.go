package sqlite

import (
	"embed"
	"fmt"
	"io/fs"

	"purveyor/internal/storage"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks the file as ours ("PURV"), so that the database of
// another program is not taken for an empty one.
const applicationID = 0x50555256

// migrate brings the schema up to date: each numbered file in a transaction
// of its own with the number it reaches. Processes take turns by the write
// lock, and one that comes later finds nothing left to do.
func migrate(conn *connection) error {
	pending, err := pendingMigrations(conn)
	if err != nil {
		return err
	}
	for _, m := range pending {
		script, err := migrationFiles.ReadFile(m.file)
		if err != nil {
			return err
		}
		if err := migrateTo(conn, m.version, string(script)); err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}
	}
	return nil
}

type migration struct {
	version int // that the file reaches
	file    string
}

// pendingMigrations are those that the database has not seen. It reads only.
func pendingMigrations(conn *connection) (pending []migration, err error) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	version, err := schemaVersion(conn)
	if err != nil {
		return nil, err
	}
	if version > len(files) {
		return nil, fmt.Errorf("%w: it has schema %d, this program knows %d; run the newer program", storage.ErrNewerDatabase, version, len(files))
	}
	for i, file := range files[version:] {
		pending = append(pending, migration{version + i + 1, file})
	}
	return pending, nil
}

func migrateTo(conn *connection, version int, script string) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn.Conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if reached, err := schemaVersion(conn); err != nil || reached >= version {
		return err // another process was first
	}
	return sqlitex.ExecuteScript(conn.Conn, script+
		fmt.Sprintf("\nPRAGMA user_version=%d;\nPRAGMA application_id=%d;", version, applicationID), nil)
}

func schemaVersion(conn *connection) (int, error) {
	version, err := pragma(conn, "user_version")
	if err != nil {
		return 0, err
	}
	tables, err := queryInt(conn, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	id, err := pragma(conn, "application_id")
	if err != nil {
		return 0, err
	}
	if tables > 0 && id != applicationID {
		return 0, fmt.Errorf("the file belongs to another program; choose another with --database")
	}
	return int(version), nil
}

func pragma(conn *connection, name string) (int64, error) { return queryInt(conn, "PRAGMA "+name) }

func queryInt(conn *connection, query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(conn.Conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}})
	return n, err
}
