package courier

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakedoordash"
)

func doordashHears(t *testing.T, body string) []Callback {
	t.Helper()
	server := fakedoordash.New(t)
	callbacks, err := doordashAt(t, server.URL, server).ReadCallback(t.Context(), server.Header(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return callbacks
}

func TestDoorDashEvents(t *testing.T) {
	for event, want := range map[string]doordashState{
		"DELIVERY_CREATED":                 {commerce.CourierPending, false},
		"DASHER_CONFIRMED":                 {commerce.CourierAssigned, false},
		"dasher_enroute_to_pickup":         {commerce.CourierAssigned, false},
		"DASHER_CONFIRMED_PICKUP_ARRIVAL":  {commerce.CourierAssigned, true},
		"DASHER_PICKED_UP":                 {commerce.CourierLoaded, false},
		"dasher_enroute_to_dropoff":        {commerce.CourierEnRoute, false},
		"DASHER_CONFIRMED_DROPOFF_ARRIVAL": {commerce.CourierEnRoute, true},
		"DASHER_DROPPED_OFF":               {commerce.CourierDone, false},
		"DELIVERY_RETURN_INITIALIZED":      {commerce.CourierReturning, false},
		"dasher_enroute_to_return":         {commerce.CourierReturning, false},
		"DASHER_CONFIRMED_RETURN_ARRIVAL":  {commerce.CourierReturning, false},
		"DELIVERY_RETURNED":                {commerce.CourierReturned, false},
		"DELIVERY_CANCELLED":               {commerce.CourierCancelled, false},
	} {
		for _, field := range []string{"event_name", "event_type"} {
			callbacks := doordashHears(t, `{"external_delivery_id":"dlv_a","`+field+`":"`+event+`"}`)
			if len(callbacks) != 1 || callbacks[0].Status != want.status || callbacks[0].Imminent != want.near || callbacks[0].Delivery.ID != "dlv_a" || callbacks[0].Ref != "dlv_a" {
				t.Errorf("%s: %+v", event, callbacks)
			}
		}
	}
	for _, body := range []string{
		`{"external_delivery_id":"dlv_a","event_name":"DELIVERY_BATCHED","delivery_status":"confirmed"}`,
		`{"external_delivery_id":"dlv_a","event_name":"DASHER_SMILED"}`,
		`{"external_delivery_id":"dlv_a","event_name":"DASHER_SMILED","delivery_status":"active"}`,
	} {
		if callbacks := doordashHears(t, body); len(callbacks) != 0 {
			t.Errorf("%s: %+v", body, callbacks)
		}
	}
}

// An event may be late or unknown: the status that it carries counts too.
func TestDoorDashEventWithStatus(t *testing.T) {
	for _, c := range []struct {
		event, status string
		want          doordashState
	}{
		{"DASHER_CONFIRMED", "picked_up", doordashState{commerce.CourierLoaded, false}},
		{"DASHER_CONFIRMED_PICKUP_ARRIVAL", "enroute_to_dropoff", doordashState{commerce.CourierEnRoute, false}},
		{"DASHER_CONFIRMED_DROPOFF_ARRIVAL", "picked_up", doordashState{commerce.CourierEnRoute, true}},
		{"DASHER_CONFIRMED_DROPOFF_ARRIVAL", "enroute_to_dropoff", doordashState{commerce.CourierEnRoute, true}},
		{"DASHER_SMILED", "arrived_at_dropoff", doordashState{commerce.CourierEnRoute, true}},
		{"DELIVERY_CANCELLED", "delivered", doordashState{commerce.CourierCancelled, false}},
		{"DASHER_DROPPED_OFF", "active", doordashState{commerce.CourierDone, false}},
	} {
		callbacks := doordashHears(t, `{"external_delivery_id":"dlv_a","event_name":"`+c.event+`","delivery_status":"`+c.status+`"}`)
		if len(callbacks) != 1 || callbacks[0].Status != c.want.status || callbacks[0].Imminent != c.want.near {
			t.Errorf("%+v: %+v", c, callbacks)
		}
	}
}

// The fields are those of the example in DoorDash's reference.
func TestDoorDashWholeEvent(t *testing.T) {
	body := `{"created_at":"2022-02-01T23:18:22.791883Z","event_name":"DELIVERY_CANCELLED","external_delivery_id":"dlv_a","reason":"failed_to_return",
		"dasher_id":123212,"dasher_name":"John D.","dasher_dropoff_phone_number":"+16505550188","dasher_location":{"lat":43.3,"lng":-79.3},
		"pickup_address":"1000 4th Avenue, Seattle, WA 98104","order_value":5555,"currency":"USD","fee":975,"tip":230,
		"tracking_url":"https://track.example/53904a0b","contactless":false}`
	got := doordashHears(t, body)
	want := Delivery{
		ID: "dlv_a", Ref: "dlv_a", Status: commerce.CourierCancelled, Reason: "failed_to_return", FeeCents: 975, TrackingURL: "https://track.example/53904a0b",
		Courier: commerce.Courier{Name: "John D.", Phone: "+16505550188", At: &commerce.Point{Lat: 43.3, Lng: -79.3}},
		SeenOn:  commerce.MillisOf(time.Date(2022, 2, 1, 23, 18, 22, 791_000_000, time.UTC)),
	}
	if len(got) != 1 || !reflect.DeepEqual(got[0].Delivery, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if again := doordashHears(t, body); again[0].ID != got[0].ID || len(got[0].ID) != 64 {
		t.Errorf("ids %q and %q", again[0].ID, got[0].ID)
	}
	if other := doordashHears(t, strings.Replace(body, "791883", "791884", 1)); other[0].ID == got[0].ID {
		t.Error("two events share an id")
	}
}

func TestDoorDashCredentials(t *testing.T) {
	read := func(o DoorDashOptions, authorization ...string) error {
		o.DeveloperID, o.KeyID, o.SigningSecret = "d", "k", "cw"
		d, err := NewDoorDash(o)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		if authorization != nil {
			header["Authorization"] = authorization
		}
		_, err = d.ReadCallback(t.Context(), header, []byte(`{"external_delivery_id":"dlv_a","event_name":"DASHER_CONFIRMED"}`))
		return err
	}
	basic, token := DoorDashOptions{WebhookUser: "u", WebhookPassword: "p"}, DoorDashOptions{WebhookPassword: "tok-en"}
	for _, c := range []struct {
		options       DoorDashOptions
		authorization []string
		fine          bool
	}{
		{basic, []string{"Basic dTpw"}, true},
		{basic, []string{"basic dTpw"}, true},
		{basic, []string{"dTpw"}, true},
		{basic, []string{"Basic dTpwcA=="}, false},
		{basic, []string{"Basic u:p"}, false},
		{basic, []string{"Basic p"}, false},
		{basic, []string{"Basic "}, false},
		{basic, []string{""}, false},
		{basic, nil, false},
		{token, []string{"Bearer tok-en"}, true},
		{token, []string{"Basic tok-en"}, true},
		{token, []string{"tok-en"}, true},
		{token, []string{"Bearer tok-enn"}, false},
		{token, []string{"Bearer"}, false},
		{token, nil, false},
		{DoorDashOptions{}, nil, false},
		{DoorDashOptions{}, []string{""}, false},
		{DoorDashOptions{}, []string{"Basic "}, false},
		{DoorDashOptions{WebhookUser: "u"}, []string{"Basic dTo="}, false},
	} {
		err := read(c.options, c.authorization...)
		_, bad := errors.AsType[*BadCallback](err)
		if c.fine != (err == nil) || bad == c.fine {
			t.Errorf("%q: %v", c.authorization, err)
		}
		if bad && strings.Contains(err.Error(), "tok-en") {
			t.Errorf("it tells the token: %v", err)
		}
	}
}

// Every body is either read, refused as bad, or of no interest; without the right
// credentials it is never read.
func FuzzDoorDashCallback(f *testing.F) {
	server := fakedoordash.New(f)
	d := doordashAt(f, server.URL, server)
	for _, seed := range []string{
		`{"external_delivery_id":"dlv_a","event_name":"DASHER_PICKED_UP","created_at":"2022-02-01T23:18:22.791883Z","dasher_location":{"lat":43.3,"lng":-79.3}}`,
		`{"external_delivery_id":"dlv_a","event_type":"DELIVERY_CANCELLED","cancellation_reason":"failed_to_pickup","fee":null}`,
		`{"external_delivery_id":"dlv_a","event_name":"x","delivery_status":"delivered","tracking_url":"https://a/"}`,
		`{"external_delivery_id":1}`, `null`, `[]`, `{}{}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := d.ReadCallback(t.Context(), http.Header{}, body); err == nil {
			t.Fatal("it was read without credentials")
		}
		callbacks, err := d.ReadCallback(t.Context(), server.Header(), body)
		if _, bad := errors.AsType[*BadCallback](err); err != nil && (!bad || callbacks != nil) {
			t.Fatalf("%v with %+v", err, callbacks)
		}
		for _, n := range callbacks {
			at := n.Courier.At
			if n.ID == "" || n.Delivery.ID == "" || n.Ref != n.Delivery.ID || n.Status.Rank() == 0 || at != nil && !at.Valid() || len(n.Reason) > commerce.MaxNote {
				t.Fatalf("%+v", n)
			}
		}
	})
}
