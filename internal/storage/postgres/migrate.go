package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// oldest is the first version of the server that is used.
const oldest = 15

const migrationsTable = `CREATE TABLE IF NOT EXISTS migrations (
	number INT PRIMARY KEY,
	sha256 TEXT COLLATE "C" NOT NULL,
	applied_on BIGINT NOT NULL
)`

// look reads the state of the schema. It refuses a database that the known migrations
// did not make, or that the access does not take.
func look(ctx context.Context, conn *pgx.Conn, known []storage.Migration, a storage.Access) (storage.Migrated, error) {
	is, err := migrated(ctx, conn)
	if err == nil {
		err = is.Check(known)
	}
	if err == nil {
		err = is.Admit(a, known)
	}
	return is, err
}

// Pending returns the migrations that a database lacks, and changes nothing. Errors: as
// of Open.
func Pending(url string) (_ []storage.Migration, err error) {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	conn, err := (&Engine{writing: config.ConnConfig}).connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", explain(err))
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it was used for this alone
	is, err := look(ctx, conn, known, storage.Access{Existing: true})
	if err != nil {
		return nil, fmt.Errorf("open database: %w", explain(err))
	}
	return is.Pending(known), nil
}

// lockPatience bounds how long a migration waits for a table, because every batch that
// needs the table waits behind it, and fails after lockTime. A report or a backup may keep
// the table for minutes: meanwhile the migration is tried again and again.
const (
	lockPatience = "200ms"
	lockPause    = time.Second
)

// migrate brings the schema up to date, and records each migration that it
// applies. Processes take turns by the lock of one row, and a later process finds nothing
// left to do.
func migrate(ctx context.Context, conn *pgx.Conn, known []storage.Migration, now func() time.Time) error {
	if err := makeVersionTable(ctx, conn); err != nil {
		return err
	}
	told := false
	for {
		done := false
		err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			if _, err := exec(ctx, tx, "SELECT version FROM schema_version WHERE id = 1 FOR UPDATE"); err != nil {
				return err
			}
			done, err = migrateLocked(ctx, tx, known, now)
			return err
		})
		if !locked(err) && (done || err != nil) {
			return err
		}
		if locked(err) {
			if !told {
				slog.Info("the migration waits until other sessions have left a table", "error", err)
			}
			told = true
			time.Sleep(lockPause)
		}
	}
}

// locked reports whether a transaction failed because another session was in its way.
func locked(err error) bool {
	const lockNotAvailable, deadlock = "55P03", "40P01"
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == lockNotAvailable || pg.Code == deadlock)
}

// expanding is the number from which on a database is of use to programs between two
// migrations, so that each is a transaction of its own: none keeps a table for the time
// that others take.
const expanding = 31

// migrateLocked applies the next migrations in the transaction that holds the lock. done:
// none is left.
func migrateLocked(ctx context.Context, tx pgx.Tx, known []storage.Migration, now func() time.Time) (done bool, err error) {
	is, err := migrated(ctx, tx) // another process may have been first
	if err != nil {
		return false, err
	}
	if err := is.Check(known); err != nil || is.UpToDate(known) {
		return true, err
	}
	next := is.Pending(known)
	if is.Version >= expanding {
		next = next[:1]
	}
	if is.Unrecorded() {
		if err := compareShape(ctx, tx, known[0]); err != nil {
			return false, err
		}
		next = known // the first is recorded, but not applied again
	}
	for _, sql := range []string{"SET LOCAL lock_timeout = '" + lockPatience + "'", migrationsTable} {
		if _, err := exec(ctx, tx, sql); err != nil {
			return false, err
		}
	}
	for _, m := range next {
		if m.Number > is.Version {
			if err := apply(ctx, tx, m); err != nil {
				return false, err
			}
		}
		_, err := exec(ctx, tx, "INSERT INTO migrations (number, sha256, applied_on) VALUES ($1, $2, $3)", m.Number, m.Digest(), now().UnixMilli())
		if err != nil {
			return false, err
		}
		is.Version = m.Number
	}
	return is.Version == len(known), setNumber(ctx, tx, is.Version)
}

// setNumber records the number of the schema.
func setNumber(ctx context.Context, tx pgx.Tx, number int) error {
	if _, err := exec(ctx, tx, "UPDATE meta SET value = $1 WHERE name = $2", number, storage.SchemaNumber); err != nil {
		return err
	}
	numbers, err := metaNumbers(ctx, tx)
	if err == nil {
		is := storage.Migrated{Version: number}.Numbers(numbers)
		_, err = exec(ctx, tx, "UPDATE schema_version SET version = $1 WHERE id = 1", is.Oldest)
	}
	return err
}

func metaNumbers(ctx context.Context, conn querier) (map[string]int64, error) {
	numbers := map[string]int64{}
	err := unobserved(ctx, conn, func(s *scanner) { numbers[s.Text()] = s.Int() }, "SELECT name, value FROM meta")
	return numbers, err
}

