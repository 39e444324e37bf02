package scenario

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// together sends n calls at once, and returns their answers.
func (w *world) together(t *testing.T, n int, callOf func(i int) call) []*answer {
	t.Helper()
	answers, errs := make([]*answer, n), make([]error, n)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			answers[i], errs[i] = w.exchange(callOf(i))
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	return answers
}

func reportOne(external, idem, product string) call {
	return call{method: "POST", path: "/v1/orders/report", key: "busy", idem: idem,
		body: fmt.Sprintf(`{"external_order_id":%q,"store_id":"sto_north","items":[{"product_id":%q,"quantity":1,"price":925}]}`, external, product)}
}

// The same key fifty times at once: one order, fifty equal answers.
func TestOneKeyAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		answers := w.together(t, 50, func(int) call { return reportOne("web-1", "k1", "prd_loaf") })
		first := 0
		for _, a := range answers {
			if a.status != http.StatusCreated || string(a.body) != string(answers[0].body) {
				t.Fatalf("%d %s and %d %s", answers[0].status, answers[0].body, a.status, a.body)
			}
			if a.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d answers say that they are no replay, want 1", first)
		}
		w.expectStock(t, "prd_loaf", 19)
	})
}

// The same order with fifty keys: one is created, and the others get its id.
func TestOneExternalIDAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		answers := w.together(t, 50, func(i int) call { return reportOne("web-1", fmt.Sprint("k", i), "prd_loaf") })
		made, ids := 0, map[string]bool{}
		for _, a := range answers {
			switch {
			case a.status == http.StatusCreated:
				made++
				ids[a.error().OrderID] = true
			case a.status == http.StatusConflict && a.code() == "external_order_id_taken":
				ids[a.error().OrderID] = true
			default:
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if made != 1 || len(ids) != 1 {
			t.Errorf("%d orders were made; the answers name %v", made, ids)
		}
	})
}

// Thirty customers want twenty loaves: twenty get one.
func TestNothingIsSoldTwice(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		answers := w.together(t, 30, func(i int) call {
			return reportOne(fmt.Sprint("web-", i), fmt.Sprint("k", i), "prd_loaf")
		})
		sold := 0
		for _, a := range answers {
			switch {
			case a.status == http.StatusCreated:
				sold++
			case a.status != http.StatusConflict || a.code() != "insufficient_stock":
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if sold != 20 {
			t.Errorf("%d of 20 were sold", sold)
		}
		w.expectStock(t, "prd_loaf", 0)
	})
}

// Thirty customers check out the last pieces at once: they are held for one, and the others
// are told so. That one can confirm.
func TestLastPiecesAreHeldForOne(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "holding")
		answers := w.together(t, 30, func(i int) call { return checkout(fmt.Sprint("customer ", i), "jo@example.com", 50) })
		order := ""
		for _, a := range answers {
			switch {
			case a.status == http.StatusCreated && order == "":
				order = a.error().OrderID
			case a.status != http.StatusConflict || a.code() != "insufficient_stock":
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		w.expectStock(t, "prd_roll", 0)
		w.click(t, w.stateOf(t, order).Payment.SessionID, "pay")
		w.finishJobs(t)
		if confirmed := w.do(t, call{method: "POST", path: "/v1/orders/" + order + "/confirm", key: "busy-test"}); confirmed.status != http.StatusOK {
			t.Errorf("%d %s", confirmed.status, confirmed.body)
		}
		w.expectStock(t, "prd_roll", 0)
	})
}
