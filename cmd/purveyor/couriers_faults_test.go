package main_test

import (
	"net/http"
	"slices"
	"testing"

	"purveyor/internal/outside/courier/doordashtest"
	"purveyor/internal/outside/courier/ubertest"
)

const htmlPage = "<html><body>It works!</body></html>"

var retryAfter = http.Header{"Retry-After": {"7"}}

// uberFaults are what may go wrong at Uber when it is asked first.
var uberFaults = []struct {
	name    string
	arrange func(u *ubertest.Server)
	by      string // who brings it in the end
}{
	{"all is well", func(*ubertest.Server) {}, uberName},
	{"out of zone", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable"})
	}, dashName},
	{"no courier", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable_limited_couriers"})
	}, dashName},
	{"no courier any more, after the quote", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /deliveries", Status: 503, Code: "couriers_busy"})
	}, dashName},
	{"down", func(u *ubertest.Server) { u.Always(&ubertest.Fault{Down: true}) }, dashName},
	{"no token to be had", func(u *ubertest.Server) {
		u.Revoke()
		u.Always(&ubertest.Fault{On: "POST /token", Down: true})
	}, dashName},
	{"broken", func(u *ubertest.Server) { u.Always(&ubertest.Fault{Status: 500}) }, dashName},
	{"a page of HTML", func(u *ubertest.Server) { u.Always(&ubertest.Fault{Status: 200, Body: htmlPage}) }, dashName},
	{"an error in HTML", func(u *ubertest.Server) { u.Always(&ubertest.Fault{Status: 502, Body: htmlPage}) }, dashName},
	{"asked too often", func(u *ubertest.Server) { u.Always(&ubertest.Fault{Status: 429, Header: retryAfter}) }, dashName},
	{"asked too often after the quote", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /deliveries", Status: 429, Header: retryAfter})
	}, dashName},
	{"token revoked before", func(u *ubertest.Server) { u.Revoke() }, uberName},
	{"token revoked after the quote", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /deliveries", Status: 401, Code: "unauthorized"})
	}, uberName},
	{"quote expired once", func(u *ubertest.Server) {
		u.Next(ubertest.Fault{On: "POST /deliveries", Status: 400, Code: "expired_quote"})
	}, uberName},
	{"quotes expire at once", func(u *ubertest.Server) { u.SetQuoteLife(0) }, dashName},
}

// dashFaults are the same for DoorDash.
var dashFaults = []struct {
	name  string
	fault *doordashtest.Fault // nil: none
	next  bool                // of the next request only, which is a quote
	by    string
}{
	{"all is well", nil, false, dashName},
	{"too far", &doordashtest.Fault{Status: 422, Code: "undeliverable", Reason: "distance_too_long"}, true, uberName},
	{"nobody at this time", &doordashtest.Fault{Status: 422, Code: "undeliverable", Reason: "outside_of_delivery_time"}, false, uberName},
	{"down", &doordashtest.Fault{Down: true}, false, uberName},
	{"down for a moment", &doordashtest.Fault{Down: true}, true, uberName},
	{"broken", &doordashtest.Fault{Status: 503}, false, uberName},
	{"a page of HTML", &doordashtest.Fault{Status: 200, Body: htmlPage}, false, uberName},
	{"an error in HTML", &doordashtest.Fault{Status: 404, Body: htmlPage}, false, uberName},
	{"asked too often", &doordashtest.Fault{Status: 429, Header: retryAfter}, false, uberName},
	{"a quote whose answer is lost", &doordashtest.Fault{Lost: true}, true, uberName},
}

// TestFirstProviderFails: whatever is wrong with the provider that is asked
// first, the other one brings the goods, and only if the first certainly
// brings none.
func TestFirstProviderFails(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s, "--couriers", "uber,doordash")
		for _, c := range uberFaults {
			for _, ask := range []string{"report", "confirm"} {
				c.arrange(d.uber)
				d.bringsOne(t, c.name, ask, c.by)
			}
		}
	})
}

func TestFirstProviderFailsInTheOtherOrder(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t), "--couriers", "doordash,uber")
	for _, c := range dashFaults {
		for _, ask := range []string{"report", "confirm"} {
			switch {
			case c.fault == nil:
			case c.next:
				d.dash.Next(*c.fault)
			default:
				d.dash.Always(*c.fault)
			}
			d.bringsOne(t, c.name, ask, c.by)
		}
	}
}

// bringsOne makes an order, reported or confirmed, and checks that this
// provider alone delivers it. Then all faults end.
func (d *dispatch) bringsOne(t *testing.T, name, ask, by string) {
	t.Helper()
	request, status := d.report(), 201
	if ask == "confirm" {
		request, status = post("/v1/orders/"+d.paid()+"/confirm", "", nil), 200
	}
	before := d.made()
	sold := d.place(status, request)
	want := before
	want[slices.Index([]string{uberName, dashName}, by)]++
	if made := d.made(); !sold.Delivery.Created || made != want {
		t.Errorf("%s, by %s: %+v; made are %v, want %v", name, ask, *sold.Delivery, made, want)
	}
	if now := d.stored(sold.OrderID, "provider", "state", "provider_id", "attempt"); now != by+" active "+sold.Delivery.ID+" 1" {
		t.Errorf("%s, by %s: the delivery is %s", name, ask, now)
	}
	if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "shipped" || d.attention(sold.OrderID) != "" {
		t.Errorf("%s, by %s: the order is %s, attention %q", name, ask, o.Status, d.attention(sold.OrderID))
	}
	d.fine()
}

// TestFirstProviderIsSlow: an answer that does not come is waited for less long
// than the partner waits.
func TestFirstProviderIsSlow(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	d.uber.Always(&ubertest.Fault{On: "POST /delivery_quotes", Hang: true})
	d.bringsOne(t, "slow", "report", dashName)
}

// TestCredentialsRefused: wrong credentials of one provider leave it to the
// other, and appear in no log.
func TestCredentialsRefused(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t), "--uber-secret", "hush-this-is-wrong")
	d.bringsOne(t, "wrong secret", "report", dashName)
	d.bringsOne(t, "wrong secret", "confirm", dashName)
	asked := 0
	for _, r := range d.uber.Requests() {
		if r.Path == "/token" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("Uber was asked %d times for a token with what it had refused", asked)
	}
	d.process.hides("hush-this-is-wrong", d.dash.SigningSecret, d.dash.Password, d.uber.StatusKey, d.uber.CourierKey, d.stripe.Key, d.stripe.Secret)
}
