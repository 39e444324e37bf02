package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"
)

// refuseUs makes all providers refuse our credentials.
func (d *dispatch) refuseUs() {
	d.stripe.Revoke(true)
	// A 403, because after a 401 Uber is not called for 2 minutes.
	d.uber.Always(&fakeuber.Fault{Status: 403, Code: "customer_blocked", Message: "Blocked."})
	d.dash.Always(fakedoordash.Fault{Status: 401, Code: "authentication_error", Message: "Wrong key."})
}

func (d *dispatch) takeUs() {
	d.stripe.Revoke(false)
	d.fine()
}

// refused is the error answer to a request.
func (d *dispatch) refused(status int, code string, r request) (e struct {
	Code    string `json:"code"`
	OrderID string `json:"order_id"`
}) {
	d.t.Helper()
	d.must(status, r).decode(d.t, &e)
	if e.Code != code {
		d.t.Errorf("%s has the code %s, want %s", r.path, e.Code, code)
	}
	return e
}

// A provider that refuses our credentials does not keep callers waiting (BEHAVIOUR,
// Errors). The work is done once it accepts them again.
func TestProvidersRefuseUs(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		began := time.Now()
		d := newDispatch(s)
		paid, toConfirm, toCancel := d.paid(), d.paid(), d.sold()
		check.Eventually(t, patience, pollPause, "the providers to be asked at the start", func() bool {
			return len(d.stripe.Requests()) > 0 && len(d.dash.Requests()) > 0
		})
		if log := d.process.stderr.String(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
			t.Errorf("all is well, and yet:\n%s", log)
		}
		d.refuseUs()

		checkout := post("/v1/checkout/session", "refused checkout", map[string]any{"store_id": "s1", "fulfillment_type": "pickup",
			"items": []map[string]any{{"product_id": "p1", "quantity": 1}}, "success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"})
		first := d.refused(500, "payment_not_configured", checkout)
		if o := d.order("/v1/orders/" + first.OrderID); o.Status != "failed_payment" {
			t.Errorf("the order is %s", o.Status)
		}
		if second := d.refused(500, "payment_not_configured", checkout); second.OrderID == first.OrderID {
			t.Error("the key was not released")
		}

		refund := post("/v1/orders/"+paid+"/refund", "refused refund", map[string]any{"amount_cents": 30})
		d.refused(502, "payment_not_configured", refund)
		if pending := d.shop.count("SELECT CAST(pending_cents AS TEXT) FROM payments WHERE order_id = '" + paid + "'"); pending != "0" {
			t.Errorf("%s cents stay reserved", pending)
		}
		d.refused(502, "payment_not_configured", refund)

		d.refused(500, "courier_not_configured", post("/v1/delivery/quote", "", map[string]any{"store_id": "s1", "delivery_address": doorstep}))
		var preflight struct{ Reasons []string }
		d.must(200, post("/v1/checkout/preflight", "", map[string]any{"store_id": "s1", "fulfillment_type": "delivery", "delivery_address": doorstep,
			"items": []map[string]any{{"product_id": "p1", "quantity": 1}}})).decode(t, &preflight)
		if fmt.Sprint(preflight.Reasons) != "[quote_unavailable]" {
			t.Errorf("preflight gives %v", preflight.Reasons)
		}

		report := d.report()
		confirm := post("/v1/orders/"+toConfirm+"/confirm", "", nil)
		reported, confirmed := d.place(201, report), d.place(200, confirm)
		cancelled := d.cancel(toCancel.OrderID)
		if reported.Delivery.Created || confirmed.Delivery.Created || cancelled.Delivery || d.made() != [2]int{1, 0} {
			t.Errorf("reported %+v, confirmed %+v, cancelled %+v; made are %v", reported, confirmed, cancelled, d.made())
		}
		for _, id := range []string{reported.OrderID, toConfirm} {
			d.eventuallyAttention(id, "not_dispatched provider_refuses_us")
		}
		d.eventuallyAttention(toCancel.OrderID, "provider_refuses_us")
		d.oneLineAMinute(began, "a provider refuses our credentials", "stripe", "uber", "doordash")

		d.takeUs()
		d.must(200, refund)
		d.must(201, checkout)
		if again := d.place(201, report); !again.Delivery.Created || again.OrderID != reported.OrderID {
			t.Errorf("the repeat tells %+v", again)
		}
		check.Eventually(t, time.Minute, pollPause, "a courier for what was confirmed", func() bool { return d.order("/v1/orders/"+toConfirm).Status == "shipped" })
		check.Eventually(t, time.Minute, pollPause, "the courier to be sent home", func() bool { return d.uberStatus(toCancel.Delivery.ID) == "canceled" })
		for _, id := range []string{reported.OrderID, toConfirm, toCancel.OrderID} {
			d.eventuallyAttention(id, "")
		}
	})
}

// eventuallyAttention waits until the open reasons to look at an order are these.
func (d *dispatch) eventuallyAttention(orderID, want string) {
	d.t.Helper()
	check.Eventually(d.t, patience, pollPause, fmt.Sprintf("%q to stand at the order %s", want, orderID), func() bool { return d.attention(orderID) == want })
}

// oneLineAMinute checks that each provider had a warning, and no more than one a
// minute.
func (d *dispatch) oneLineAMinute(began time.Time, message string, providers ...string) {
	d.t.Helper()
	for _, name := range providers {
		line := regexp.MustCompile(`level=WARN msg="` + message + `" provider=` + name + ` `)
		check.Eventually(d.t, patience, pollPause, "the warning about "+name, func() bool { return line.MatchString(d.process.stderr.String()) })
		if n, most := len(line.FindAllString(d.process.stderr.String(), -1)), 1+int(time.Since(began)/time.Minute); n > most {
			d.t.Errorf("%d warnings about %s in %v", n, name, time.Since(began))
		}
	}
	if log := d.process.stderr.String(); strings.Contains(log, "level=ERROR") {
		d.t.Errorf("an error is logged:\n%s", log)
	}
}

// Wrong credentials, and a provider that is down, are logged at the start, which
// waits for neither.
func TestProvidersRefuseUsAtStart(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := &dispatch{shop: s, uber: fakeuber.New(t), dash: fakedoordash.New(t)}
	d.dash.Always(fakedoordash.Fault{Hang: true})
	p, c := s.serve("--uber-customer", d.uber.CustomerID, "--uber-client", d.uber.ClientID, "--uber-secret", "not-the-secret",
		"--uber-signing-key", d.uber.StatusKey, "--uber-url", d.uber.URL, "--uber-auth-url", d.uber.AuthURL,
		"--doordash-developer", d.dash.DeveloperID, "--doordash-key", d.dash.KeyID, "--doordash-secret", d.dash.SigningSecret,
		"--doordash-webhook-password", d.dash.Password, "--doordash-url", d.dash.URL,
		"--stripe-key", "sk_live_standin", "--stripe-webhook-secret", "whsec_secret-of-stand-in", "--stripe-url", "http://127.0.0.1:1") // a port without a server
	c.must(200, get("/v1/health"))
	for _, line := range []string{
		`level=WARN msg="a provider refuses our credentials" provider=uber `,
		`level=WARN msg="a provider cannot be reached, or fails" provider=stripe `,
	} {
		check.Eventually(t, patience, pollPause, line, func() bool { return strings.Contains(p.stderr.String(), line) })
	}
	p.stop() // although DoorDash has not answered
	if strings.Contains(p.stderr.String(), "provider=doordash") {
		t.Error("the stop is reported as a failure of DoorDash")
	}
}
