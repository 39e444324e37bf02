package scenario

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Events of products come while an endpoint names them, and are for keys with read_products
// alone.
func TestProductEvents(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		follow := func() {
			t.Helper()
			for range 2 { // the first look begins
				if _, err := w.service.FollowProducts(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.makeEndpoint(t, call{key: "busy"}, `{"url":"https://kiosk.example/hooks","events":["product.*"]}`)
		follow()
		w.must(t, "POST", "/v1/inventory/adjustments", `{"adjustments":[{"product_id":"prd_loaf","delta":3}]}`)
		w.must(t, "POST", "/v1/products/upsert", `{"id":"prd_roll","store_id":"sto_north","category_id":"cat_bread","name":"Round roll"}`)
		follow()
		kinds := map[string]string{}
		for _, e := range w.eventsOf(t, call{method: "GET", path: "/v1/events?limit=300", key: "busy"}) {
			kinds[e.Event] = e.ID
		}
		stock, product := kinds["product.stock_changed"], kinds["product.updated"]
		if stock == "" || product == "" {
			t.Fatalf("the events are %v", kinds)
		}
		narrow := w.makeKey(t, call{key: "busy"}, `{"name":"Orders","mode":"live","scopes":["read_orders","manage_self"]}`).Value
		for _, e := range w.eventsOf(t, as(narrow, "GET", "/v1/events?limit=300", "")) {
			if strings.HasPrefix(e.Event, "product.") {
				t.Errorf("a key without read_products reads %s", e.Event)
			}
		}
		for path, body := range map[string]string{"/v1/events/" + stock: "", "/v1/events/" + product + "/attempts": "", "/v1/events/" + stock + "/resend": "{}",
			"/v1/webhook-endpoints": `{"url":"https://kiosk.example/more","events":["product.updated"]}`} {
			method := "GET"
			if body != "" {
				method = "POST"
			}
			w.refuses(t, as(narrow, method, path, body), http.StatusForbidden, "scope_missing")
		}
		if a := w.do(t, call{method: "GET", path: "/v1/events/" + stock, key: "busy"}); a.status != http.StatusOK || !strings.Contains(string(a.body), `"state":"waiting"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// must makes a call that succeeds.
func (w *world) must(t *testing.T, method, path, body string) {
	t.Helper()
	c := call{method: method, path: path, key: "busy", body: body, idem: "must " + path}
	if a := w.do(t, c); a.status >= 300 {
		t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
}

type readEvent struct{ ID, Event string }

// eventsOf reads a page of events.
func (w *world) eventsOf(t *testing.T, c call) []readEvent {
	t.Helper()
	var page struct{ Events []readEvent }
	a := w.do(t, c)
	if err := json.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s, %v", a.status, a.body, err)
	}
	return page.Events
}
