package scenario

import (
	"bytes"
	"context"
	"fmt"
	"purveyor/internal/commerce"
	"strings"
	"testing"
	"time"
)

// replyBytes is how much a partner of a world may have stored in replies, as of the
// last count. Only the tests here count.
const replyBytes = 12_000

// TestStoredReplies checks that 24 adjustments of 500 lines, whose answers have 0.9
// MB, store less than 24 kB. Beyond its limit a partner gets 429 for new calls with a
// key; repeats and calls without a key are answered, and other partners are not
// affected. When the replies have expired, new calls are accepted again.
func TestStoredReplies(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		ctx := context.Background()
		lines := strings.Repeat(`{"product_id": "prd_roll", "delta": 0}, `, 499) + `{"product_id": "prd_roll", "delta": 0}`
		adjust := func(key, idem string) *answer {
			return w.do(t, call{method: "POST", path: "/v1/inventory/adjustments", key: key, idem: idem, body: `{"adjustments": [` + lines + `]}`})
		}
		count := func() int64 {
			t.Helper()
			if err := w.service.CountReplies(ctx); err != nil {
				t.Fatal(err)
			}
			stored, err := w.engine.CountReplies(ctx, commerce.MillisOf(w.clock.Now()))
			if err != nil {
				t.Fatal(err)
			}
			return stored["ptn_live"]
		}
		upsert := call{method: "POST", path: "/v1/products/upsert", key: "live",
			body: `{"id": "prd_roll", "store_id": "sto_north", "category_id": "cat_bread", "name": "Roll"}`}
		answered := 0
		var first *answer
		for i := range 24 {
			a := adjust("live", fmt.Sprint("k", i))
			if a.status != 200 {
				t.Fatalf("call %d: %d %s", i, a.status, a.body)
			}
			answered += len(a.body)
			if first == nil {
				first = a
			}
		}
		before := count()
		t.Logf("24 adjustments of 500 lines: %d bytes answered, %d stored", answered, before)
		if answered < 920_000 || before > 24_000 || before < replyBytes {
			t.Errorf("%d bytes were answered, %d are stored", answered, before)
		}
		if a := adjust("live", "new"); a.status != 429 || a.code() != "too_many_replies" || a.header.Get("Retry-After") == "" {
			t.Errorf("a new call: %d %.300s", a.status, a.body)
		}
		if a := adjust("live", "k0"); a.status != 200 || a.header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(a.body, first.body) {
			t.Errorf("a repeat: %d %v", a.status, a.header)
		}
		if a := w.do(t, upsert); a.status != 200 {
			t.Errorf("without a key: %d %.300s", a.status, a.body)
		}
		if a := adjust("other", "new"); a.status != 200 {
			t.Errorf("another partner: %d %.300s", a.status, a.body)
		}
		if a := adjust("busy", "new"); a.status != 200 {
			t.Errorf("a partner with a higher rate limit: %d %.300s", a.status, a.body)
		}
		w.clock.move(74 * time.Hour)
		for n := 1; n > 0; {
			var err error
			if n, err = w.engine.Sweep(ctx, commerce.MillisOf(w.clock.Now())); err != nil {
				t.Fatal(err)
			}
		}
		if left := count(); left != 0 {
			t.Errorf("%d bytes are counted after the sweep", left)
		}
		if a := adjust("live", "new"); a.status != 200 {
			t.Errorf("after the sweep: %d %.300s", a.status, a.body)
		}
	})
}
