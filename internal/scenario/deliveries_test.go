package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

// delivery reads an order's stored delivery.
func (w *world) delivery(t *testing.T, orderID string) commerce.Delivery {
	t.Helper()
	d, err := w.engine.Reader().Delivery(context.Background(), w.orderKey(t, orderID))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// says returns a call that posts this status of a delivery.
func (w *world) says(t *testing.T, d commerce.Delivery, id string, status commerce.CourierStatus) call {
	t.Helper()
	body, err := json.Marshal(map[string]any{"id": id, "delivery_id": d.ProviderID, "ref": d.Ref(), "status": status, "seen_on": w.clock.Now().UnixMilli(),
		"courier": map[string]any{"name": "Amara O.", "location": commerce.Point{Lat: 42.66, Lng: -73.75}}})
	if err != nil {
		t.Fatal(err)
	}
	c := w.signed(t, string(body))
	c.path = courierPath
	return c
}

// One key twenty times at once: one order, one courier, equal answers.
func TestOneDeliveryAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		body := strings.Replace(samples["/v1/orders/report"], `"pickup"`, `"delivery"`, 1)
		body = strings.NewReplacer("sto_north", "sto_town", "prd_loaf", "prd_town").Replace(body)
		answers := w.together(t, 20, func(int) call {
			return call{method: http.MethodPost, path: "/v1/orders/report", key: "busy-test", idem: "k", body: body}
		})
		for _, a := range answers {
			if a.status != http.StatusCreated || string(a.body) != string(answers[0].body) || !strings.Contains(string(a.body), `"created":true`) {
				t.Errorf("%d %s and %d %s", answers[0].status, answers[0].body, a.status, a.body)
			}
		}
		order := answers[0].error().OrderID
		w.finishJobs(t)
		if got := strings.Join(w.webhooks(t, order), " "); got != "order.accepted delivery.created order.shipped" {
			t.Errorf("webhooks: %s", got)
		}
		w.expectStock(t, "prd_town", 19)
	})
}

// Twenty confirmations and twenty cancellations at once: one courier is sent for, and
// called off once.
func TestConfirmAndCancelAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.seedOrder(t, []string{"a", "paid", "delivery", "2*prd_town", "of=busy", "store=sto_town", "mode=test"})
		first := 0
		for _, a := range w.together(t, 20, func(int) call {
			return call{method: http.MethodPost, path: "/v1/orders/" + order + "/confirm", key: "busy-test"}
		}) {
			if a.status != http.StatusOK {
				t.Errorf("%d %s", a.status, a.body)
			}
			if strings.Contains(string(a.body), `"idempotent_replay":false`) {
				first++
			}
		}
		w.finishJobs(t)
		if got := strings.Join(w.webhooks(t, order), " "); first != 1 || got != "order.processed delivery.created order.shipped" {
			t.Errorf("%d confirmed it; webhooks: %s", first, got)
		}
		done := 0
		for _, a := range w.together(t, 20, func(i int) call {
			return call{method: http.MethodPost, path: "/v1/orders/" + order + "/cancel", key: "busy-test", idem: fmt.Sprint("c", i)}
		}) {
			switch {
			case a.status == http.StatusOK && strings.Contains(string(a.body), `"delivery_cancelled":true`):
				done++
			case a.code() != "wrong_status":
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		w.finishJobs(t)
		if d := w.delivery(t, order); done != 1 || d.State != commerce.DeliveryOver || d.Status != commerce.CourierCancelled {
			t.Errorf("%d cancelled it: %+v", done, d)
		}
		w.expectStock(t, "prd_town", 20)
	})
}

// A repeated callback takes effect once, even if it is posted many times at once.
func TestRepeatedCourierCallbacks(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.deliver(t, "web-1", "never-assigned")
		for _, status := range []commerce.CourierStatus{commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierEnRoute, commerce.CourierDone} {
			w.clock.move(time.Minute)
			c := w.says(t, w.delivery(t, order), "cev_"+string(status), status)
			for _, a := range w.together(t, 20, func(int) call { return c }) {
				if a.status != http.StatusOK || string(a.body) != `{"ok":true}` {
					t.Errorf("%s: %d %s", status, a.status, a.body)
				}
			}
		}
		w.finishJobs(t)
		if got := strings.Join(w.webhooks(t, order), " "); got != "order.accepted delivery.created order.shipped delivery.courier_update "+
			"order.out_for_delivery delivery.out_for_delivery delivery.courier_update order.delivered delivery.delivered" {
			t.Errorf("webhooks: %s", got)
		}
		for _, status := range []commerce.CourierStatus{commerce.CourierCancelled, commerce.CourierPending, commerce.CourierReturning} { // outdated events
			if a := w.do(t, w.says(t, w.delivery(t, order), "cev_"+string(status), status)); a.status != http.StatusOK {
				t.Errorf("%s: %d %s", status, a.status, a.body)
			}
		}
		if o := w.storedOrder(t, order); o.Status != commerce.Delivered || w.attention(t, order) != "" {
			t.Errorf("the order is %s, %q", o.Status, w.attention(t, order))
		}
	})
}

// Callbacks from elsewhere are refused, and a callback about another delivery changes
// nothing here.
func TestCourierCallbacksOfOthers(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.deliver(t, "web-1", "never-assigned")
		d := w.delivery(t, order)
		good := w.says(t, d, "cev_1", commerce.CourierDone)
		signature := good.header.Get(sandbox.SignatureHeader)
		t0, sum, _ := strings.Cut(signature, ",")
		for _, header := range []string{"", "nonsense", sum, t0, t0 + ",v1=" + strings.Repeat("0", 64), "t=1," + sum, t0 + ",v1=zz"} {
			w.refuses(t, with(good, func(c *call) { c.header = http.Header{sandbox.SignatureHeader: {header}} }), http.StatusBadRequest, "bad_notice")
		}
		w.refuses(t, with(good, func(c *call) { c.body = strings.Replace(c.body, "42.66", "42.67", 1) }), http.StatusBadRequest, "bad_notice")
		w.refuses(t, with(good, func(c *call) { c.path = strings.Replace(c.path, "sandbox", "doordash", 1) }), http.StatusNotFound, "not_found")
		w.refuses(t, with(good, func(c *call) { c.path = callbackPath }), http.StatusBadRequest, "bad_notice") // this path is for payments
		for _, stray := range []func(*commerce.Delivery){
			func(d *commerce.Delivery) { d.ProviderID = "del_test_other" },
			func(d *commerce.Delivery) { d.Attempt = 2 },
			func(d *commerce.Delivery) { d.Attempt = 0 },
			func(d *commerce.Delivery) { d.OrderID = "ord_zz_00000000000000000000000000" },
			func(d *commerce.Delivery) { d.OrderID = "nothing" },
		} {
			other := d
			stray(&other)
			if a := w.do(t, w.says(t, other, "cev_2", commerce.CourierDone)); a.status != http.StatusOK {
				t.Errorf("%+v: %d %s", other, a.status, a.body)
			}
		}
		w.clock.move(sandbox.Tolerance + time.Second)
		w.refuses(t, good, http.StatusBadRequest, "bad_notice") // replayed too late
		if got := strings.Join(w.webhooks(t, order), " "); got != "order.accepted delivery.created order.shipped" {
			t.Errorf("webhooks: %s", got)
		}
		if !logged.has("a courier callback is about an unknown delivery") {
			t.Error("nothing is logged")
		}
	})
}
