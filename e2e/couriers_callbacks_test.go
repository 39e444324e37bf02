package e2e_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"
)

// postRaw posts a callback as a provider does, and returns the answer.
func (d *dispatch) postRaw(provider string, header http.Header, body []byte) answer {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.base+"/inbound/couriers/"+provider, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header = header.Clone()
	a, err := d.do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// postCallbacks posts all callbacks of both providers, this many times.
func (d *dispatch) postCallbacks(times int) {
	d.t.Helper()
	for _, e := range d.uber.Take() {
		for range times {
			d.postCallback(uberName, e.Header(), e.Body)
		}
	}
	for _, e := range d.dash.Take() {
		for range times {
			d.postCallback(dashName, d.dash.Header(), e.Body)
		}
	}
}

func (d *dispatch) postCallback(provider string, header http.Header, body []byte) {
	d.t.Helper()
	if a := d.postRaw(provider, header, body); a.status != 200 || string(a.body) != `{"ok":true}` {
		d.t.Errorf("a callback of %s was answered %d: %s: %s", provider, a.status, a.body, body)
	}
}

// pushed counts the delivery and status events of one order that its partner
// received, by kind.
func (d *dispatch) pushed(orderID string) map[string]int {
	d.t.Helper()
	counts := map[string]int{}
	for _, text := range d.events() {
		var e event
		answer{body: []byte(text)}.decode(d.t, &e)
		if e.OrderID == orderID {
			counts[e.Event]++
		}
	}
	return counts
}

// TestCallbacksLeadToTheDoor checks that the callbacks of both providers, posted
// repeatedly, take an order to the door once.
func TestCallbacksLeadToTheDoor(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		byUber := d.sold()
		d.uber.Always(&fakeuber.Fault{Status: 429})
		byDash := d.sold()
		d.uber.Always(nil)
		d.postCallbacks(1)
		for _, step := range []struct{ uber, dash, status, courier string }{
			{"pickup", "arrived_at_pickup", "shipped", "pickup"},
			{"pickup_complete", "picked_up", "out_for_delivery", "pickup_complete"},
			{"dropoff", "arrived_at_dropoff", "out_for_delivery", "en_route_to_dropoff"},
			{"delivered", "delivered", "delivered", "delivered"},
		} {
			check.OK(t, d.uber.Move(byUber.Delivery.ID, step.uber))
			check.OK(t, d.dash.Move(byDash.Delivery.ID, step.dash))
			d.postCallbacks(2)
			for _, id := range []string{byUber.OrderID, byDash.OrderID} {
				at, err := d.location(id)
				if err != nil || at.Status != step.status || at.CourierStatus == nil || *at.CourierStatus != step.courier || at.Courier.Name == "" || at.Courier.Location == nil {
					t.Errorf("after %s: %+v, %v", step.uber, at, err)
				}
			}
		}
		for by, id := range map[string]string{uberName: byUber.OrderID, dashName: byDash.OrderID} {
			pushed, history := d.pushed(id), d.history(id)
			for _, kind := range []string{"order.accepted", "delivery.created", "order.shipped", "order.out_for_delivery", "delivery.out_for_delivery", "order.delivered", "delivery.delivered"} {
				if pushed[kind] != 1 {
					t.Errorf("%s: %s was pushed %d times", by, kind, pushed[kind])
				}
			}
			if pushed["delivery.courier_update"] == 0 { // the number of updates depends on the time that this takes
				t.Errorf("%s: pushed are %v", by, pushed)
			}
			for _, kind := range []string{"delivery.created", "delivery.shipped", "delivery.courier_assigned", "delivery.out_for_delivery", "delivery.delivered"} {
				if history[kind] != 1 {
					t.Errorf("%s: the timeline has %s %d times", by, kind, history[kind])
				}
			}
			if d.attention(id) != "" {
				t.Errorf("%s: attention %q", by, d.attention(id))
			}
		}
	})
}

// TestCallbacksInTheWrongOrder checks that a status never goes back, and that a later
// callback can imply the pick-up.
func TestCallbacksInTheWrongOrder(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold := d.sold()
	check.OK(t, d.uber.Move(sold.Delivery.ID, "delivered"))
	events := d.uber.Take()
	for i := len(events) - 1; i >= 0; i-- {
		d.postCallback(uberName, events[i].Header(), events[i].Body)
		if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "delivered" {
			t.Fatalf("after %s the order is %s", events[i].Body, o.Status)
		}
	}
	pushed := d.pushed(sold.OrderID)
	if pushed["order.delivered"] != 1 || pushed["order.out_for_delivery"] != 0 || pushed["delivery.delivered"] != 1 {
		t.Errorf("pushed are %v", pushed)
	}
}

