package courier

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakeuber"
)

const uberKey = "c5c26d5a-70d6-46c7-a652-d7c09825ad29"

func uberReader() *Uber {
	return NewUber(UberOptions{SigningKeys: []string{"another", uberKey, ""}, Robo: true, Log: slog.New(slog.DiscardHandler)})
}

func uberSigned(body string) http.Header {
	return http.Header{"X-Uber-Signature": {fakeuber.Sign([]byte(body), uberKey)}}
}

func TestUberCallbacks(t *testing.T) {
	u := uberReader()
	ref := commerce.DeliveryRef(uberOrder(1), 1)
	at := &commerce.Point{Lat: 40.71093, Lng: -74.0119}
	for _, c := range []struct {
		body string
		want []Callback
	}{
		{`{"status":"pickup_complete","kind":"event.delivery_status","created":"2022-04-14T17:39:18.287Z","live_mode":false,"delivery_id":"del_1","id":"evt_1",
			"data":{"id":"del_1","quote_id":"dqt_1","status":"pickup_complete","complete":false,"kind":"delivery","external_id":"` + ref + `","fee":799,
			"tracking_url":"https://www.ubereats.com/orders/1","dropoff_eta":"2022-04-14T18:00:00Z","courier_imminent":true,"related_deliveries":[],
			"courier":{"name":"Cori R.","phone_number":"+11111111111","rating":"5.00","vehicle_type":"car","location":{"lat":40.71093,"lng":-74.0119}}},
			"customer_id":"cus_1","developer_id":"dev_1","account_id":"acc_1","route_id":"rou_1"}`,
			[]Callback{{ID: "evt_1", Delivery: Delivery{ID: "del_1", Ref: ref, QuoteID: "dqt_1", Status: commerce.CourierLoaded, FeeCents: 799,
				TrackingURL: "https://www.ubereats.com/orders/1", DropoffETA: 1649959200000, Imminent: true, SeenOn: 1649957958287,
				Courier: commerce.Courier{Name: "Cori R.", Phone: "+11111111111", Vehicle: "car", At: at}}}}},
		// The event's own status and position are newer than its copy of the
		// delivery.
		{`{"kind":"event.delivery_status","id":"evt_2","status":"canceled","data":{"id":"del_1","status":"pickup","undeliverable_reason":"COURIER_REPORTED_CRASH"}}`,
			[]Callback{{ID: "evt_2", Delivery: Delivery{ID: "del_1", Status: commerce.CourierCancelled, Reason: "COURIER_REPORTED_CRASH"}}}},
		{`{"kind":"event.courier_update","id":"evt_3","location":{"lat":40.71093,"lng":-74.0119},"data":{"id":"del_1","status":"dropoff","courier":{"location":{"lat":1,"lng":2}}}}`,
			[]Callback{{ID: "evt_3", Delivery: Delivery{ID: "del_1", Status: commerce.CourierEnRoute, Courier: commerce.Courier{At: at}}}}},
		{`{"kind":"event.courier_update","id":"evt_4","delivery_id":"del_1","location":{"lat":40.71093,"lng":-74.0119}}`,
			[]Callback{{ID: "evt_4", Delivery: Delivery{ID: "del_1", Courier: commerce.Courier{At: at}}}}},
		{`{"kind":"event.delivery_status","id":"evt_5","status":"teleported","delivery_id":"del_1"}`, []Callback{{ID: "evt_5", Delivery: Delivery{ID: "del_1"}}}},
		// The way back counts for the original delivery.
		{`{"kind":"event.delivery_status","id":"evt_6","status":"dropoff","delivery_id":"ret_1","data":{"id":"ret_1","external_id":"` + ref + `","fee":5,
			"tracking_url":"https://x.example/","related_deliveries":[{"id":"del_1","relationship":"original"}]}}`,
			[]Callback{{ID: "evt_6", Delivery: Delivery{ID: "del_1", Ref: ref, Status: commerce.CourierReturning}}}},
		{`{"kind":"event.delivery_status","id":"evt_7","status":"delivered","data":{"id":"ret_1","related_deliveries":{"id":"del_1","relationship":"original"}}}`,
			[]Callback{{ID: "evt_7", Delivery: Delivery{ID: "del_1", Status: commerce.CourierReturned}}}},
		{`{"kind":"event.refund_request","id":"evt_8","data":{"refund":"x"}}`, nil},
		{`{"kind":"event.shopping_progress","id":"evt_9"}`, nil},
		{`{"kind":"event.of_next_year"}`, nil},
	} {
		for _, name := range []string{"x-uber-signature", "X-Postmates-Signature"} {
			header := http.Header{}
			header.Set(name, strings.ToUpper(fakeuber.Sign([]byte(c.body), uberKey)))
			got, err := u.ReadCallback(t.Context(), header, []byte(c.body))
			if err != nil {
				t.Errorf("%s: %v", c.body, err)
			}
			uberWant(t, c.body, got, c.want)
		}
	}
}

