package courier_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/testkit/couriertest"
	"purveyor/internal/testkit/fakeuber"
)

func TestUberContract(t *testing.T) {
	couriertest.Run(t, func(t *testing.T) couriertest.Harness {
		server := fakeuber.New(t)
		server.PageSize = 2
		uber := courier.NewUber(courier.UberOptions{
			CustomerID: server.CustomerID, ClientID: server.ClientID, ClientSecret: server.ClientSecret,
			SigningKeys: []string{server.StatusKey, server.CourierKey}, BaseURL: server.URL, AuthURL: server.AuthURL, Robo: true,
		})
		uber.Now = server.Now
		return uberWorld{server, uber}
	})
}

type uberWorld struct {
	*fakeuber.Server
	uber *courier.Uber
}

func (w uberWorld) Provider() courier.Provider { return w.uber }

// uberSituations are the situations that are faults of the fake server.
var uberSituations = map[couriertest.Situation]fakeuber.Fault{
	couriertest.TooFar:        {On: "POST /deliver", Status: 400, Code: "address_undeliverable", Message: "The specified location is not in a deliverable area."},
	couriertest.NoCourierFree: {On: "POST /deliver", Status: 503, Code: "couriers_busy", Message: "All of our couriers are currently busy."},
	couriertest.Unplaceable:   {On: "POST /deliver", Status: 400, Code: "unknown_location", Message: "The specified location was not understood."},
	couriertest.AskedTooOften: {Status: 429, Code: "customer_limited", Header: http.Header{
		"Retry-After": {strconv.Itoa(int(couriertest.RetryAfter / time.Second))}}},
	couriertest.Unreachable: {Down: true},
	couriertest.Hanging:     {Hang: true},
	couriertest.Broken:      {Status: 500},
	couriertest.Overloaded:  {Status: 503, Code: "service_unavailable", Message: "Service is currently unavailable."},
	couriertest.Nonsense:    {Status: 200, Body: "<!DOCTYPE html><p>Welcome to our network"},
	couriertest.Half:        {Half: true},
}

func (w uberWorld) Arrange(_ *testing.T, s couriertest.Situation, r courier.CreateRequest) courier.CreateRequest {
	w.Always(nil)
	w.SetQuoteLife(fakeuber.QuoteLife)
	if fault, ok := uberSituations[s]; ok {
		w.Always(&fault)
	}
	switch s {
	case couriertest.AnswerIsLost:
		w.Next(fakeuber.Fault{On: "POST /deliveries", Lost: true})
	case couriertest.AlwaysStale:
		w.SetQuoteLife(0)
		w.Advance(time.Hour) // the earlier quote expires
	}
	return r
}

func (w uberWorld) Lapse(*testing.T) { w.Advance(2 * time.Hour) }

func (w uberWorld) Move(t *testing.T, d courier.Delivery, to commerce.CourierStatus) {
	status := map[commerce.CourierStatus]string{
		commerce.CourierPending: "pending", commerce.CourierAssigned: "pickup", commerce.CourierLoaded: "pickup_complete",
		commerce.CourierEnRoute: "dropoff", commerce.CourierDone: "delivered", commerce.CourierCancelled: "canceled", commerce.CourierReturned: "returned",
	}[to]
	if err := w.Server.Move(d.ID, status); err != nil {
		t.Fatal(err)
	}
}

func (w uberWorld) Made(*testing.T) int { return w.Server.Made() }

func (w uberWorld) Posted(*testing.T) []couriertest.Post {
	var posts []couriertest.Post
	for _, event := range w.Take() {
		posts = append(posts, couriertest.Post{Header: event.Header(), Body: event.Body})
	}
	return posts
}

func (w uberWorld) Sign(_ *testing.T, body []byte) http.Header {
	return http.Header{"X-Uber-Signature": {fakeuber.Sign(body, w.StatusKey)}}
}

func (w uberWorld) Forged(_ *testing.T, body []byte) map[string]http.Header {
	right := fakeuber.Sign(body, w.StatusKey)
	return map[string]http.Header{
		"another key":         {"X-Uber-Signature": {fakeuber.Sign(body, "key-of-somebody")}},
		"no key":              {"X-Uber-Signature": {fakeuber.Sign(body, "")}},
		"another body":        {"X-Uber-Signature": {fakeuber.Sign(append(body[:len(body):len(body)], ' '), w.StatusKey)}},
		"cut":                 {"X-Postmates-Signature": {right[:62]}},
		"empty":               {"X-Uber-Signature": {""}, "X-Postmates-Signature": {""}},
		"no hex":              {"X-Uber-Signature": {strings.Repeat("z", 64)}},
		"under another name":  {"X-Signature": {right}},
		"with a word before":  {"X-Uber-Signature": {"sha256=" + right}},
		"as long as a novel":  {"X-Uber-Signature": {strings.Repeat(right, 1000)}},
		"of the wrong client": {"X-Uber-Signature": {fakeuber.Sign(body, w.ClientSecret)}},
	}
}
