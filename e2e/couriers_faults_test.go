package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"
)

const htmlPage = "<html><body>It works!</body></html>"

var retryAfter = http.Header{"Retry-After": {"7"}}

// uberFaults are faults of Uber when it is asked first.
var uberFaults = []struct {
	name    string
	arrange func(u *fakeuber.Server)
	by      string // provider that delivers in the end
}{
	{"all is well", func(*fakeuber.Server) {}, uberName},
	{"out of zone", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable"})
	}, dashName},
	{"no courier", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable_limited_couriers"})
	}, dashName},
	{"no courier any more, after the quote", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /deliveries", Status: 503, Code: "couriers_busy"})
	}, dashName},
	{"down", func(u *fakeuber.Server) { u.Always(&fakeuber.Fault{Down: true}) }, dashName},
	{"no token to be had", func(u *fakeuber.Server) {
		u.Revoke()
		u.Always(&fakeuber.Fault{On: "POST /token", Down: true})
	}, dashName},
	{"broken", func(u *fakeuber.Server) { u.Always(&fakeuber.Fault{Status: 500}) }, dashName},
	{"a page of HTML", func(u *fakeuber.Server) { u.Always(&fakeuber.Fault{Status: 200, Body: htmlPage}) }, dashName},
	{"an error in HTML", func(u *fakeuber.Server) { u.Always(&fakeuber.Fault{Status: 502, Body: htmlPage}) }, dashName},
	{"asked too often", func(u *fakeuber.Server) { u.Always(&fakeuber.Fault{Status: 429, Header: retryAfter}) }, dashName},
	{"asked too often after the quote", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /deliveries", Status: 429, Header: retryAfter})
	}, dashName},
	{"token revoked before", func(u *fakeuber.Server) { u.Revoke() }, uberName},
	{"token revoked after the quote", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /deliveries", Status: 401, Code: "unauthorized"})
	}, uberName},
	{"quote expired once", func(u *fakeuber.Server) {
		u.Next(fakeuber.Fault{On: "POST /deliveries", Status: 400, Code: "expired_quote"})
	}, uberName},
	{"quotes expire at once", func(u *fakeuber.Server) { u.SetQuoteLife(0) }, dashName},
}

// dashFaults are faults of DoorDash when it is asked first.
var dashFaults = []struct {
	name  string
	fault *fakedoordash.Fault // nil: no fault
	next  bool                // only for the next request, which is for a quote
	by    string
}{
	{"all is well", nil, false, dashName},
	{"too far", &fakedoordash.Fault{Status: 422, Code: "undeliverable", Reason: "distance_too_long"}, true, uberName},
	{"not at this time", &fakedoordash.Fault{Status: 422, Code: "undeliverable", Reason: "outside_of_delivery_time"}, false, uberName},
	{"down", &fakedoordash.Fault{Down: true}, false, uberName},
	{"down for a moment", &fakedoordash.Fault{Down: true}, true, uberName},
	{"broken", &fakedoordash.Fault{Status: 503}, false, uberName},
	{"a page of HTML", &fakedoordash.Fault{Status: 200, Body: htmlPage}, false, uberName},
	{"an error in HTML", &fakedoordash.Fault{Status: 404, Body: htmlPage}, false, uberName},
	{"asked too often", &fakedoordash.Fault{Status: 429, Header: retryAfter}, false, uberName},
	{"a quote whose answer is lost", &fakedoordash.Fault{Lost: true}, true, uberName},
}

// TestFirstProviderFails checks that the second provider delivers whatever is wrong
// with the first one, but only if the first one certainly does not.
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

// bringsOne makes an order, reported or confirmed, and checks that only this provider
// delivers it. Then it ends all faults.
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

// TestFirstProviderIsSlow checks that the service gives up on a missing answer before
// the partner does.
func TestFirstProviderIsSlow(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	d.uber.Always(&fakeuber.Fault{On: "POST /delivery_quotes", Hang: true})
	d.bringsOne(t, "slow", "report", dashName)
}

// TestCredentialsRefused checks that the other provider delivers if credentials are
// wrong, and that they appear in no log.
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
