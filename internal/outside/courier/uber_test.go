package courier

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakeuber"
)

// uberStandIn returns a provider that talks to a fake server and has its clock.
func uberStandIn(t testing.TB) (*Uber, *fakeuber.Server) {
	server := fakeuber.New(t)
	u := NewUber(UberOptions{
		CustomerID: server.CustomerID, ClientID: server.ClientID, ClientSecret: server.ClientSecret,
		SigningKeys: []string{server.StatusKey, server.CourierKey}, BaseURL: server.URL, AuthURL: server.AuthURL, Robo: true,
		Log: slog.New(slog.DiscardHandler),
	})
	u.Now = server.Now
	return u, server
}

func uberOrder(n byte) string {
	return commerce.NewOrderID(7, commerce.MillisOf(time.Now()), commerce.Entropy{n})
}

// uberAsk returns a request for the delivery of an order that was made just now.
func uberAsk(u *Uber, n byte) CreateRequest {
	order := uberOrder(n)
	return CreateRequest{
		QuoteRequest: QuoteRequest{
			Ref: commerce.DeliveryRef(order, 1), StoreID: "str_harbor", ValueCents: 1914,
			Pickup: Stop{
				Name: "Harbor Street Market", Phone: "415.555.0101", Instructions: "Ask at the counter",
				Address: commerce.Address{Line1: "1 Ferry Building", City: "San Francisco", State: "CA", PostalCode: "94111", Country: "usa"},
				At:      &commerce.Point{Lat: 37.7955, Lng: -122.3937},
			},
			Dropoff: Stop{
				Name: "Jo Doe", Phone: "(415) 555-0134", Instructions: "Ring twice",
				Address: commerce.Address{Line1: "3180 18th St", Line2: "Apt \"4\"", City: "San Francisco", State: "CA", PostalCode: "94110"},
			},
		},
		OrderID: order, AskedOn: commerce.MillisOf(u.Now()),
		Items: []Item{{Name: "Sourdough bread", Quantity: 2, PriceCents: 650}, {Name: "", Quantity: 1, PriceCents: 614}},
	}
}

func uberMade(t *testing.T, u *Uber, r CreateRequest) Delivery {
	t.Helper()
	d, err := u.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func uberRefused(t *testing.T, err error, code Code, says string) {
	t.Helper()
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != code || !strings.Contains(r.Message, says) {
		t.Errorf("got %#v, want to be refused as %s with %q", err, code, says)
	}
}

// uberUnavailable checks for an error that is neither a refusal nor a limit.
func uberUnavailable(t *testing.T, err error, says string) {
	t.Helper()
	_, refused := errors.AsType[*Refusal](err)
	_, limited := errors.AsType[*Limited](err)
	if err == nil || refused || limited || !strings.Contains(err.Error(), says) {
		t.Errorf("got %#v, want an error that is not definite and says %q", err, says)
	}
}

// uberPaths returns the requests since the last call, without those for tokens.
func uberPaths(server *fakeuber.Server) []string {
	var paths []string
	for _, r := range server.Requests() {
		if r.Path != "/token" {
			paths = append(paths, r.Method+" "+r.Path)
		}
	}
	return paths
}

func uberWant[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got\n%+v, want\n%+v", what, got, want)
	}
}