// An event without an id gets one that is derived from its body.
func TestUberCallbackIDs(t *testing.T) {
	u := uberReader()
	id := func(body string) string {
		callbacks, err := u.ReadCallback(t.Context(), uberSigned(body), []byte(body))
		if err != nil || len(callbacks) != 1 {
			t.Fatal(callbacks, err)
		}
		return callbacks[0].ID
	}
	a, b := `{"kind":"event.courier_update","delivery_id":"del_1","location":{"lat":1,"lng":2}}`, `{"kind":"event.courier_update","delivery_id":"del_1","location":{"lat":1,"lng":3}}`
	first, again, other := id(a), id(a), id(b)
	if first != again || first == other || !strings.HasPrefix(first, "uber_") {
		t.Errorf("%s, %s, %s", first, again, other)
	}
}

func uberUntrusted(t *testing.T, what string, u *Uber, header http.Header, body string, says string) {
	t.Helper()
	callbacks, err := u.ReadCallback(t.Context(), header, []byte(body))
	if bad, ok := errors.AsType[*BadCallback](err); !ok || len(callbacks) > 0 || !strings.Contains(bad.Reason, says) {
		t.Errorf("%s: got %+v, %v, want a bad callback that says %q", what, callbacks, err, says)
	}
}

func TestUberBadCallbacks(t *testing.T) {
	u := uberReader()
	const good = `{"kind":"event.delivery_status","id":"evt_1","delivery_id":"del_1","status":"pickup"}`
	right := fakeuber.Sign([]byte(good), uberKey)
	for what, header := range map[string]http.Header{
		"none":          {},
		"empty":         {"X-Uber-Signature": {""}},
		"no hex":        {"X-Uber-Signature": {strings.Repeat("g", 64)}},
		"cut":           {"X-Uber-Signature": {right[:62]}},
		"longer":        {"X-Uber-Signature": {right + "00"}},
		"an empty key":  {"X-Uber-Signature": {fakeuber.Sign([]byte(good), "")}},
		"a foreign key": {"X-Uber-Signature": {fakeuber.Sign([]byte(good), "foreign")}},
		"another body":  uberSigned(good + " "),
	} {
		uberUntrusted(t, what, u, header, good, "not signed")
	}
	for what, header := range map[string]http.Header{
		"the other key": {"X-Uber-Signature": {fakeuber.Sign([]byte(good), "another")}},
		"among others":  {"X-Uber-Signature": {"00", right}, "X-Postmates-Signature": {"zz"}},
	} {
		if callbacks, err := u.ReadCallback(t.Context(), header, []byte(good)); err != nil || len(callbacks) != 1 {
			t.Errorf("%s: %+v, %v", what, callbacks, err)
		}
	}
	uberUntrusted(t, "no keys", NewUber(UberOptions{SigningKeys: []string{""}}), http.Header{"X-Uber-Signature": {fakeuber.Sign([]byte(good), "")}}, good, "not signed")
	for _, c := range [][2]string{
		{"", "unexpected end"}, {"null", "no event"}, {"[]", "cannot unmarshal"}, {"{}", "no event"}, {`{"id":"evt_1"`, "unexpected end"}, {good + "x", "invalid character"},
		{`{"kind":5}`, "cannot unmarshal"}, {`{"kind":"event.delivery_status","id":"evt_1","data":"x"}`, "cannot unmarshal"},
		{`{"kind":"event.delivery_status","id":"evt_1","data":{"status":"pickup"}}`, "which delivery"},
		{`{"kind":"event.courier_update","location":{"lat":"1"}}`, "cannot unmarshal"},
		{`{"kind":"event.delivery_status","delivery_id":"del_1","data":{"related_deliveries":5}}`, "cannot unmarshal"},
	} {
		uberUntrusted(t, c[0][:min(len(c[0]), 80)], u, uberSigned(c[0]), c[0], c[1])
	}
}