// TestForgedCallbacks checks that callbacks from elsewhere are refused and change
// nothing.
func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	byUber := d.sold()
	d.uber.Always(&fakeuber.Fault{Status: 429})
	byDash := d.sold()
	d.uber.Take()
	d.dash.Take()
	check.OK(t, d.uber.Move(byUber.Delivery.ID, "delivered"))
	check.OK(t, d.dash.Move(byDash.Delivery.ID, "delivered"))
	uberEvents, dashEvents := d.uber.Take(), d.dash.Take()
	body := uberEvents[len(uberEvents)-1].Body
	dashBody := dashEvents[len(dashEvents)-1].Body
	basic := func(text string) http.Header {
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}}
	}
	before := d.state()
	for what, forged := range map[string]struct {
		to     string
		header http.Header
		body   []byte
	}{
		"unsigned":                  {uberName, http.Header{}, body},
		"another key":               {uberName, http.Header{"X-Uber-Signature": {fakeuber.Sign(body, "another")}}, body},
		"no key":                    {uberName, http.Header{"X-Uber-Signature": {fakeuber.Sign(body, "")}}, body},
		"the client secret":         {uberName, http.Header{"X-Uber-Signature": {fakeuber.Sign(body, d.uber.ClientSecret)}}, body},
		"another body's":            {uberName, uberEvents[0].Header(), body},
		"changed":                   {uberName, uberEvents[len(uberEvents)-1].Header(), bytes.Replace(body, []byte("delivered"), []byte("canceled_"), 1)},
		"signed nonsense":           {uberName, http.Header{"X-Uber-Signature": {fakeuber.Sign([]byte("{"), d.uber.StatusKey)}}, []byte("{")},
		"DoorDash's, at Uber's":     {uberName, d.dash.Header(), dashBody},
		"unsigned, to DoorDash":     {dashName, http.Header{}, dashBody},
		"another password":          {dashName, basic(d.dash.User + ":another"), dashBody},
		"another user":              {dashName, basic("another:" + d.dash.Password), dashBody},
		"no password":               {dashName, basic(d.dash.User + ":"), dashBody},
		"the password alone":        {dashName, http.Header{"Authorization": {d.dash.Password}}, dashBody},
		"trusted nonsense":          {dashName, d.dash.Header(), []byte(`"delivered"`)},
		"Uber's, at DoorDash's":     {dashName, uberEvents[0].Header(), body},
		"trusted, of no known kind": {dashName, d.dash.Header(), []byte(`{"external_delivery_id":"` + byDash.Delivery.ID + `"}`)},
		"the sandbox's, unsigned":   {"sandbox", http.Header{}, body},
	} {
		a := d.postRaw(forged.to, forged.header, forged.body)
		if a.refusal(t, 400, "bad_notice"); a.status != 400 {
			t.Errorf("%s", what)
		}
	}
	d.postRaw("unknown", http.Header{}, body).refusal(t, 404, "not_found")
	d.postRaw("uber-test", uberEvents[0].Header(), body).refusal(t, 404, "not_found") // this provider is not configured
	if after := d.state(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	d.process.hides(d.uber.StatusKey, d.uber.CourierKey, d.uber.ClientSecret, d.dash.Password, d.dash.SigningSecret)
}

// state returns everything that callbacks can change.
func (d *dispatch) state() string {
	d.t.Helper()
	var all []string
	for _, query := range []string{
		"SELECT id || ' ' || status || ' ' || updated_on FROM orders ORDER BY id",
		"SELECT order_id || ' ' || code || ' ' || since || ' ' || resolved_on FROM attention ORDER BY order_id, code",
		"SELECT order_id || ' ' || state || ' ' || status || ' ' || updated_on FROM deliveries ORDER BY order_id",
		"SELECT 'timeline ' || count(*) FROM timeline", "SELECT 'notices ' || count(*) FROM courier_notices",
	} {
		all = append(all, d.shop.rows(query)...)
	}
	return strings.Join(all, "\n")
}

// TestStrayCallbacks checks that callbacks about unknown deliveries, or about those
// of another provider, are answered with 200, stored, and have no other effect.
func TestStrayCallbacks(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		sold := d.sold()
		check.OK(t, d.uber.Move(sold.Delivery.ID, "pickup"))
		d.postCallbacks(1)
		ours := "dlv_" + strings.TrimPrefix(sold.OrderID, "ord_") + "_1"
		elsewhere := "dlv_" + strings.TrimPrefix(sold.OrderID, "ord_1_")[:3] + "_1"
		before := d.shop.rows("SELECT order_id || ' ' || state || ' ' || status FROM deliveries")
		stray := 0
		for _, name := range []string{"another-system-1", elsewhere, "dlv_999_06h031jm8kk5q75x758bkewc70_1", ours} {
			body := fmt.Appendf(nil, `{"event_name":"DASHER_DROPPED_OFF","external_delivery_id":%q,"created_at":"2026-11-22T05:00:00Z"}`, name)
			d.postCallback(dashName, d.dash.Header(), body)
			stray++
			if got := d.shop.count("SELECT CAST(count(*) AS TEXT) FROM courier_notices"); got != fmt.Sprint(stray) {
				t.Errorf("%s: %s callbacks are kept, want %d", name, got, stray)
			}
		}
		body := []byte(`{"id":"evt_x","kind":"event.delivery_status","status":"delivered","delivery_id":"del_x","live_mode":true,"data":{"id":"del_x"}}`)
		d.postCallback(uberName, http.Header{"X-Uber-Signature": {fakeuber.Sign(body, d.uber.StatusKey)}}, body)
		kept := d.shop.rows("SELECT provider || ' ' || delivery_id || ' ' || body FROM courier_notices ORDER BY provider, delivery_id")
		if len(kept) != stray+1 || kept[stray] != "uber del_x "+string(body) {
			t.Errorf("kept are %q", kept)
		}
		if after := d.shop.rows("SELECT order_id || ' ' || state || ' ' || status FROM deliveries"); strings.Join(after, "\n") != strings.Join(before, "\n") {
			t.Errorf("deliveries are %v, were %v", after, before)
		}
		if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "shipped" {
			t.Errorf("the order is %s", o.Status)
		}
	})
}