func TestUberRequest(t *testing.T) {
	u, server := uberStandIn(t)
	r := uberAsk(u, 1)
	r.Pickup.Instructions = strings.Repeat("ä", 300)
	q, err := u.Quote(t.Context(), r.QuoteRequest)
	if err != nil {
		t.Fatal(err)
	}
	r.QuoteID = q.ID
	uberMade(t, u, r)
	requests := server.Requests()
	trip := `"pickup_address":"{\"street_address\":[\"1 Ferry Building\"],\"city\":\"San Francisco\",\"state\":\"CA\",\"zip_code\":\"94111\",\"country\":\"US\"}",` +
		`"pickup_latitude":37.7955,"pickup_longitude":-122.3937,"pickup_phone_number":"+14155550101",` +
		`"dropoff_address":"{\"street_address\":[\"3180 18th St\",\"Apt \\\"4\\\"\"],\"city\":\"San Francisco\",\"state\":\"CA\",\"zip_code\":\"94110\",\"country\":\"US\"}",` +
		`"dropoff_phone_number":"+14155550134","manifest_total_value":1914,"external_store_id":"str_harbor"`
	uberWant(t, "quote", requests[1].Body, "{"+trip+"}")
	uberWant(t, "delivery", requests[2].Body, "{"+trip+`,"quote_id":"`+q.ID+`","pickup_name":"Harbor Street Market","pickup_notes":"`+strings.Repeat("ä", 280)+`",`+
		`"dropoff_name":"Jo Doe","dropoff_notes":"Ring twice","manifest_items":[{"name":"Sourdough bread","quantity":2,"size":"small","price":650},`+
		`{"name":"Item","quantity":1,"size":"small","price":614}],"manifest_reference":"`+r.OrderID+`","external_id":"`+r.Ref+`","idempotency_key":"`+r.Ref+`",`+
		`"undeliverable_action":"return","test_specifications":{"robo_courier_specification":{"mode":"auto"}}}`)
}

// A quote and its delivery say when the goods are ready.
func TestUberReadyTime(t *testing.T) {
	u, server := uberStandIn(t)
	r := uberAsk(u, 1)
	r.ReadyAt = 1_800_000_000_123
	if _, err := u.Quote(t.Context(), r.QuoteRequest); err != nil {
		t.Fatal(err)
	}
	uberMade(t, u, r)
	for _, request := range server.Requests()[1:] {
		if !strings.Contains(request.Body, `"pickup_ready_dt":"2027-01-15T08:00:00.123Z"`) {
			t.Error(request.Body)
		}
	}
}

// With live credentials no courier is simulated.
func TestUberLiveRequest(t *testing.T) {
	u, server := uberStandIn(t)
	u.options.Robo, server.Live = false, true
	uberMade(t, u, uberAsk(u, 1))
	requests := server.Requests()
	if body := requests[len(requests)-1].Body; strings.Contains(body, "robo") || strings.Contains(body, "quote_id") {
		t.Error(body)
	}
}

func TestUberQuoteTellsSeconds(t *testing.T) {
	u, server := uberStandIn(t)
	server.Next(fakeuber.Fault{Status: 200, Body: `{"kind":"delivery_quote","id":"dqt_1","created":"2023-04-06T19:00:37.887Z","expires":"2023-04-06T19:15:37.887Z",
		"fee":600,"currency":"usd","dropoff_eta":"2023-04-06T19:34:22Z","duration":33,"pickup_duration":24,"dropoff_deadline":"2023-04-06T20:09:20Z"}`})
	q, err := u.Quote(t.Context(), uberAsk(u, 1).QuoteRequest)
	if err != nil {
		t.Fatal(err)
	}
	uberWant(t, "quote", q, Quote{ID: "dqt_1", FeeCents: 600, Currency: "USD", DropoffETA: 1680809662000, ExpiresOn: 1680808537887,
		DurationSeconds: 1980, PickupDurationSeconds: 1440})
}

func TestUberPhones(t *testing.T) {
	for _, c := range []struct{ pickup, dropoff, wantPickup, wantDropoff string }{
		{"+1 (415) 555-0101", "4155550134", "+14155550101", "+14155550134"},
		{"1-415-555-0101", "", "+14155550101", "+14155550101"},
		{"4155550101", "call me", "+14155550101", "+14155550101"},
		{"", "+44 20 7946 0958", "+442079460958", "+442079460958"},
		{"", "", "", ""},
		{"555-0101", "ext. 4", "", ""},
	} {
		u, server := uberStandIn(t)
		r := uberAsk(u, 1)
		r.Pickup.Phone, r.Dropoff.Phone = c.pickup, c.dropoff
		if _, err := u.Quote(t.Context(), r.QuoteRequest); err != nil {
			t.Errorf("%+v: %v", c, err) // a quote needs no phone number
		}
		server.Requests()
		_, err := u.Create(t.Context(), r)
		if c.wantPickup == "" {
			uberRefused(t, err, BadAddress, "phone number is missing")
			uberWant(t, "requests", uberPaths(server), nil)
			continue
		}
		var sent uberTrip
		requests := server.Requests()
		if err := errors.Join(err, json.Unmarshal([]byte(requests[len(requests)-1].Body), &sent)); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		uberWant(t, c.pickup+"/"+c.dropoff, []string{sent.PickupPhone, sent.DropoffPhone}, []string{c.wantPickup, c.wantDropoff})
	}
}

