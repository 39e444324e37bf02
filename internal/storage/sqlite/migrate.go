package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks the file as ours ("PURV"), so that the database of
// another program is not taken for an empty one.
const applicationID = 0x50555256

const migrationsTable = `CREATE TABLE IF NOT EXISTS migrations (
	number INTEGER PRIMARY KEY,
	sha256 TEXT NOT NULL, -- of the file
	applied_on INTEGER NOT NULL
)`

// migrate brings the schema up to date: each numbered file in a transaction
// of its own with the number it reaches and the record of it. Processes take
// turns by the write lock, and a later process finds nothing left to do.
func migrate(conn *connection, known []storage.Migration, now func() time.Time) error {
	for {
		if done, err := migrateOnce(conn, known, now); done || err != nil {
			return err
		}
	}
}

// migrateOnce records migration 1 if it was applied before records were kept,
// or applies the next migration. done: there was nothing to do.
func migrateOnce(conn *connection, known []storage.Migration, now func() time.Time) (done bool, err error) {
	is, err := checkMigrated(conn, known)
	if err != nil || is.Version == len(known) && !is.Unrecorded() {
		return true, err
	}
	end, err := sqlitex.ImmediateTransaction(conn.Conn)
	if err != nil {
		return false, err
	}
	defer end(&err)
	// Another process may have been first.
	if is, err = checkMigrated(conn, known); err != nil || is.Version == len(known) && !is.Unrecorded() {
		return true, err
	}
	number, script := is.Version, ""
	if !is.Unrecorded() {
		number, script = is.Version+1, known[is.Version].Script
	}
	script += fmt.Sprintf("\n%s;\nPRAGMA user_version=%d;\nPRAGMA application_id=%d;", migrationsTable, number, applicationID)
	m := known[number-1]
	if err := sqlitex.ExecuteScript(conn.Conn, script, nil); err != nil {
		return false, fmt.Errorf("%s: %w", m.File, err)
	}
	return false, exec(conn, "INSERT INTO migrations (number, sha256, applied_on) VALUES (?, ?, ?)",
		func(b schema.Binder) { b.Int(int64(number)).Text(m.Digest()).Int(now().UnixMilli()) })
}

// checkMigrated refuses a database that the known migrations did not make. It
// reads only, and in one transaction: another process may migrate meanwhile.
func checkMigrated(conn *connection, known []storage.Migration) (is storage.Migrated, err error) {
	defer sqlitex.Save(conn.Conn)(&err)
	if is, err = migrated(conn); err != nil {
		return is, err
	}
	if err = is.Check(known); err != nil || !is.Unrecorded() {
		return is, err
	}
	want, err := shapeOf(known[0])
	if err != nil {
		return is, err
	}
	got, err := shape(conn)
	if err == nil {
		err = got.Compare(want)
	}
	return is, err
}

// migrated reads the record of migrations in the database.
func migrated(conn *connection) (is storage.Migrated, err error) {
	version, err := pragma(conn, "user_version")
	if err != nil {
		return is, err
	}
	tables, err := queryInt(conn, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return is, err
	}
	id, err := pragma(conn, "application_id")
	if err != nil {
		return is, err
	}
	if tables > 0 && id != applicationID {
		return is, errors.New("the file belongs to another program; choose another with --database")
	}
	is.Version = int(version)
	recorded, err := queryInt(conn, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'")
	if err != nil || recorded == 0 {
		return is, err
	}
	is.Recorded = map[int]string{}
	err = sqlitex.ExecuteTransient(conn.Conn, "SELECT number, sha256 FROM migrations", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		is.Recorded[stmt.ColumnInt(0)] = stmt.ColumnText(1)
		return nil
	}})
	return is, err
}

// shapeOf is the shape of a database that has this migration alone.
func shapeOf(m storage.Migration) (s storage.Shape, err error) {
	driver, err := sqlite.OpenConn(":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	if err := sqlitex.ExecuteScript(driver, m.Script, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", m.File, err)
	}
	return shape(&connection{Conn: driver})
}

const shapeSQL = `WITH tables AS (SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\')
	SELECT 'table ' || name, CASE WHEN wr THEN 'WITHOUT ROWID' ELSE '' END FROM tables
	UNION ALL SELECT 'column ' || t.name || '.' || c.name, c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END
		|| coalesce(' DEFAULT ' || c.dflt_value, '') || CASE WHEN c.pk > 0 THEN ' PRIMARY KEY ' || c.pk ELSE '' END
	FROM tables AS t, pragma_table_xinfo(t.name) AS c
	UNION ALL SELECT 'index ' || i.name, CASE WHEN i."unique" THEN 'UNIQUE ' ELSE '' END
		|| coalesce((SELECT sql FROM sqlite_schema WHERE type = 'index' AND sqlite_schema.name = i.name),
			t.name || ' (' || (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name)) || ')')
	FROM tables AS t, pragma_index_list(t.name) AS i`

// shape describes the tables of a database.
func shape(conn *connection) (storage.Shape, error) {
	s := storage.Shape{}
	err := sqlitex.ExecuteTransient(conn.Conn, shapeSQL, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		s[stmt.ColumnText(0)] = strings.Join(strings.Fields(stmt.ColumnText(1)), " ")
		return nil
	}})
	return s, err
}

func pragma(conn *connection, name string) (int64, error) { return queryInt(conn, "PRAGMA "+name) }

func queryInt(conn *connection, query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(conn.Conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}})
	return n, err
}