// A callback of the other mode belongs to another account.
func TestUberCallbackModes(t *testing.T) {
	for _, robo := range []bool{true, false} {
		u := uberReader()
		var logged strings.Builder
		u.options.Robo, u.log = robo, slog.New(slog.NewTextHandler(&logged, nil))
		for _, format := range []string{`{"kind":"event.delivery_status","delivery_id":"del_1","status":"pickup","live_mode":%t}`,
			`{"kind":"event.courier_update","data":{"id":"del_1","live_mode":%t}}`} {
			body := fmt.Sprintf(format, robo)
			logged.Reset()
			uberUntrusted(t, body, u, uberSigned(body), body, "credentials")
			if !strings.Contains(logged.String(), "level=ERROR") || !strings.Contains(logged.String(), "del_1") {
				t.Errorf("logged %q", logged.String())
			}
			body = fmt.Sprintf(format, !robo)
			if callbacks, err := u.ReadCallback(t.Context(), uberSigned(body), []byte(body)); err != nil || len(callbacks) != 1 {
				t.Errorf("%s: %+v, %v", body, callbacks, err)
			}
		}
	}
}

// Events arrive at a server in the form in which Uber posts them.
func TestUberPosted(t *testing.T) {
	u, server := uberStandIn(t)
	d := uberMade(t, u, uberAsk(u, 1))
	var got []commerce.CourierStatus
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		callbacks, err := u.ReadCallback(r.Context(), r.Header, body)
		if err != nil || len(callbacks) != 1 || callbacks[0].Ref != d.Ref {
			t.Errorf("%s: %+v, %v", body, callbacks, err)
			return
		}
		got = append(got, callbacks[0].Status)
	}))
	defer service.Close()
	if err := server.Move(d.ID, "delivered"); err != nil {
		t.Fatal(err)
	}
	for _, e := range server.Take() {
		if status, err := e.Post(t.Context(), service.URL); status != http.StatusOK || err != nil {
			t.Error(status, err)
		}
	}
	const pending, assigned, loaded, on = commerce.CourierPending, commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierEnRoute
	uberWant(t, "statuses", got, []commerce.CourierStatus{pending, assigned, assigned, assigned, loaded, loaded, on, on, on, commerce.CourierDone})
}

func FuzzUberReadCallback(f *testing.F) {
	u := uberReader()
	data := `{"id":"del_1","status":"returned","complete":false,"tracking_url":"https://x.example/","courier":{"name":"A","location":{"lat":1,"lng":2}},
		"related_deliveries":[{"id":"del_2","relationship":"original"}],"dropoff_eta":"2022-04-14T18:00:00Z"}`
	f.Add(`{"kind":"event.delivery_status","id":"evt_1","status":"delivered","created":"2022-04-14T17:39:18.287Z","live_mode":false,"data":`+data+`}`, "")
	f.Add(`{"kind":"event.courier_update","location":{"lat":1,"lng":2},"data":`+data+`}`, strings.Repeat("0", 64))
	f.Add(`{"kind":"event.courier_update","delivery_id":"del_1","data":{"related_deliveries":{"id":"del_1"}}}`, "zz")
	f.Add(`{"kind":"event.refund_request"}`, "00")
	f.Fuzz(func(t *testing.T, body, signature string) {
		if _, err := u.ReadCallback(t.Context(), http.Header{"X-Uber-Signature": {signature}}, []byte(body)); !errors.As(err, new(*BadCallback)) {
			t.Fatalf("unsigned: %v", err)
		}
		callbacks, err := u.ReadCallback(t.Context(), uberSigned(body), []byte(body))
		if err != nil && !errors.As(err, new(*BadCallback)) || len(callbacks) > 1 || err != nil && len(callbacks) > 0 {
			t.Fatalf("%+v, %v", callbacks, err)
		}
		for _, n := range callbacks {
			if n.ID == "" || n.Delivery.ID == "" || n.Status != "" && n.Status.Rank() == 0 || n.Courier.At != nil && !n.Courier.At.Valid() ||
				!utf8.ValidString(n.Reason+n.Courier.Name+n.TrackingURL) || strings.HasPrefix(n.TrackingURL, "javascript:") {
				t.Errorf("%+v", n)
			}
		}
	})
}