func TestUberQuotesOnceMore(t *testing.T) {
	for _, code := range []string{"expired_quote", "used_quote", "mismatched_price_quote"} {
		u, server := uberStandIn(t)
		r := uberAsk(u, 1)
		r.QuoteID = "dqt_shown"
		stale := fakeuber.Fault{On: "POST /deliveries", Status: 400, Code: code, Message: "Stale."}
		server.Next(stale)
		if d := uberMade(t, u, r); d.QuoteID == "" || d.QuoteID == r.QuoteID {
			t.Errorf("%s: made by quote %q", code, d.QuoteID)
		}
		uberWant(t, code, uberPaths(server), []string{"POST /deliveries", "POST /delivery_quotes", "POST /deliveries"})

		server.Next(stale)
		server.Next(stale)
		_, err := u.Create(t.Context(), uberAsk(u, 2))
		uberRefused(t, err, QuoteExpired, "Stale.")
		server.Next(stale)
		server.Next(fakeuber.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable"})
		_, err = u.Create(t.Context(), uberAsk(u, 3))
		uberRefused(t, err, OutOfZone, "")
		uberWant(t, "made", server.Made(), 1)
	}
}

func TestUberCancel(t *testing.T) {
	u, server := uberStandIn(t)
	d := uberMade(t, u, uberAsk(u, 1))
	server.Requests()
	for range 2 {
		ended, err := u.Cancel(t.Context(), Key{ID: d.ID})
		if err != nil || ended.Status != commerce.CourierCancelled || ended.Ref != d.Ref {
			t.Errorf("%+v, %v", ended, err)
		}
	}
	cancel := "POST /deliveries/" + d.ID + "/cancel"
	uberWant(t, "requests", uberPaths(server), []string{cancel, cancel, "GET /deliveries/" + d.ID})

	// If the outcome cannot be found out, that is an error.
	server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 500})
	_, err := u.Cancel(t.Context(), Key{ID: d.ID})
	uberUnavailable(t, err, "Uber answered 500")

	// An id is one part of a path, whatever characters it has.
	_, err = u.Cancel(t.Context(), Key{ID: "../deliveries/" + d.ID + "?"})
	uberRefused(t, err, Other, "")
}