// TestCourierGivesUp checks that couriers that give up before the pick-up are
// replaced, by another provider if possible, up to three times. Then the merchant is
// told.
func TestCourierGivesUp(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		sold := d.sold()
		for attempt, by := range []string{uberName, dashName, uberName, dashName} {
			d.attempt(sold.OrderID, attempt+1, by)
			id := d.stored(sold.OrderID, "provider_id")
			if by == uberName {
				check.OK(t, d.uber.Move(id, "canceled"))
			} else {
				check.OK(t, d.dash.GiveUp(id, "failed_to_assign_and_refunded"))
			}
			d.postCallbacks(2)
		}
		if now := d.stored(sold.OrderID, "attempt", "state", "status"); now != "4 over cancelled" || d.made() != [2]int{2, 2} {
			t.Errorf("the delivery is %s, made are %v", now, d.made())
		}
		if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "shipped" || d.attention(sold.OrderID) != "courier_gave_up" {
			t.Errorf("the order is %s, attention %q", o.Status, d.attention(sold.OrderID))
		}
		if pushed := d.pushed(sold.OrderID); pushed["delivery.cancelled"] != 4 || pushed["delivery.created"] != 4 || pushed["order.shipped"] != 1 {
			t.Errorf("pushed are %v", pushed)
		}
	})
}

// attempt waits until this many couriers were sent, the last one by this provider.
func (d *dispatch) attempt(orderID string, n int, by string) {
	d.t.Helper()
	want := fmt.Sprint(n, " active ", by)
	check.Eventually(d.t, patience, pollPause, "attempt "+want, func() bool { return d.stored(orderID, "attempt", "state", "provider") == want })
}

// TestCourierGivesUpAndTheOtherIsDown checks that the provider whose courier gave up
// is asked again if the other one is down.
func TestCourierGivesUpAndTheOtherIsDown(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold := d.sold()
	d.dash.Always(fakedoordash.Fault{Down: true})
	check.OK(t, d.uber.Move(sold.Delivery.ID, "canceled"))
	d.postCallbacks(1)
	d.attempt(sold.OrderID, 2, uberName)
	if d.made() != [2]int{2, 0} {
		t.Errorf("made are %v", d.made())
	}
}

// TestGoodsComeBack checks that a courier that had the goods is not replaced, and
// that the merchant is told.
func TestGoodsComeBack(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	byUber := d.sold()
	d.uber.Always(&fakeuber.Fault{Status: 429})
	byDash := d.sold()
	check.OK(t, d.uber.Move(byUber.Delivery.ID, "returned"))
	check.OK(t, d.dash.Move(byDash.Delivery.ID, "returned"))
	d.postCallbacks(2)
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if now := d.stored(id, "attempt", "state", "status"); now != "1 over returned" || d.attention(id) != "goods_returned" || d.order("/v1/orders/"+id).Status != "out_for_delivery" {
			t.Errorf("the delivery is %s, attention %q, order %+v", now, d.attention(id), d.order("/v1/orders/"+id))
		}
	}
	if d.made() != [2]int{1, 1} {
		t.Errorf("made are %v", d.made())
	}
}

// TestDispute checks that the merchant is told of a customer's bank that demands the
// money.
func TestDispute(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	order := d.paid()
	payment := d.shop.count("SELECT payment_id FROM payments WHERE order_id = '" + order + "'")
	d.stripe.Dispute(payment, 30)
	for _, e := range d.stripe.Take() {
		for range 2 { // the repeat has no effect
			if status, err := e.Post(t.Context(), d.base+"/inbound/payments/stripe"); err != nil || status != 200 {
				t.Fatalf("%s was answered %d, %v", e.Type, status, err)
			}
		}
	}
	// The note about the missing e-mail address may come at any time, so only the
	// notes of the dispute are counted.
	notes := strings.Count(string(d.must(200, get("/v1/orders/"+order+"/timeline")).body), `"code":"payment_disputed"`)
	if o := d.order("/v1/orders/" + order); o.Status != "paid" || d.attention(order) != "payment_disputed" || notes != 1 {
		t.Errorf("%+v, attention %q, %d notes", o, d.attention(order), notes)
	}
}
