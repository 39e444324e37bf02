package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// oldest is the first version of the server that is used.
const oldest = 15

// migrate brings the schema up to date. Processes take turns by the lock of
// one row, and one that comes later finds nothing left to do.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return err
	}
	version, err := reached(ctx, conn)
	switch {
	case err != nil:
		return err
	case version > len(files):
		return fmt.Errorf("%w: it has schema %d, this program knows %d; run the newer program", storage.ErrNewerDatabase, version, len(files))
	case version == len(files):
		return nil
	}
	if err := makeVersionTable(ctx, conn); err != nil {
		return err
	}
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, "SELECT version FROM schema_version WHERE id = 1 FOR UPDATE").Scan(&version); err != nil {
			return err
		}
		for _, file := range files[min(version, len(files)):] {
			script, err := migrationFiles.ReadFile(file)
			if err != nil {
				return err
			}
			for _, sql := range statements(string(script)) {
				if _, err := exec(ctx, tx, sql); err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
		}
		_, err := exec(ctx, tx, "UPDATE schema_version SET version = $1 WHERE id = 1", max(version, len(files)))
		return err
	})
}

// reached is the version of the schema; 0 in an empty database. It reads only.
func reached(ctx context.Context, conn *pgx.Conn) (version int, err error) {
	var server, tables int
	var ours bool
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000,
		(SELECT count(*)::int FROM pg_tables WHERE schemaname = current_schema()),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version')`).Scan(&server, &tables, &ours)
	switch {
	case err != nil:
		return 0, err
	case server < oldest:
		return 0, fmt.Errorf("the server is PostgreSQL %d; %d or later is needed", server, oldest)
	case !ours && tables > 0:
		return 0, errors.New("the database holds tables of another program; choose an empty one with --database")
	case !ours:
		return 0, nil
	}
	err = conn.QueryRow(ctx, "SELECT version FROM schema_version WHERE id = 1").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil // another process is about to put it there
	}
	return version, err
}

func makeVersionTable(ctx context.Context, conn *pgx.Conn) error {
	_, err := exec(ctx, conn, "CREATE TABLE IF NOT EXISTS schema_version (id INT PRIMARY KEY, version INT NOT NULL)")
	// Two processes that make it at once: one is told that it exists, by one of these.
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
