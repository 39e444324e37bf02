package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"

	jsonv2 "github.com/go-json-experiment/json"
)

type triggered struct {
	OrderID string `json:"order_id"`
}

func (w *world) trigger(t *testing.T, body, idem string) (made triggered) {
	t.Helper()
	a := w.do(t, call{method: "POST", path: "/v1/sandbox/trigger", key: "test", idem: idem, body: body})
	if err := jsonv2.Unmarshal(a.body, &made); a.status != 200 || err != nil {
		t.Fatalf("%s: %d %s", body, a.status, a.body)
	}
	return made
}

// Each kind of event has happened when the answer comes, on an order of its own. A repeat stays with the order.
func TestTriggeredEvents(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		for _, kind := range service.TriggeredEvents() {
			body := fmt.Sprintf(`{"event":%q,"store_id":"sto_town"}`, kind)
			made := w.trigger(t, body, "key "+string(kind))
			happened := w.webhooks(t, made.OrderID)
			if !slices.Contains(happened, string(kind)) {
				t.Errorf("%s: %v", kind, happened)
			}
			if again := w.trigger(t, body, "key "+string(kind)); again != made {
				t.Errorf("%s: a repeat made order %s, not %s", kind, again.OrderID, made.OrderID)
			}
			if now := w.webhooks(t, made.OrderID); len(now) != len(happened) {
				t.Errorf("%s: a repeat changes %v into %v", kind, happened, now)
			}
			w.clock.move(time.Minute)
		}
		for _, kind := range commerce.WebhookKinds {
			if strings.HasPrefix(string(kind), "order.") && !slices.Contains(service.TriggeredEvents(), kind) {
				t.Errorf("%s cannot be triggered", kind)
			}
		}
	})
}

func TestTriggersThatAreRefused(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		trigger := call{method: "POST", path: "/v1/sandbox/trigger", key: "test", lenient: true}
		for body, want := range map[string]string{
			`{"event":"webhook.test"}`:                            "400 invalid_body",
			`{"event":"order.paid","store_id":"sto_nothing"}`:     "400 invalid_body",
			`{"event":"order.shipped","store_id":"sto_south"}`:    "409 insufficient_stock", // does not deliver
			`{"event":"order.accepted","store_id":"sto_courier"}`: "409 insufficient_stock", // delivers alone
			`{"event":"order.accepted","store_id":"sto_gone"}`:    "409 insufficient_stock",
		} {
			a := w.do(t, with(trigger, func(c *call) { c.body = body }))
			if got := fmt.Sprint(a.status, " ", a.code()); got != want {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
		w.refuses(t, with(trigger, func(c *call) { c.key, c.body = "live", `{"event":"order.paid"}` }), 403, "test_key_only")
		w.clock.move(time.Minute)
		trigger.body = `{"event":"order.accepted","store_id":"sto_north"}`
		for range 30 {
			if a := w.do(t, trigger); a.status != 200 {
				t.Fatal(a.status, string(a.body))
			}
		}
		if a := w.refuses(t, trigger, 429, "rate_limited"); a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		w.clock.move(time.Minute)
		if made := w.trigger(t, `{"event":"order.cancelled"}`, ""); made.OrderID == "" {
			t.Error("no order")
		}
		if left, err := w.engine.Reader().Stock(context.Background(), []string{"prd_roll", "prd_loaf"}); err != nil || left["prd_roll"].Quantity+left["prd_loaf"].Quantity != 70-30 {
			t.Errorf("stock %v, %v", left, err)
		}
	})
}
