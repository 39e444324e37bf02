package scenario

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

func (w *world) makeFault(t *testing.T, body string) {
	t.Helper()
	if a := w.do(t, call{method: "POST", path: "/v1/sandbox/faults", key: "test", body: body}); a.status != 201 {
		t.Fatalf("%s: %d %s", body, a.status, a.body)
	}
}

// An answer is lost and its call is done, once, with the status in the log that was never seen.
func TestLostAnswers(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		w.makeFault(t, `{"kind":"lost_answer","operation":"reportOrder","calls":2}`)
		report := call{method: "POST", path: "/v1/orders/report", key: "test", idem: "r1",
			body: `{"external_order_id":"web-1","store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":2,"price":150}]}`}
		for range 2 {
			w.client.CloseIdleConnections() // on a new one Go does not repeat the request by itself
			if a, err := w.exchange(report); err == nil {
				t.Fatalf("answered: %d %s", a.status, a.body)
			}
		}
		if a := w.do(t, report); a.status != 201 || a.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the repeat: %d %s", a.status, a.body)
		}
		if left := w.do(t, call{method: "GET", path: "/v1/products/prd_roll", key: "test"}); !strings.Contains(string(left.body), `"available_quantity":48`) {
			t.Errorf("sold not once: %s", left.body)
		}
		// A connection is cut before the call that it was of is logged.
		check.Eventually(t, 10*time.Second, time.Millisecond, "three calls in the log", func() bool {
			a := w.do(t, call{method: "GET", path: "/v1/requests?operation=reportOrder&status=201", key: "test"})
			return strings.Contains(string(a.body), `"count":3`)
		})
	})
}

// Faults are counted exactly, however many calls are made at once. Live keys meet none.
func TestFaultsAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.makeFault(t, `{"kind":"error","calls":7}`)
		var hit atomic.Int64
		var calls sync.WaitGroup
		for i := range 40 {
			calls.Go(func() {
				key := "test"
				if i%2 == 1 {
					key = "live"
				}
				a, err := w.exchange(call{method: "GET", path: "/v1/stores", key: key})
				switch {
				case err != nil:
					t.Error(err)
				case a.status == 500 && key == "test":
					hit.Add(1)
				case a.status != 200:
					t.Errorf("%s: %d %s", key, a.status, a.body)
				}
			})
		}
		calls.Wait()
		if hit.Load() != 7 {
			t.Errorf("%d of 20 calls were hit, not 7", hit.Load())
		}
		for i := range 20 {
			w.makeFault(t, fmt.Sprintf(`{"kind":"error","operation":"listKeys","calls":%d}`, i+1))
		}
		w.refuses(t, call{method: "POST", path: "/v1/sandbox/faults", key: "test", body: `{"kind":"error","calls":1}`}, 409, "limit_reached")
	})
}
