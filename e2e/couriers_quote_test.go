package e2e_test

import (
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"

	"zombiezen.com/go/sqlite/sqlitex"
)

// quoted holds the offer in the answer of a quote or a preflight.
type quoted struct {
	Fee      int64    `json:"fee_cents"`
	Currency string   `json:"currency"`
	ETA      int64    `json:"eta_seconds"`
	Miles    *float64 `json:"distance_miles"`
}

func quoteRequest() request {
	return post("/v1/delivery/quote", "", map[string]any{"store_id": "s1", "delivery_address": doorstep})
}

// preflight asks whether a delivery could be sold.
func (d *dispatch) preflight() (eligible bool, reasons []string, fee int64) {
	d.t.Helper()
	var out struct {
		Eligible bool     `json:"eligible"`
		Reasons  []string `json:"reasons"`
		Quote    *quoted  `json:"quote"`
	}
	d.must(200, post("/v1/checkout/preflight", "", map[string]any{"store_id": "s1", "fulfillment_type": "delivery", "delivery_address": doorstep,
		"items": []map[string]any{{"product_id": "p1", "quantity": 1}}})).decode(d.t, &out)
	if out.Quote != nil {
		fee = out.Quote.Fee
	}
	return out.Eligible, out.Reasons, fee
}

// TestQuotes checks that the first offer counts. Without an offer, a refusal is the
// address's fault, and everything else the providers'.
func TestQuotes(t *testing.T) {
	t.Parallel()
	const byUber, byDash = 799, 975 // prices of the fake providers
	d := newDispatch(newShop(t))
	refused := &fakeuber.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable"}
	busy := &fakeuber.Fault{Status: 503, Code: "couriers_busy"}
	tooFar := &fakedoordash.Fault{Status: 422, Code: "undeliverable", Reason: "distance_too_long"}
	for _, c := range []struct {
		name   string
		uber   *fakeuber.Fault
		dash   *fakedoordash.Fault
		fee    int64
		status int
		code   string
		after  string // Retry-After
	}{
		{"all is well", nil, nil, byUber, 200, "", ""},
		{"Uber refuses", refused, nil, byDash, 200, "", ""},
		{"Uber is down", &fakeuber.Fault{Down: true}, nil, byDash, 200, "", ""},
		{"Uber answers HTML", &fakeuber.Fault{Status: 200, Body: htmlPage}, nil, byDash, 200, "", ""},
		{"Uber is asked too often", &fakeuber.Fault{Status: 429, Header: retryAfter}, nil, byDash, 200, "", ""},
		{"both refuse", refused, tooFar, 0, 400, "out_of_zone", ""},
		{"no couriers", busy, &fakedoordash.Fault{Status: 422, Code: "undeliverable", Reason: "outside_of_delivery_time"}, 0, 400, "no_couriers", ""},
		{"one refuses, one is down", refused, &fakedoordash.Fault{Down: true}, 0, 502, "courier_unavailable", ""},
		{"one is down, one refuses", &fakeuber.Fault{Down: true}, tooFar, 0, 502, "courier_unavailable", ""},
		{"both are down", &fakeuber.Fault{Down: true}, &fakedoordash.Fault{Status: 500}, 0, 502, "courier_unavailable", ""},
		{"both are asked too often", &fakeuber.Fault{Status: 429, Header: retryAfter}, &fakedoordash.Fault{Status: 429, Header: retryAfter}, 0, 502, "courier_unavailable", "7"},
	} {
		d.uber.Always(c.uber)
		if c.dash != nil {
			d.dash.Always(*c.dash)
		}
		if c.status != 200 {
			a, err := d.send(quoteRequest())
			check.OK(t, err)
			if a.refusal(t, c.status, c.code); a.header.Get("Retry-After") != c.after {
				t.Errorf("%s: Retry-After %q", c.name, a.header.Get("Retry-After"))
			}
			if eligible, reasons, _ := d.preflight(); eligible || len(reasons) != 1 || reasons[0] != "quote_unavailable" {
				t.Errorf("%s: preflight %v, %v", c.name, eligible, reasons)
			}
		} else {
			var out quoted
			d.must(200, quoteRequest()).decode(t, &out)
			if out.Fee != c.fee || out.Currency != "USD" || out.ETA <= 0 || out.Miles == nil || *out.Miles <= 0 {
				t.Errorf("%s: %+v", c.name, out)
			}
			if eligible, reasons, fee := d.preflight(); !eligible || len(reasons) != 0 || fee != c.fee {
				t.Errorf("%s: preflight %v, %v, %d", c.name, eligible, reasons, fee)
			}
		}
		d.fine()
	}
	if d.made() != [2]int{} {
		t.Errorf("made are %v", d.made())
	}
}

// TestQuotesWithoutAProvider checks that live quotes need a provider, and test quotes do not.
func TestQuotesWithoutAProvider(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	d.process.stop()
	d.process, d.client = d.shop.serve()
	d.must(500, quoteRequest()).refusal(t, 500, "courier_not_configured")
	if eligible, reasons, _ := d.preflight(); eligible || len(reasons) != 1 || reasons[0] != "quote_unavailable" {
		t.Errorf("preflight %v, %v", eligible, reasons)
	}
	d.client = d.with(d.shop.partner.Keys.Test)
	d.must(200, quoteRequest())
}

// TestCallbackWithoutDatabase checks that the provider is asked to repeat a callback
// that cannot be recorded.
func TestCallbackWithoutDatabase(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold := d.sold()
	check.OK(t, d.uber.Move(sold.Delivery.ID, "pickup_complete"))
	conn := openSQLite(t, d.shop.path())
	defer conn.Close()
	check.OK(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil)) // blocks all other writers
	events := d.uber.Take()
	last := events[len(events)-1]
	d.postRaw(uberName, last.Header(), last.Body).refusal(t, 500, "internal")
	check.OK(t, sqlitex.ExecuteTransient(conn, "ROLLBACK", nil))
	d.postCallback(uberName, last.Header(), last.Body)
	if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "out_for_delivery" {
		t.Errorf("the order is %s", o.Status)
	}
}
