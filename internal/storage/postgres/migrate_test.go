package postgres

import (
	"context"
	"testing"

	"purveyor/internal/pgtest"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"

	"github.com/jackc/pgx/v5"
)

func TestMigrations(t *testing.T) {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	storagetest.RunMigrations(t, func(t testing.TB) storagetest.Raw { return rawDatabase(pgtest.Shared(t).Database(t)) }, known)
}

// rawDatabase is the URL of a database.
type rawDatabase string

func (d rawDatabase) Open() (storage.Engine, error) {
	e, err := Open(string(d), Options{Readers: 1})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (d rawDatabase) MakeFirst(t testing.TB) {
	t.Helper()
	script, err := migrationFiles.ReadFile("migrations/0001_core.sql")
	if err != nil {
		t.Fatal(err)
	}
	d.Execute(t, "CREATE TABLE schema_version (id INT PRIMARY KEY, version INT NOT NULL)")
	d.Execute(t, "INSERT INTO schema_version (id, version) VALUES (1, 1)")
	for _, sql := range statements(string(script)) {
		d.Execute(t, sql)
	}
}

func (d rawDatabase) Execute(t testing.TB, sql string) {
	t.Helper()
	d.Query(t, sql)
}

func (d rawDatabase) Query(t testing.TB, sql string) []string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, string(d))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}