func apply(ctx context.Context, tx pgx.Tx, m storage.Migration) error {
	for _, sql := range statements(m.Script) {
		if _, err := exec(ctx, tx, sql); err != nil {
			return fmt.Errorf("%s: %w", m.File, err)
		}
	}
	return nil
}

// migrated reads the record of migrations in the database. Another process may migrate
// meanwhile, so the number is read before the digests.
func migrated(ctx context.Context, conn querier) (is storage.Migrated, err error) {
	var server, tables int64
	var ours, numbered, recorded bool
	err = unobserved(ctx, conn, func(s *scanner) { server, tables, ours, numbered = s.Int(), s.Int(), s.Bool(), s.Bool() }, `SELECT current_setting('server_version_num')::int / 10000,
		(SELECT count(*)::int FROM pg_tables WHERE schemaname = current_schema()),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'meta')`)
	switch {
	case err != nil:
		return is, err
	case server < oldest:
		return is, fmt.Errorf("the server is PostgreSQL %d; %d or later is needed", server, oldest)
	case !ours && tables > 0:
		return is, errors.New("the database holds tables of another program; choose an empty one with --database")
	case !ours:
		return is, nil
	}
	// If there is no row, another process is about to put it there.
	err = unobserved(ctx, conn, func(s *scanner) { is.Version = int(s.Int()) }, "SELECT version FROM schema_version WHERE id = 1")
	var numbers map[string]int64
	if err == nil && numbered {
		numbers, err = metaNumbers(ctx, conn)
	}
	is = is.Numbers(numbers)
	if err == nil {
		err = unobserved(ctx, conn, func(s *scanner) { recorded = s.Bool() },
			"SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'migrations')")
	}
	if err != nil || !recorded {
		return is, err
	}
	is.Recorded = map[int]string{}
	err = unobserved(ctx, conn, func(s *scanner) { is.Recorded[int(s.Int())] = s.Text() }, "SELECT number, sha256 FROM migrations")
	return is, err
}

// errExpected ends the savepoint in which the expected tables were made.
var errExpected = errors.New("the expected shape is known")

// compareShape refuses tables that are not those of the migration. To know
// these it makes them as temporary tables, and takes that back.
func compareShape(ctx context.Context, tx pgx.Tx, m storage.Migration) error {
	is, err := shape(ctx, tx, "current_schema()::regnamespace")
	if err != nil {
		return err
	}
	var want storage.Shape
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if _, err := exec(ctx, tx, "SET LOCAL search_path = pg_temp"); err != nil {
			return err
		}
		if err := apply(ctx, tx, m); err != nil {
			return err
		}
		if want, err = shape(ctx, tx, "pg_my_temp_schema()"); err != nil {
			return err
		}
		return errExpected
	})
	if !errors.Is(err, errExpected) {
		return err
	}
	return is.Compare(want)
}

// shape describes the tables of a namespace.
func shape(ctx context.Context, tx pgx.Tx, namespace string) (storage.Shape, error) {
	s := storage.Shape{}
	err := unobserved(ctx, tx, func(row *scanner) { s[row.Text()] = row.Text() }, `WITH tables AS (SELECT oid, relname FROM pg_class
			WHERE relnamespace = `+namespace+` AND relkind IN ('r', 'p') AND relname NOT IN ('schema_version', 'migrations')
				AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')) -- of an extension
		SELECT 'table ' || relname, '' FROM tables
		UNION ALL SELECT 'column ' || relname || '.' || attname, format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
			|| coalesce(' COLLATE ' || (SELECT collname FROM pg_collation c WHERE c.oid = attcollation), '')
			|| coalesce(' DEFAULT ' || (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum), '')
			FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
		UNION ALL SELECT 'index ' || i.relname, CASE WHEN indisprimary THEN 'PRIMARY KEY ' ELSE '' END
			|| regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?[^ ]+ USING', ' ON ' || tables.relname || ' USING')
			FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class i ON i.oid = indexrelid`)
	return s, err
}

func makeVersionTable(ctx context.Context, conn *pgx.Conn) error {
	_, err := exec(ctx, conn, "CREATE TABLE IF NOT EXISTS schema_version (id INT PRIMARY KEY, version INT NOT NULL)")
	// If two processes create the table at once, one of them gets one of these errors.
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"23505", "42P07", "42710"}, pg.Code) {
		err = nil
	}
	if err != nil {
		return err
	}
	_, err = exec(ctx, conn, "INSERT INTO schema_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING")
	return err
}

// statements are those of a script, which ends each with a semicolon at the
// end of a line.
func statements(script string) (list []string) {
	for part := range strings.SplitSeq(script+"\n", ";\n") {
		var lines []string
		for line := range strings.Lines(part) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		if sql := strings.TrimSpace(strings.Join(lines, "")); sql != "" {
			list = append(list, sql)
		}
	}
	return list
}
