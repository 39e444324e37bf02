package postgres

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
)

// TestEventsWaitForOpenBatches: an event of a batch that began before another,
// and is saved after it, is not skipped.
func TestEventsWaitForOpenBatches(t *testing.T) {
	db := fresh(t)
	early, late := db.Open(t, time.Now), db.Open(t, time.Now)
	load := func(e storage.Engine, external string) storage.Batch {
		b, err := e.Load(t.Context(), commerce.Needs{External: []commerce.ExternalKey{{PartnerID: "ptn_1", Mode: commerce.Live, ExternalID: external}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Discard)
		return b
	}
	save := func(b storage.Batch, n byte) string {
		id := commerce.NewID(commerce.PrefixEvent, b.Stamp(), commerce.Entropy{n})
		storagetest.Apply(b, commerce.Changes{Webhooks: []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: id, Kind: commerce.WebhookPaid, Data: []byte("{}")}}})
		if err := b.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		return id
	}
	open := load(early, "a")
	second := save(load(late, "b"), 1)
	for _, f := range []storage.EventFilter{{}, {Kinds: []commerce.WebhookKind{commerce.WebhookShipped}}} {
		f.PartnerID, f.Limit = "ptn_1", 5
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		page, err := late.Reader().EventPage(short, f)
		cancel()
		if err == nil && (len(page.Events) > 0 || page.Through != "") {
			t.Errorf("beside an open batch: %+v", page)
		}
	}
	first := save(open, 0)
	page, err := late.Reader().EventPage(t.Context(), storage.EventFilter{PartnerID: "ptn_1", Limit: 5})
	if err != nil || len(page.Events) != 2 || page.Events[0].ID != first || page.Events[1].ID != second || page.Through != second {
		t.Errorf("%+v, %v; want %s and %s", page, err, first, second)
	}
}

// TestStampsOfOneRowAscend: a batch that waited for another one's row gives it a
// later stamp, even if both began in the same millisecond. By the stamp caches
// know a row.
func TestStampsOfOneRowAscend(t *testing.T) {
	db := fresh(t)
	now := func() time.Time { return time.UnixMilli(1_800_000_000_000) }
	first, second := db.Open(t, now), db.Open(t, now)
	needs := commerce.Needs{Endpoints: []string{"ptn_1"}}
	save := func(b storage.Batch, failures int64) {
		t.Helper()
		storagetest.Apply(b, commerce.Changes{Endpoints: []commerce.Endpoint{{PartnerID: "ptn_1", Failures: failures}}})
		if err := b.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	load := func(e storage.Engine) storage.Batch {
		b, err := e.Load(t.Context(), needs)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Discard)
		return b
	}
	save(load(first), 1)
	held := load(first)
	waited := make(chan storage.Batch)
	go func() {
		b, err := second.Load(t.Context(), needs)
		if err != nil {
			t.Error(err)
		}
		waited <- b
	}()
	awaitLock(t, string(db.(address)))
	save(held, 2)
	b := <-waited
	if b == nil {
		return
	}
	defer b.Discard()
	if b.Stamp() <= held.Stamp() {
		t.Errorf("stamp %d after %d", b.Stamp(), held.Stamp())
	}
}

// awaitLock returns when a session waits for a row of the database.
func awaitLock(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const waits = "EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"
	sql := "SELECT " + waits
	if pg.Shared(t).Cluster() {
		sql = "SELECT bool_or(result::boolean) FROM run_command_on_all_nodes($$SELECT " + waits + "$$)"
	}
	for waiting := false; !waiting; {
		err := conn.QueryRow(t.Context(), sql).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}
