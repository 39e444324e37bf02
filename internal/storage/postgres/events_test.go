package postgres

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// TestEventsWaitForOpenBatches: an event of a batch that began before another,
// and is saved after it, is not skipped.
func TestEventsWaitForOpenBatches(t *testing.T) {
	db := fresh(t)
	early, late := db.Open(t, time.Now), db.Open(t, time.Now)
	load := func(e storage.Engine) storage.Batch {
		b, err := e.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Discard)
		return b
	}
	save := func(b storage.Batch, n byte) string {
		id := commerce.NewID(commerce.PrefixEvent, b.Stamp(), commerce.Entropy{n})
		b.Rows().Apply(commerce.Changes{Webhooks: []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: id, Kind: commerce.WebhookPaid, Data: []byte("{}")}}})
		if err := b.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		return id
	}
	open := load(early)
	second := save(load(late), 1)
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
