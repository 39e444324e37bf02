package courier_test

import (
	"net/http"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/testkit/couriertest"
	"purveyor/internal/testkit/fakedoordash"
)

func TestDoorDashContract(t *testing.T) {
	couriertest.Run(t, func(t *testing.T) couriertest.Harness {
		server := fakedoordash.New(t)
		provider, err := courier.NewDoorDash(courier.DoorDashOptions{
			DeveloperID: server.DeveloperID, KeyID: server.KeyID, SigningSecret: server.SigningSecret,
			WebhookUser: server.User, WebhookPassword: server.Password, BaseURL: server.URL,
		})
		if err != nil {
			t.Fatal(err)
		}
		return &doordash{server, provider}
	})
}

type doordash struct {
	*fakedoordash.Server
	provider *courier.DoorDash
}

func (d *doordash) Provider() courier.Provider { return d.provider }

func (d *doordash) Now() time.Time { return time.Now() }

// Lapse does nothing: no result here depends on the age of a quote.
func (d *doordash) Lapse(*testing.T) {}

func (d *doordash) Made(*testing.T) int { return d.Server.Made() }

func (d *doordash) Arrange(t *testing.T, s couriertest.Situation, r courier.CreateRequest) courier.CreateRequest {
	d.Recover()
	switch s {
	case couriertest.Fine, couriertest.CourierQuits, couriertest.GoesBack: // Move brings these about
	case couriertest.AnswerIsLost:
		d.Next(fakedoordash.Fault{Lost: true})
	default:
		fault, ok := doordashSituations[s]
		if !ok {
			t.Skipf("DoorDash is never %s", s)
		}
		d.Always(fault)
	}
	return r
}

// doordashSituations last until they are taken back. AlwaysStale is missing because
// no delivery is created from a quote.
var doordashSituations = map[couriertest.Situation]fakedoordash.Fault{
	couriertest.TooFar:        {On: "POST", Status: 422, Code: "invalid_delivery_parameters", Message: "Invalid delivery", Reason: "distance_too_long"},
	couriertest.NoCourierFree: {On: "POST", Status: 422, Code: "invalid_delivery_parameters", Message: "Invalid delivery", Reason: "outside_of_delivery_time"},
	couriertest.Unplaceable:   {On: "POST", Status: 400, Code: "validation_error", Message: "Validation Failed", Fields: map[string]string{"dropoff_address": "Could not resolve to a valid address"}},
	couriertest.AskedTooOften: {Status: 429, Code: "too_many_requests", Header: http.Header{"Retry-After": {"7"}}},
	couriertest.Unreachable:   {Down: true},
	couriertest.Hanging:       {Hang: true},
	couriertest.Broken:        {Status: 500},
	couriertest.Overloaded:    {Status: 503, Code: "service_fault", Message: "Please try again later"},
	couriertest.Nonsense:      {Status: 200, Body: "<!doctype html><p>Welcome to our network"},
	couriertest.Half:          {Status: 200, Body: `{"external_delivery_id":"dlv_`},
}

func (d *doordash) Move(t *testing.T, delivery courier.Delivery, to commerce.CourierStatus) {
	t.Helper()
	var err error
	if to == commerce.CourierCancelled {
		err = d.Server.Move(delivery.ID, "confirmed")
		if err == nil {
			err = d.GiveUp(delivery.ID, "failed_to_pickup")
		}
	} else {
		err = d.Server.Move(delivery.ID, map[commerce.CourierStatus]string{
			commerce.CourierAssigned:  "confirmed",
			commerce.CourierLoaded:    "picked_up",
			commerce.CourierEnRoute:   "enroute_to_dropoff",
			commerce.CourierDone:      "delivered",
			commerce.CourierReturning: "enroute_to_return",
			commerce.CourierReturned:  "returned",
		}[to])
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (d *doordash) Posted(*testing.T) []couriertest.Post {
	var posts []couriertest.Post
	for _, event := range d.Take() {
		posts = append(posts, couriertest.Post{Header: d.Header(), Body: event.Body})
	}
	return posts
}

func (d *doordash) Sign(*testing.T, []byte) http.Header { return d.Header() }

func (d *doordash) Forged(*testing.T, []byte) map[string]http.Header {
	with := func(user, password string) http.Header {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header
	}
	return map[string]http.Header{
		"another password": with(d.User, d.Password+"x"),
		"another user":     with(d.User+"x", d.Password),
		"no password":      with(d.User, ""),
		"no user":          with("", ""),
		"moved colon":      with(d.User+":", d.Password),
		"bare password":    {"Authorization": {"Basic " + d.Password}},
		"scheme alone":     {"Authorization": {"Basic "}},
	}
}
