package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakestripe"
	"purveyor/internal/testkit/fakeuber"
)

// dispatch is a shop that delivers, served with fake providers in live mode.
type dispatch struct {
	*client
	shop    *shop
	process *process
	uber    *fakeuber.Server
	dash    *fakedoordash.Server
	stripe  *fakestripe.Server
	orders  int

	uberRequests []fakeuber.Request
}

const (
	uberName = "uber"
	dashName = "doordash"
)

// onBoth runs a test with a shop on each engine.
func onBoth(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newShop(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := &shop{t: t, postgres: database(t)}
		s.fill()
		test(t, s)
	})
}

// newDispatch serves a shop. The flags follow those of both providers.
func newDispatch(s *shop, flags ...string) *dispatch {
	s.t.Helper()
	d := &dispatch{shop: s, uber: fakeuber.New(s.t), dash: fakedoordash.New(s.t), stripe: fakestripe.New(s.t)}
	d.uber.SetLive(true)
	d.stripe.Accept("sk_live_standin")
	s.operate("import", s.file("stores.json", map[string]any{"stores": []map[string]any{{
		"id": "s1", "name": "First", "address": "1 Ferry Building", "city": "San Francisco", "state": "CA", "zip_code": "94111",
		"phone": "+14155550101", "lat": 37.7955, "lng": -122.3937, "service_delivery_enabled": true,
	}}})).ok(s.t)
	d.process, d.client = s.serve(append(d.flags(), flags...)...)
	return d
}

// flags configure both providers, and Stripe for card payments.
func (d *dispatch) flags() []string {
	return []string{
		"--uber-customer", d.uber.CustomerID, "--uber-client", d.uber.ClientID, "--uber-secret", d.uber.ClientSecret,
		"--uber-signing-key", d.uber.StatusKey + "," + d.uber.CourierKey, "--uber-url", d.uber.URL, "--uber-auth-url", d.uber.AuthURL,
		"--doordash-developer", d.dash.DeveloperID, "--doordash-key", d.dash.KeyID, "--doordash-secret", d.dash.SigningSecret,
		"--doordash-webhook-user", d.dash.User, "--doordash-webhook-password", d.dash.Password, "--doordash-url", d.dash.URL,
		"--stripe-key", d.stripe.Key, "--stripe-webhook-secret", d.stripe.Secret, "--stripe-url", d.stripe.URL,
	}
}

// made returns the numbers of deliveries at Uber and DoorDash.
func (d *dispatch) made() [2]int { return [2]int{d.uber.Made(), d.dash.Made()} }

// fine ends all faults.
func (d *dispatch) fine() {
	d.uber.Always(nil)
	d.uber.SetQuoteLife(fakeuber.QuoteLife)
	d.dash.Recover()
}

var doorstep = map[string]any{"name": "Jo Doe", "phone": "+14155550134", "address": map[string]any{
	"line1": "3180 18th St", "city": "San Francisco", "state": "CA", "postal_code": "94110", "country": "US"}}

// report returns a request that reports an order of one piece to be delivered.
func (d *dispatch) report() request {
	d.orders++
	external := fmt.Sprint("D-", d.orders)
	return post("/v1/orders/report", "report "+external, map[string]any{"external_order_id": external, "store_id": "s1", "fulfillment_type": "delivery",
		"delivery_address": doorstep, "items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}}})
}

// delivered is the answer to a report or a confirmation.
type delivered struct {
	OrderID  string `json:"order_id"`
	Status   string `json:"status"`
	Delivery *struct {
		Created bool   `json:"created"`
		ID      string `json:"courier_delivery_id"`
		URL     string `json:"courier_tracking_url"`
	} `json:"delivery"`
}

// place makes an order by one of the two calls that send a courier.
func (d *dispatch) place(status int, r request) (out delivered) {
	d.t.Helper()
	d.must(status, r).decode(d.t, &out)
	if out.OrderID == "" || out.Status != "processed" || out.Delivery == nil || out.Delivery.Created != (out.Delivery.ID != "" && out.Delivery.URL != "") {
		d.t.Fatalf("%s was answered %+v", r.path, out)
	}
	return out
}

// sold reports an order whose delivery is created.
func (d *dispatch) sold() delivered {
	d.t.Helper()
	sold := d.place(201, d.report())
	if !sold.Delivery.Created {
		d.t.Fatalf("no courier brings %+v", sold)
	}
	return sold
}

// paid makes an order to be delivered that its customer has paid.
func (d *dispatch) paid() (orderID string) {
	d.t.Helper()
	d.orders++
	var out struct {
		OrderID   string `json:"order_id"`
		SessionID string `json:"session_id"`
	}
	d.must(201, post("/v1/checkout/session", fmt.Sprint("checkout ", d.orders), map[string]any{"store_id": "s1", "fulfillment_type": "delivery",
		"delivery_address": doorstep, "items": []map[string]any{{"product_id": "p1", "quantity": 1}},
		"success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"})).decode(d.t, &out)
	if err := d.stripe.Pay(out.SessionID); err != nil {
		d.t.Fatal(err)
	}
	for _, e := range d.stripe.Take() {
		if status, err := e.Post(d.t.Context(), d.base+"/inbound/payments/stripe"); err != nil || status != 200 {
			d.t.Fatalf("Stripe's %s was answered %d, %v", e.Type, status, err)
		}
	}
	return out.OrderID
}

// stored returns columns of a delivery from the database.
func (d *dispatch) stored(orderID string, columns ...string) string {
	d.t.Helper()
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = "CAST(" + c + " AS TEXT)"
	}
	return d.shop.count("SELECT " + strings.Join(all, " || ' ' || ") + " FROM deliveries WHERE order_id = '" + orderID + "'")
}

// attention lists the open reasons to look at an order; "": none.
func (d *dispatch) attention(orderID string) string {
	d.t.Helper()
	return strings.Join(d.shop.rows("SELECT code FROM attention WHERE resolved_on = 0 AND order_id = '"+orderID+"' ORDER BY code"), " ")
}

// located is the answer to driver-location.
type located struct {
	Status        string  `json:"status"`
	CourierStatus *string `json:"courier_delivery_status"`
	ID            *string `json:"courier_delivery_id"`
	Source        string  `json:"source"`
	Courier       struct {
		Name     string `json:"name"`
		Location *struct {
			Lat, Lng float64
		} `json:"location"`
	} `json:"courier"`
}

// location asks for the courier's location. It is safe for concurrent use.
func (d *dispatch) location(orderID string) (out located, err error) {
	a, err := d.send(get("/v1/orders/" + orderID + "/driver-location"))
	if err == nil && a.status != 200 {
		err = fmt.Errorf("answered %d: %s", a.status, a.body)
	}
	if err == nil {
		err = json.Unmarshal(a.body, &out)
	}
	return out, err
}

// history counts the events of an order's timeline by kind.
func (d *dispatch) history(orderID string) map[string]int {
	d.t.Helper()
	counts := map[string]int{}
	for _, kind := range d.timeline(orderID) {
		counts[kind]++
	}
	return counts
}

// hides ends the process, which writes the rest of its log, and checks that the log
// contains no secret.
func (p *process) hides(secrets ...string) {
	p.t.Helper()
	p.stop()
	if !strings.Contains(p.stderr.String(), "msg=stopped") {
		p.t.Error("the log is not whole")
	}
	for _, secret := range secrets {
		if strings.Contains(p.stderr.String(), secret) {
			p.t.Errorf("the log has the secret %q", secret)
		}
	}
}
