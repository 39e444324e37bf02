package postgres

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
)

func TestMigrations(t *testing.T) {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	storagetest.RunMigrations(t, func(t testing.TB) storagetest.Raw { return rawDatabase(pg.Shared(t).Database(t)) }, known)
}

// rawDatabase is the URL of a database.
type rawDatabase string

func (d rawDatabase) Pending() ([]storage.Migration, error) { return Pending(string(d)) }

func (d rawDatabase) Open(a storage.Access) (storage.Engine, error) {
	e, err := Open(string(d), Options{Readers: 1, Access: a})
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

// TestLongMigration: the bound on connecting is none on migrations, which take as
// long as the rows and other sessions make them take.
func TestLongMigration(t *testing.T) {
	t.Parallel()
	const within = 2 * time.Second
	ctx := t.Context()
	d := rawDatabase(pg.Shared(t).Database(t))
	d.MakeFirst(t)
	conn, err := pgx.Connect(ctx, string(d))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE orders IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(string(d))
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{writing: config, now: time.Now}
	begun, ended := time.Now(), make(chan error, 1)
	go func() { ended <- e.start(within, storage.Access{}) }()
	awaitLock(t, string(d))
	select {
	case err := <-ended:
		t.Errorf("after %v: %v", time.Since(begun), err)
	case <-time.After(time.Until(begun.Add(within + time.Second/2))):
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// interrupted runs a function before one of the queries of a connection.
type interrupted struct {
	querier
	before int
	run    func()
}

func (i *interrupted) next() {
	if i.before--; i.before == 0 {
		i.run()
	}
}

func (i *interrupted) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	i.next()
	return i.querier.Query(ctx, sql, args...)
}

// TestMigratedMeanwhile: a process that looks at the schema while another one
// migrates does not take what it sees for the schema of another program.
func TestMigratedMeanwhile(t *testing.T) {
	t.Parallel()
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for before := 1; before <= 5; before++ {
		d := rawDatabase(pg.Shared(t).Database(t))
		conn, err := pgx.Connect(ctx, string(d))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if err := makeVersionTable(ctx, conn); err != nil { // the other process has come this far
			t.Fatal(err)
		}
		is, err := migrated(ctx, &interrupted{conn, before, func() {
			e, err := d.Open(storage.Access{})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}})
		if err == nil {
			err = is.Check(known)
		}
		if err != nil {
			t.Errorf("migrated before query %d: %v", before, err)
		}
	}
}
