package courier

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakedoordash"
)

func doordashStandIn(t testing.TB) (*DoorDash, *fakedoordash.Server) {
	t.Helper()
	server := fakedoordash.New(t)
	return doordashAt(t, server.URL, server), server
}

func doordashAt(t testing.TB, url string, server *fakedoordash.Server) *DoorDash {
	t.Helper()
	d, err := NewDoorDash(DoorDashOptions{
		DeveloperID: server.DeveloperID, KeyID: server.KeyID, SigningSecret: server.SigningSecret,
		WebhookUser: server.User, WebhookPassword: server.Password, BaseURL: url,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func doordashRequest() CreateRequest {
	return CreateRequest{
		QuoteRequest: QuoteRequest{
			Ref: "dlv_1_standin_1", StoreID: "str_1", ValueCents: 4797,
			Pickup: Stop{
				Name: "Harbor Street Market", Phone: "415-555-0101", Instructions: "Ask at the counter",
				Address: commerce.Address{Line1: "1 Ferry Building", City: "San Francisco", State: "CA", PostalCode: "94111"},
			},
			Dropoff: Stop{
				Name: "Jo van Doe", Phone: "(415) 555-0134", Instructions: "Ring twice",
				Address: commerce.Address{Line1: "3180 18th St", Line2: "Apt 2", City: "San Francisco", State: "CA", PostalCode: "94110", Country: "US"},
			},
		},
		QuoteID: "quote.x", OrderID: "ord_1_standin",
		Items: []Item{{Name: "Crème & café", Quantity: 2, PriceCents: 650}, {Name: "Olive oil", Quantity: 1, PriceCents: 3497}},
	}
}

func doordashCreated(t *testing.T, d *DoorDash) Delivery {
	t.Helper()
	made, err := d.Create(t.Context(), doordashRequest())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// wantRefusal checks that err is a definite refusal.
func wantRefusal(t *testing.T, err error, code Code, says string) {
	t.Helper()
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || refusal.Code != code || !strings.Contains(refusal.Message, says) {
		t.Errorf("got %#v, want %s: %s", err, code, says)
	}
}

// wantUnknown checks that err leaves the outcome open.
func wantUnknown(t *testing.T, err error, says string) {
	t.Helper()
	_, refused := errors.AsType[*Refusal](err)
	_, limited := errors.AsType[*Limited](err)
	if err == nil || refused || limited || !strings.Contains(err.Error(), says) {
		t.Errorf("got %#v, want something that says %q", err, says)
	}
}

func TestDoorDashOrder(t *testing.T) {
	d, server := doordashStandIn(t)
	r := doordashRequest()
	r.ReadyAt = 1_800_000_000_000
	made, err := d.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := server.Find(r.Ref)
	want := fakedoordash.Order{
		ExternalDeliveryID: r.Ref, PickupReferenceTag: r.OrderID, PickupTime: "2027-01-15T08:00:00Z", OrderValue: 4797, Undeliverable: "return_to_pickup",
		PickupAddress: "1 Ferry Building, San Francisco, CA 94111", PickupBusinessName: "Harbor Street Market",
		PickupPhone: "+14155550101", PickupInstructions: "Ask at the counter",
		DropoffAddress: "3180 18th St, Apt 2, San Francisco, CA 94110, US", DropoffPhone: "+14155550134",
		DropoffNotes: "Ring twice", DropoffGivenName: "Jo", DropoffFamilyName: "van Doe",
		Items: []fakedoordash.Item{{Name: "Crème & café", Quantity: 2, Price: 650}, {Name: "Olive oil", Quantity: 1, Price: 3497}},
	}
	if !reflect.DeepEqual(at.Order, want) {
		t.Errorf("asked for\n%+v, want\n%+v", at.Order, want)
	}
	if made.ID != r.Ref || made.Ref != r.Ref || made.QuoteID != r.QuoteID || made.FeeCents != 975 || made.TrackingURL != at.TrackingURL {
		t.Errorf("%+v", made)
	}
}

// A quote takes a name, which must not be the delivery's name.
func TestDoorDashQuoteNames(t *testing.T) {
	d, server := doordashStandIn(t)
	now := time.Now()
	d.now = func() time.Time { return now }
	seen := map[string]bool{}
	for range 3 {
		q, err := d.Quote(t.Context(), doordashRequest().QuoteRequest)
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := server.Find(q.ID); !ok || at.DeliveryStatus != "quote" || seen[q.ID] {
			t.Errorf("quote %q is %+v", q.ID, at)
		}
		if q.ExpiresOn != commerce.MillisOf(now.Add(5*time.Minute)) || q.Currency != "USD" || q.FeeCents != 975 {
			t.Errorf("%+v", q)
		}
		seen[q.ID] = true
	}
	if _, taken := server.Find(doordashRequest().Ref); taken || server.Made() != 0 {
		t.Error("a quote took the delivery's name")
	}
	doordashCreated(t, d)
}

// A name is delivered once, whatever the outcome of earlier attempts.
func TestDoorDashCreateAgain(t *testing.T) {
	d, server := doordashStandIn(t)
	for _, lost := range []fakedoordash.Fault{{Lost: true}, {Down: true}, {Status: 502}, {Status: 409, Code: "duplicate_delivery_id"}} {
		server.Next(lost)
		if _, err := d.Create(t.Context(), doordashRequest()); lost.Lost || lost.Down || lost.Status == 502 {
			wantUnknown(t, err, "create a delivery")
		} else if err != nil {
			t.Error(err)
		}
	}
	// An earlier attempt may have created the delivery that is refused now.
	server.Next(fakedoordash.Fault{Status: 422, Code: "invalid_delivery_parameters", Reason: "outside_of_delivery_time"})
	first := doordashCreated(t, d)
	if server.Made() != 1 || first.Status != commerce.CourierPending {
		t.Errorf("%d deliveries, %+v", server.Made(), first)
	}
}

func TestDoorDashNameIsTaken(t *testing.T) {
	d, server := doordashStandIn(t)
	server.Next(fakedoordash.Fault{Status: 409, Code: "duplicate_delivery_id"})
	_, err := d.Create(t.Context(), doordashRequest()) // an earlier attempt is still creating it
	wantUnknown(t, err, "not there yet")
	server.Next(fakedoordash.Fault{Status: 422, Code: "invalid_delivery_parameters", Reason: "distance_too_long"})
	server.Next(fakedoordash.Fault{Status: 500})
	_, err = d.Create(t.Context(), doordashRequest())
	wantUnknown(t, err, "500")
	server.Next(fakedoordash.Fault{Status: 200, Body: `{"external_delivery_id":"dlv_1_standin_1","delivery_status":"quote"}`})
	_, err = d.Get(t.Context(), Key{Ref: doordashRequest().Ref})
	wantRefusal(t, err, NotFound, "no delivery")
}

func TestDoorDashPhones(t *testing.T) {
	for _, c := range []struct{ store, customer, wantStore, wantCustomer string }{
		{"+14155550101", "4155550134", "+14155550101", "+14155550134"},
		{"(415) 555-0101", "", "+14155550101", "+14155550101"},
		{"415.555.0101", "ask at the door", "+14155550101", "+14155550101"},
		{"", "1 415 555 0134", "", "+14155550134"},
		{"none", "+61 2 5550 0134", "", "+61255500134"},
		{"", "", "", ""},
		{"12", "34", "", ""},
	} {
		r := doordashRequest().QuoteRequest
		r.Pickup.Phone, r.Dropoff.Phone = c.store, c.customer
		order, err := toDoorDashOrder(r)
		if c.wantCustomer == "" {
			wantRefusal(t, err, BadAddress, "phone")
		} else if err != nil || order.PickupPhone != c.wantStore || order.DropoffPhone != c.wantCustomer {
			t.Errorf("%+v: %+v, %v", c, order, err)
		}
	}
}

// Unknown and absurd values are left out.
func TestDoorDashDelivery(t *testing.T) {
	d, server := doordashStandIn(t)
	answer := func(fields string) Delivery {
		t.Helper()
		server.Next(fakedoordash.Fault{Status: 200, Body: `{"external_delivery_id":"dlv_a"` + fields + `}`})
		got, err := d.Get(t.Context(), Key{ID: "dlv_a", Ref: "other"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	full := answer(`,"delivery_status":"arrived_at_dropoff","fee":1234,"tracking_url":"https://track.example/1","pickup_time_estimated":null,
		"dropoff_time_estimated":"2026-11-22T04:00:00.25Z","dasher_name":"John D.\u0007","dasher_dropoff_phone_number":"+1","dasher_pickup_phone_number":"+2",
		"dasher_vehicle_make":"Toyota","dasher_vehicle_model":"Prius","dasher_vehicle_year":2019,"dasher_location":{"lat":37.5,"lng":-122.5}`)
	want := Delivery{ID: "dlv_a", Ref: "dlv_a", Status: commerce.CourierEnRoute, Imminent: true, FeeCents: 1234, TrackingURL: "https://track.example/1",
		DropoffETA: commerce.MillisOf(time.Date(2026, 11, 22, 4, 0, 0, 250_000_000, time.UTC)),
		Courier:    commerce.Courier{Name: "John D.\uFFFD", Phone: "+1", Vehicle: "Toyota Prius", At: &commerce.Point{Lat: 37.5, Lng: -122.5}}}
	if !reflect.DeepEqual(full, want) {
		t.Errorf("got %+v, want %+v", full, want)
	}
	odd := answer(`,"delivery_status":"teleported","tracking_url":"javascript:alert(1)","dropoff_time_estimated":"soon","dasher_location":{"lat":91,"lng":0},"dasher_pickup_phone_number":"+2"`)
	if want := (Delivery{ID: "dlv_a", Ref: "dlv_a", Courier: commerce.Courier{Phone: "+2"}}); !reflect.DeepEqual(odd, want) {
		t.Errorf("got %+v, want %+v", odd, want)
	}
	cancelled := answer(`,"delivery_status":"cancelled","cancellation_reason":"failed_to_assign_and_refunded"`)
	if cancelled.Status != commerce.CourierCancelled || cancelled.Reason != "failed_to_assign_and_refunded" {
		t.Errorf("%+v", cancelled)
	}
}

func TestDoorDashStatuses(t *testing.T) {
	for word, want := range map[string]commerce.CourierStatus{
		"created": commerce.CourierPending, "confirmed": commerce.CourierAssigned, "enroute_to_pickup": commerce.CourierAssigned,
		"arrived_at_pickup": commerce.CourierAssigned, "picked_up": commerce.CourierLoaded, "enroute_to_dropoff": commerce.CourierEnRoute,
		"arrived_at_dropoff": commerce.CourierEnRoute, "delivered": commerce.CourierDone, "enroute_to_return": commerce.CourierReturning,
		"arrived_at_return": commerce.CourierReturning, "returned": commerce.CourierReturned, "cancelled": commerce.CourierCancelled,
		"quote": "", "active": "", "": "",
	} {
		got := doordashDelivery{DeliveryStatus: word}.delivery()
		if got.Status != want || got.Imminent != (word == "arrived_at_pickup" || word == "arrived_at_dropoff") {
			t.Errorf("%q is %q, imminent %v", word, got.Status, got.Imminent)
		}
	}
}

func TestNewDoorDash(t *testing.T) {
	fine := DoorDashOptions{DeveloperID: "developer", KeyID: "key", SigningSecret: "c2VjcmV0X3NlY3JldA"}
	for what, change := range map[string]func(*DoorDashOptions){
		"no developer": func(o *DoorDashOptions) { o.DeveloperID = "" },
		"no key":       func(o *DoorDashOptions) { o.KeyID = "" },
		"no secret":    func(o *DoorDashOptions) { o.SigningSecret = "" },
		"bad secret":   func(o *DoorDashOptions) { o.SigningSecret = "my secret!" },
		"bad URL":      func(o *DoorDashOptions) { o.BaseURL = "://my secret!" },
		"no host":      func(o *DoorDashOptions) { o.BaseURL = "openapi.doordash.com" },
	} {
		o := fine
		change(&o)
		if d, err := NewDoorDash(o); err == nil || d != nil || strings.Contains(err.Error(), "my secret!") {
			t.Errorf("%s: %v", what, err)
		}
	}
	d, err := NewDoorDash(fine)
	if err != nil || d.base != "https://openapi.doordash.com/drive/v2" || string(d.secret) != "secret_secret" {
		t.Errorf("%+v, %v", d, err)
	}
	fine.SigningSecret = "-_-_"
	plain, err := NewDoorDash(fine)
	if err != nil {
		t.Fatal(err)
	}
	fine.SigningSecret = "+/+/" // in the other base64 alphabet
	if other, err := NewDoorDash(fine); err != nil || !bytes.Equal(other.secret, plain.secret) {
		t.Errorf("%v", err)
	}
}

func TestDoorDashCancel(t *testing.T) {
	d, server := doordashStandIn(t)
	made := doordashCreated(t, d)
	key := Key{ID: made.ID, Ref: made.Ref}
	for _, c := range []struct {
		reason string
		code   Code // empty: the outcome is unknown
	}{
		{"delivery_abandoned", TooLate}, {"delivery_completed", TooLate}, {"delivery_picked_up", TooLate}, {"cancellation_window_closed", TooLate},
		{"delivery_creation_in_progress", ""}, {"duplicate_request", ""}, {"delivery_cancelled", ""}, {"new_reason", Other},
	} {
		for _, fault := range []fakedoordash.Fault{
			{Status: 409, Code: "cancel_not_allowed", Message: "No", Reason: c.reason},
			{Status: 400, Code: c.reason, Message: "No"}, // the form of older versions
		} {
			server.Next(fault)
			if _, err := d.Cancel(t.Context(), key); c.code != "" {
				wantRefusal(t, err, c.code, "No")
			} else {
				wantUnknown(t, err, "No")
			}
		}
	}
	ended, err := d.Cancel(t.Context(), key)
	if err != nil || ended.Status != commerce.CourierCancelled || ended.Reason != "cancelled_by_creator" {
		t.Errorf("%+v, %v", ended, err)
	}
	for _, reason := range []string{"delivery_cancelled", "duplicate_request"} {
		server.Next(fakedoordash.Fault{Status: 409, Code: "cancel_not_allowed", Reason: reason})
		if again, err := d.Cancel(t.Context(), key); err != nil || !reflect.DeepEqual(again, ended) {
			t.Errorf("%+v, %v", again, err)
		}
	}
}