// Fields that Uber leaves out stay empty, and values that a page cannot show are
// dropped.
func TestUberDeliveryFields(t *testing.T) {
	u, server := uberStandIn(t)
	for _, c := range []struct {
		body string
		want Delivery
	}{
		{`{"id":"del_1"}`, Delivery{ID: "del_1", Ref: "dlv_asked"}},
		{`{"id":"del_1","status":"teleported","courier":null,"pickup_eta":null,"dropoff_eta":"soon","tracking_url":"javascript:alert(1)","created":5}`,
			Delivery{ID: "del_1", Ref: "dlv_asked"}},
		{`{"id":"del_1","external_id":"dlv_x","quote_id":"dqt_1","status":"dropoff","fee":1099,"tip":500,"tracking_url":"https://www.ubereats.com/orders/1",
			"pickup_eta":"2023-05-01T22:16:21.749Z","dropoff_eta":"2023-05-01T15:30:00.077-07:00","courier_imminent":true,"manifest_items":{"name":"x"},
			"courier":{"name":"Alex\u0000 I.","rating":"5.00","vehicle_type":"scooter","phone_number":"+16283337630","img_href":"https://x.example/a.jpg","location":{"lat":37.5,"lng":-122.5}}}`,
			Delivery{ID: "del_1", Ref: "dlv_x", QuoteID: "dqt_1", Status: commerce.CourierEnRoute, FeeCents: 1099, TrackingURL: "https://www.ubereats.com/orders/1",
				PickupETA: 1682979381749, DropoffETA: 1682980200077, Imminent: true, Courier: commerce.Courier{Name: "Alex\uFFFD I.", Vehicle: "scooter",
					Phone: "+16283337630", ImageURL: "https://x.example/a.jpg", At: &commerce.Point{Lat: 37.5, Lng: -122.5}}}},
		{`{"id":"del_1","courier":{"img_href":"/a.jpg","location":{"lat":0,"lng":0}}}`, Delivery{ID: "del_1", Ref: "dlv_asked"}},
		{`{"id":"del_1","courier":{"location":{"lat":137.5,"lng":1}}}`, Delivery{ID: "del_1", Ref: "dlv_asked"}},
		{`{"id":"del_1","status":"returned","complete":false,"undeliverable_reason":"CUSTOMER_UNREACHABLE","related_deliveries":{"id":"ret_1","relationship":"return"}}`,
			Delivery{ID: "del_1", Ref: "dlv_asked", Status: commerce.CourierReturning, Reason: "CUSTOMER_UNREACHABLE"}},
		{`{"id":"del_1","status":"returned","complete":true}`, Delivery{ID: "del_1", Ref: "dlv_asked", Status: commerce.CourierReturned}},
		{`{"id":"del_1","status":"returned"}`, Delivery{ID: "del_1", Ref: "dlv_asked", Status: commerce.CourierReturned}},
	} {
		server.Next(fakeuber.Fault{Status: 200, Body: c.body})
		got, err := u.Get(t.Context(), Key{ID: "del_1", Ref: "dlv_asked"})
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		uberWant(t, c.body, got, c.want)
	}
}

// An answer of the wrong mode belongs to another account: no courier may come for a
// test, and one must come for an order.
func TestUberModes(t *testing.T) {
	for _, robo := range []bool{true, false} {
		u, server := uberStandIn(t)
		var logged strings.Builder
		u.log = slog.New(slog.NewTextHandler(&logged, nil))
		u.options.Robo, server.Live = robo, robo
		_, err := u.Quote(t.Context(), uberAsk(u, 1).QuoteRequest)
		uberUnavailable(t, err, fmt.Sprintf("are configured with %s credentials", map[bool]string{true: "live", false: "test"}[robo]))
		if !strings.Contains(logged.String(), "level=ERROR") || !strings.Contains(logged.String(), fmt.Sprintf("live_mode=%t", robo)) {
			t.Errorf("logged %q", logged.String())
		}

		r := uberAsk(u, 2)
		for range 2 { // the wrong delivery is cancelled
			_, err = u.Create(t.Context(), r)
			wantDenied(t, err, "credentials")
		}
		d, err := u.Get(t.Context(), Key{Ref: r.Ref})
		if err != nil || d.Status != commerce.CourierCancelled {
			t.Errorf("%+v, %v", d, err)
		}

		server.Next(fakeuber.Fault{On: "POST /deliveries/", Status: 500})
		_, err = u.Create(t.Context(), uberAsk(u, 3))
		uberUnavailable(t, err, "may not be cancelled")
	}
}

func TestUberCountries(t *testing.T) {
	for name, want := range map[string]string{"": "US", " us ": "US", "USA": "US", "United States": "US", "ca": "CA", "Canada": "CANADA"} {
		if got := uberCountry(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// The customer's id is one part of the path.
func TestUberCustomer(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		_, _ = w.Write([]byte(`{"access_token":"t","expires_in":60,"id":"del_1"}`))
	}))
	defer server.Close()
	u := NewUber(UberOptions{CustomerID: "cus/..", BaseURL: server.URL + "/v1/", AuthURL: server.URL})
	if _, err := u.Get(t.Context(), Key{ID: "del_1"}); err != nil {
		t.Fatal(err)
	}
	uberWant(t, "path", path, "/v1/customers/cus%2F../deliveries/del_1")
	for _, at := range []string{uberURL, uberAuthURL} {
		if parsed, err := url.Parse(at); err != nil || parsed.Scheme != "https" || !slices.Contains([]string{"api.uber.com", "auth.uber.com"}, parsed.Host) {
			t.Errorf("%s: %v", at, err)
		}
	}
}
