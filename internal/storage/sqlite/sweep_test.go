package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/storagetest"
)

// TestSweptIsOverwritten looks for what was swept in the bytes of the file.
func TestSweptIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "swept.db")
	const before = 1_700_000_000_000
	secret, kept := []byte("a customer's secret"), []byte("this one stays")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Load(t.Context(), commerce.Needs{Partners: []string{"ptn_1"}})
	if err != nil {
		t.Fatal(err)
	}
	changes := commerce.Changes{Partners: []commerce.Partner{{ID: "ptn_1"}}}
	for i := range 2000 { // enough to free whole pages
		at, text := int64(before-1), secret
		if i%100 == 99 {
			at, text = before, kept
		}
		n := commerce.Entropy{byte(i >> 8), byte(i)}
		event := commerce.WebhookEvent{PartnerID: "ptn_1", ID: commerce.NewID(commerce.PrefixEvent, commerce.Millis(at), n), Data: text}
		changes.Webhooks = append(changes.Webhooks, event)
		changes.Attempts = append(changes.Attempts, commerce.WebhookAttempt{PartnerID: "ptn_1", EventID: event.ID, ID: "att_1", Answer: string(text)})
		changes.Outbox = append(changes.Outbox, commerce.UnsentMessage{ID: commerce.NewID(commerce.PrefixOutbox, commerce.Millis(at), n), Text: string(text)})
		changes.NewJobs = append(changes.NewJobs, commerce.Job{ID: event.ID, State: commerce.JobDead, RunAt: commerce.Millis(at), Error: string(text)})
	}
	storagetest.Apply(b, changes)
	if err := b.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := 0
	for n := 1; n > 0; total += n {
		if n, err = e.Sweep(context.Background(), commerce.Millis(before).Add(schema.EventKeep)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil { // the log goes with it
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if total != 4*1980 || bytes.Contains(data, secret) || !bytes.Contains(data, kept) {
		t.Errorf("%d rows were swept; found what was swept: %v, what was not: %v", total, bytes.Contains(data, secret), bytes.Contains(data, kept))
	}
}
