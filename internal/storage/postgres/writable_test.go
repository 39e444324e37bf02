package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
)

func run(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func refusesWrites(t *testing.T, e storage.Engine, cause string) {
	t.Helper()
	err := e.Writable(context.Background())
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), cause) {
		t.Errorf("%v; want a storage.ErrUnavailable with %q", err, cause)
	}
}

// TestReadOnlyDatabase: each state in which PostgreSQL takes no writes is told
// with its cause, although reads work.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	url := database(t)
	if err := address(url).Open(t, time.Now).Writable(context.Background()); err != nil {
		t.Fatal(err)
	}
	name := url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	run(t, url, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	e := address(url).Open(t, time.Now)
	if err := e.Reader().Ping(context.Background()); err != nil {
		t.Error(err)
	}
	refusesWrites(t, e, "default_transaction_read_only")

	run(t, url, "SET default_transaction_read_only = off", "ALTER DATABASE "+name+" RESET default_transaction_read_only",
		"CREATE ROLE reader_of_"+name+" LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_of_"+name)
	t.Cleanup(func() { run(t, url, "DROP OWNED BY reader_of_"+name, "DROP ROLE reader_of_"+name) })
	refusesWrites(t, address(strings.Replace(url, "purveyor@", "reader_of_"+name+"@", 1)).Open(t, time.Now), "the user lacks rights")
}

func TestStandbyIsNotWritable(t *testing.T) {
	t.Parallel()
	primary, err := pg.Start("", "fsync=off", "shared_buffers=16MB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Close() })
	address(primary.URL("postgres")).Open(t, time.Now)
	standby, err := primary.Standby("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Close() })
	e := address(standby.URL("postgres")).Open(t, time.Now)
	refusesWrites(t, e, "standby")
	if err := errors.Join(primary.Kill(), standby.Promote()); err != nil {
		t.Fatal(err)
	}
	if err := e.Writable(context.Background()); err != nil {
		t.Errorf("after its promotion: %v", err)
	}
}
