package scenario

import (
	"fmt"
	"net/http"
	"testing"

	"purveyor/internal/api"
)

// ofNoStore are routes whose stored replies belong to no store: faults, runs, and a list whose items are refused alone.
var ofNoStore = map[string]bool{"/v1/sandbox/faults": true, "/v1/certify/runs": true, "/v1/products/bulk-upsert": true}

// Every call with an Idempotency-Key is repeated once with success, and once more
// after its partner has lost the store: then the stored answer is withheld.
func TestNoReplayWithoutAccess(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		var keyed []call
		for i, route := range api.Routes {
			if route.Method != http.MethodPost || ofNoStore[route.Path] {
				continue
			}
			c := w.good(t, route, "busy", fmt.Sprint("a", i))
			w.do(t, c)
			if a := w.do(t, c); a.header.Get("Idempotent-Replayed") == "true" {
				keyed = append(keyed, c)
			}
		}
		const want = 7 // report, checkout, upsert, adjustments, metadata, cancel, refund
		if len(keyed) != want {
			t.Errorf("%d calls were replayed, want %d: %+v", len(keyed), want, keyed)
		}
		w.restrict(t, "busy", "sto_south")
		for _, c := range keyed {
			w.refuses(t, c, http.StatusForbidden, "store_not_allowed")
			other := with(c, func(c *call) { c.body = "" })
			if a := w.do(t, other); a.status < 400 || a.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s with another body: %d %s", c.path, a.status, a.body)
			}
		}
		w.restrict(t, "busy", "sto_south", "sto_north")
		for _, c := range keyed {
			if a := w.do(t, c); a.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s is not replayed again: %d %s", c.path, a.status, a.body)
			}
		}
	})
}
