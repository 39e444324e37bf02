package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"log/slog"
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

// migrate brings the schema up to date in one transaction: the numbered files, the
// number that they reach, and the record of them. A database that holds something is
// copied first. Processes take turns by the write lock, and a later process finds
// nothing left to do.
func migrate(conn *connection, path string, known []storage.Migration, o Options) (err error) {
	if is, err := checkMigrated(conn, known); err != nil || is.UpToDate(known) {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(conn.Conn)
	if err != nil {
		return err
	}
	defer end(&err)
	is, err := checkMigrated(conn, known) // another process may have been first
	if err != nil || is.UpToDate(known) {
		return err
	}
	if is.Version > 0 {
		slog.Info("the database is copied and brought up to date; nothing else can write to it meanwhile", "from", is.Version, "to", len(known))
		if err := keepBefore(path, len(known), o); err != nil {
			return err
		}
	}
	if is.Unrecorded() {
		err = sqlitex.ExecuteScript(conn.Conn, migrationsTable, nil)
		if err == nil {
			err = record(conn, known[0], o.Now)
		}
	}
	for _, m := range is.Pending(known) {
		if err == nil {
			err = apply(conn, m, o.Now)
		}
	}
	return err
}

func apply(conn *connection, m storage.Migration, now func() time.Time) error {
	// A script may consist of comments, which ExecuteScript refuses.
	if err := sqlitex.ExecuteScript(conn.Conn, m.Script+"\n"+migrationsTable, nil); err != nil {
		return fmt.Errorf("%s: %w", m.File, err)
	}
	return record(conn, m, now)
}

// record records a migration as the newest one.
func record(conn *connection, m storage.Migration, now func() time.Time) error {
	err := exec(conn, "INSERT INTO migrations (number, sha256, applied_on) VALUES (?, ?, ?)",
		func(b schema.Binder) { b.Int(int64(m.Number)).Text(m.Digest()).Int(now().UnixMilli()) })
	if err == nil {
		err = exec(conn, "UPDATE meta SET value = ? WHERE name = ?", func(b schema.Binder) { b.Int(int64(m.Number)).Text(storage.SchemaNumber) })
	}
	numbers, readErr := metaNumbers(conn)
	if err = errors.Join(err, readErr); err != nil {
		return err
	}
	is := storage.Migrated{Version: m.Number}.Numbers(numbers)
	return sqlitex.ExecuteScript(conn.Conn, fmt.Sprintf("PRAGMA user_version=%d;\nPRAGMA application_id=%d;", is.Oldest, applicationID), nil)
}

func metaNumbers(conn *connection) (map[string]int64, error) {
	numbers := map[string]int64{}
	err := sqlitex.ExecuteTransient(conn.Conn, "SELECT name, value FROM meta", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		numbers[stmt.ColumnText(0)] = stmt.ColumnInt64(1)
		return nil
	}})
	return numbers, err
}

// Schema is the number of the schema that this program makes.
func Schema() int {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return len(known)
}

// Pending returns the migrations that the database of a file lacks, and changes nothing.
// Errors: as of Open.
func Pending(path string) ([]storage.Migration, error) {
	known, err := storage.Migrations(migrationFiles)
	if err == nil {
		err = checkFiles(path, true)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	o := Options{}.withDefaults()
	conn, err := connect(path, o, true, readerCacheKiB)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, explain(err))
	}
	var is storage.Migrated
	err = patiently(o, func() (err error) {
		is, err = checkMigrated(conn, known)
		return err
	})
	if err == nil {
		err = is.Admit(storage.Access{Existing: true}, known)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, fmt.Errorf("database %s: %w", path, explain(err))
	}
	return is.Pending(known), nil
}

// checkMigrated refuses a database that the known migrations did not make. It
// reads only, and in one transaction: another process may migrate meanwhile.
func checkMigrated(conn *connection, known []storage.Migration) (is storage.Migrated, err error) {
	if conn.AutocommitEnabled() { // sqlitex.Save would panic at a damaged file
		if err := sqlitex.ExecuteTransient(conn.Conn, "BEGIN", nil); err != nil {
			return is, err
		}
		defer func() {
			if !conn.AutocommitEnabled() {
				err = errors.Join(err, sqlitex.ExecuteTransient(conn.Conn, "COMMIT", nil))
			}
		}()
	}
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
	is.Version, is.Oldest = int(version), int(version)
	if known, err := hasTable(conn, "meta"); err != nil || known {
		numbers, readErr := metaNumbers(conn)
		if err = errors.Join(err, readErr); err != nil {
			return is, err
		}
		is = is.Numbers(numbers)
	}
	if recorded, err := hasTable(conn, "migrations"); err != nil || !recorded {
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

func hasTable(conn *connection, name string) (bool, error) {
	n, err := queryInt(conn, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '"+name+"'")
	return n > 0, err
}

func pragma(conn *connection, name string) (int64, error) { return queryInt(conn, "PRAGMA "+name) }

func queryInt(conn *connection, query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(conn.Conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}})
	return n, err
}
