package postgres

import (
	"context"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
)

// TestLoadAfterRestart: a restart of the server breaks the connections of all writers, which
// notice with their next use. No batch is refused for that.
func TestLoadAfterRestart(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	const writers = 3
	e, err := Open(url, Options{Writers: writers})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var open []storage.Batch
	for range writers {
		b, err := e.Load(ctx, commerce.Needs{})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, b)
	}
	for _, b := range open {
		b.Discard()
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * writers {
		b, err := e.Load(ctx, commerce.Needs{})
		if err != nil {
			t.Errorf("batch %d: %v", i, err)
			continue
		}
		b.Discard()
	}
}

// TestOldWatermarksAreDeleted: in a cluster each connection has a row beside each store that
// it writes to. Those of connections that ended long ago go, but not the newest stamp.
func TestOldWatermarksAreDeleted(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	e := cluster(t, url)
	keys := seedStock(t, e, "sto_1")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `INSERT INTO store_writers (store_id, id, floor, last, until) VALUES
		('sto_1', 'wrt_old', NULL, 1, now() - INTERVAL '2 hours'),
		('sto_1', 'wrt_late', NULL, 1, now()),
		('sto_2', 'wrt_of_another_store', NULL, 1, now() - INTERVAL '2 hours')`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(withStandIn(url), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	b, err := again.Load(ctx, commerce.Needs{Stock: keys})
	if err != nil {
		t.Fatal(err)
	}
	b.Discard()
	rows, _ := conn.Query(ctx, "SELECT id FROM store_writers WHERE id IN ('wrt_old', 'wrt_late', 'wrt_of_another_store') ORDER BY id")
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{"wrt_late", "wrt_of_another_store"}; err != nil || len(left) != 2 || left[0] != want[0] || left[1] != want[1] {
		t.Errorf("left: %q, %v; want %q", left, err, want)
	}
}
