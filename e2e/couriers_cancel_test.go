package e2e_test

import (
	"slices"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"
)

// cancelled is the answer to a cancellation.
type cancelled struct {
	Status    string `json:"status"`
	Delivery  bool   `json:"delivery_cancelled"`
	Inventory bool   `json:"inventory_restored"`
}

func (d *dispatch) cancel(orderID string) (out cancelled) {
	d.t.Helper()
	d.must(200, post("/v1/orders/"+orderID+"/cancel", "cancel "+orderID, nil)).decode(d.t, &out)
	if out.Status != "cancelled" || !out.Inventory || d.order("/v1/orders/"+orderID).Status != "cancelled" {
		d.t.Errorf("cancel was answered %+v", out)
	}
	return out
}

// uberStatus returns the status of a delivery at Uber, from its latest event.
func (d *dispatch) uberStatus(id string) (status string) {
	d.t.Helper()
	for _, e := range d.uber.Take() {
		var callback struct {
			Status string `json:"status"`
			ID     string `json:"delivery_id"`
		}
		answer{body: e.Body}.decode(d.t, &callback)
		if callback.ID == id && callback.Status != "" {
			status = callback.Status
		}
	}
	return status
}

func (d *dispatch) dashStatus(id string) string {
	found, _ := d.dash.Find(id)
	return found.DeliveryStatus
}

// TestCancelWithCourier checks that the courier is called off, and that no other is
// sent.
func TestCancelWithCourier(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	stock := d.product("p1").Quantity
	byUber := d.sold()
	d.uber.Always(&fakeuber.Fault{Status: 429})
	byDash := d.sold()
	d.uber.Always(nil)
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if out := d.cancel(id); !out.Delivery || d.attention(id) != "" || d.stored(id, "state", "status") != "over cancelled" {
			t.Errorf("%+v, attention %q, delivery %s", out, d.attention(id), d.stored(id, "state", "status"))
		}
	}
	if d.dashStatus(byDash.Delivery.ID) != "cancelled" {
		t.Errorf("at DoorDash it is %s", d.dashStatus(byDash.Delivery.ID))
	}
	events := d.uber.Take()
	if !slices.ContainsFunc(events, func(e fakeuber.Event) bool { return e.Kind == "event.delivery_status" }) {
		t.Error("Uber has no callback")
	}
	for _, e := range events { // includes the cancellation that we asked for
		d.postCallback(uberName, e.Header(), e.Body)
	}
	d.postCallbacks(1)
	if d.made() != [2]int{1, 1} || d.product("p1").Quantity != stock {
		t.Errorf("made are %v, stock %d, was %d", d.made(), d.product("p1").Quantity, stock)
	}
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if pushed := d.pushed(id); pushed["delivery.cancelled"] != 1 || pushed["order.cancelled"] != 1 {
			t.Errorf("pushed are %v", pushed)
		}
	}
}

// TestCancelTooLate checks a cancellation after the pick-up: the order is cancelled,
// the delivery is not, and the merchant is told. Later callbacks do not move the
// order.
func TestCancelTooLate(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	byUber := d.sold()
	d.uber.Always(&fakeuber.Fault{Status: 429})
	byDash := d.sold()
	d.uber.Always(nil)
	check.OK(t, d.uber.Move(byUber.Delivery.ID, "pickup_complete")) // we have received no callback about this
	check.OK(t, d.dash.Move(byDash.Delivery.ID, "picked_up"))
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if out := d.cancel(id); out.Delivery || d.attention(id) != "goods_with_courier" {
			t.Errorf("%+v, attention %q", out, d.attention(id))
		}
	}
	check.OK(t, d.uber.Move(byUber.Delivery.ID, "delivered"))
	check.OK(t, d.dash.Move(byDash.Delivery.ID, "delivered"))
	d.postCallbacks(1)
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if o := d.order("/v1/orders/" + id); o.Status != "cancelled" || d.stored(id, "state", "status") != "over delivered" {
			t.Errorf("the order is %s, the delivery %s", o.Status, d.stored(id, "state", "status"))
		}
	}
}

// TestCancelUnreachable checks that the courier is called off once the provider is
// back, and that the repeated key reports that.
func TestCancelUnreachable(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		byUber := d.sold()
		d.uber.Always(&fakeuber.Fault{Status: 429})
		byDash := d.sold()
		d.uber.Always(&fakeuber.Fault{Status: 200, Body: htmlPage})
		d.dash.Always(fakedoordash.Fault{Down: true})
		for _, id := range []string{byUber.OrderID, byDash.OrderID} {
			if out := d.cancel(id); out.Delivery {
				t.Errorf("the outcome is unknown, and the answer says %+v", out)
			}
		}
		d.fine()
		for _, id := range []string{byUber.OrderID, byDash.OrderID} {
			if out := d.cancel(id); !out.Delivery || d.attention(id) != "" {
				t.Errorf("%+v, attention %q", out, d.attention(id))
			}
		}
		if d.dashStatus(byDash.Delivery.ID) != "cancelled" || d.uberStatus(byUber.Delivery.ID) != "canceled" {
			t.Errorf("at DoorDash it is %s", d.dashStatus(byDash.Delivery.ID))
		}
	})
}

// TestCancelAfterUnknownOutcome checks that a delivery with an unknown outcome is found
// by our name for it, and cancelled.
func TestCancelAfterUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"uber,doordash", "doordash,uber"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			d := newDispatch(newShop(t), "--couriers", order)
			d.uber.Next(fakeuber.Fault{On: "POST /deliveries", Lost: true})
			d.dash.Next(fakedoordash.Fault{}) // for the quote
			d.dash.Next(fakedoordash.Fault{Lost: true})
			sold := d.place(201, d.report())
			made := d.made()
			if out := d.cancel(sold.OrderID); !out.Delivery || d.stored(sold.OrderID, "state", "status") != "over cancelled" {
				t.Errorf("%+v, delivery %s", out, d.stored(sold.OrderID, "state", "status"))
			}
			check.Eventually(t, patience, pollPause, "the search for a courier to end", func() bool {
				return d.shop.count("SELECT CAST(count(*) AS TEXT) FROM jobs WHERE kind = 'dispatch'") == "0"
			})
			if made[0]+made[1] != 1 || d.made() != made || d.attention(sold.OrderID) != "" {
				t.Errorf("made are %v, then %v; attention %q", made, d.made(), d.attention(sold.OrderID))
			}
		})
	}
}
