// Package couriertest is the conformance suite of courier.Provider.
package couriertest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
)

// Harness is a provider with its surroundings.
type Harness interface {
	Provider() courier.Provider

	// Arrange brings about a situation that affects all calls with the request that
	// it returns, which is r or a changed r. It ends the previous situation. It skips
	// the test (t.Skip) if the provider cannot be in this situation.
	Arrange(t *testing.T, s Situation, r courier.CreateRequest) courier.CreateRequest

	// Lapse lets two hours pass: quotes expire, and idempotency keys are forgotten.
	Lapse(t *testing.T)

	// Now is the provider's clock.
	Now() time.Time

	// Move makes the courier go on until the delivery has this status.
	Move(t *testing.T, d courier.Delivery, to commerce.CourierStatus)

	// Made returns how many deliveries exist at the provider.
	Made(t *testing.T) int

	// Posted returns everything that the provider has posted since the last call, in
	// order. It waits until all consequences of earlier calls have been posted.
	Posted(t *testing.T) []Post

	// Sign returns the header with which the provider would post a body now.
	Sign(t *testing.T, body []byte) http.Header

	// Forged returns headers that look like the provider's for this body, but are
	// wrong. The key says what is wrong.
	Forged(t *testing.T, body []byte) map[string]http.Header
}

// Post is a callback as it reaches the service.
type Post struct {
	Header http.Header
	Body   []byte
}

// Situation is a state of the provider.
type Situation string

// The situations.
const (
	Fine Situation = "fine"

	// Refusals.
	TooFar        Situation = "too far"         // or an area that is not served
	NoCourierFree Situation = "no courier free" // no courier is available
	Unplaceable   Situation = "unplaceable"     // the drop-off's address is wrong
	AlwaysStale   Situation = "always stale"    // every quote has expired before it is used
	AskedTooOften Situation = "asked too often" // 429 with Retry-After
	Unreachable   Situation = "unreachable"     // connections fail
	Hanging       Situation = "hanging"         // answers come after the caller has given up
	Broken        Situation = "broken"          // 500, without an explanation
	Overloaded    Situation = "overloaded"      // 503
	Nonsense      Situation = "nonsense"        // 200 with an HTML page
	Half          Situation = "half"            // 200 with half of an answer
	AnswerIsLost  Situation = "answer lost"     // the next change takes effect, but its answer is lost

	// The outcome of a delivery that the request creates.
	CourierQuits Situation = "courier quits" // before the pick-up
	GoesBack     Situation = "goes back"     // after the pick-up
)

// RetryAfter is the pause that the provider asks for when it gets too many calls.
const RetryAfter = 7 * time.Second

// Run runs the suite. Each test gets a new harness.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		test func(c contract)
	}{
		{"quote", contract.quote},
		{"create", contract.create},
		{"create twice", contract.createTwice},
		{"create concurrently", contract.createConcurrently},
		{"create again hours later", contract.createLater},
		{"expired quote", contract.expiredQuote},
		{"used quote", contract.usedQuote},
		{"quote of something else", contract.otherQuote},
		{"lost answer", contract.lostAnswer},
		{"unknown delivery", contract.unknownDelivery},
		{"cancel", contract.cancel},
		{"cancel by our name for it", contract.cancelByRef},
		{"too late to cancel", contract.tooLate},
		{"every status", contract.everyStatus},
		{"courier quits", contract.quits},
		{"goods go back", contract.goesBack},
		{"callbacks in any order", contract.anyOrder},
		{"forged callbacks", contract.badCallbacks},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(contract{t, start(t)}) })
	}
	for situation, code := range refusals {
		t.Run(string(situation), func(t *testing.T) { contract{t, start(t)}.refuses(situation, code) })
	}
	t.Run(string(AlwaysStale), func(t *testing.T) { contract{t, start(t)}.alwaysStale() })
	t.Run(string(AskedTooOften), func(t *testing.T) { contract{t, start(t)}.limited() })
	for _, situation := range outages {
		t.Run(string(situation), func(t *testing.T) { contract{t, start(t)}.unavailable(situation) })
	}
}

var refusals = map[Situation]courier.Code{
	TooFar:        courier.OutOfZone,
	NoCourierFree: courier.NoCouriers,
	Unplaceable:   courier.BadAddress,
}

var outages = []Situation{Unreachable, Hanging, Broken, Overloaded, Nonsense, Half}

type contract struct {
	*testing.T
	Harness
}

// The orders of a test.
var (
	order1 = commerce.NewOrderID(7, 1_800_000_000_000, commerce.Entropy{1})
	order2 = commerce.NewOrderID(7, 1_800_000_000_000, commerce.Entropy{2})
)

// request asks for the first attempt at delivering an order over a few miles.
func (c contract) request(order string) courier.CreateRequest {
	return courier.CreateRequest{
		QuoteRequest: courier.QuoteRequest{
			Ref:     commerce.DeliveryRef(order, 1),
			StoreID: "str_harbor",
			Pickup: courier.Stop{
				Name: "Harbor Street Market", Phone: "+14155550101", Instructions: "Ask at the counter",
				Address: commerce.Address{Line1: "1 Ferry Building", City: "San Francisco", State: "CA", PostalCode: "94111", Country: "US"},
				At:      &commerce.Point{Lat: 37.7955, Lng: -122.3937},
			},
			Dropoff: courier.Stop{
				Name: "Jo Doe", Phone: "(415) 555-0134", Instructions: "Ring twice",
				Address: commerce.Address{Line1: "3180 18th St", City: "San Francisco", State: "CA", PostalCode: "94110", Country: "US"},
				At:      &commerce.Point{Lat: 37.7618, Lng: -122.4146},
			},
			ValueCents: 4797,
		},
		OrderID: order,
		Items:   []courier.Item{{Name: "Sourdough bread", Quantity: 2, PriceCents: 650}, {Name: "Olive oil", Quantity: 1, PriceCents: 3497}},
		AskedOn: commerce.MillisOf(c.Now()),
	}
}

func (c contract) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// quoted returns a request with a quote.
func (c contract) quoted(r courier.CreateRequest) courier.CreateRequest {
	c.Helper()
	q, err := c.Provider().Quote(c.Context(), r.QuoteRequest)
	c.must(err)
	r.QuoteID = q.ID
	return r
}

// made creates a delivery, and checks that it is new.
func (c contract) made(r courier.CreateRequest) courier.Delivery {
	c.Helper()
	d, err := c.Provider().Create(c.Context(), r)
	c.must(err)
	c.sane(d, r.Ref)
	return d
}

// sane checks what every answer about a delivery must have.
func (c contract) sane(d courier.Delivery, ref string) {
	c.Helper()
	if d.ID == "" || d.Ref != ref || d.TrackingURL == "" || d.Status.Rank() == 0 {
		c.Errorf("the delivery of %s is %+v", ref, d)
	}
}

// is reads a delivery by its id and by our name, checks its status, and returns it.
func (c contract) is(d courier.Delivery, status commerce.CourierStatus) courier.Delivery {
	c.Helper()
	var now courier.Delivery
	for _, k := range []courier.Key{{Ref: d.Ref}, {ID: d.ID, Ref: d.Ref}} {
		var err error
		now, err = c.Provider().Get(c.Context(), k)
		c.must(err)
		c.sane(now, d.Ref)
		if !same(now, d) || now.Status != status {
			c.Errorf("by %+v the delivery is %+v, want %s of %+v", k, now, status, d)
		}
	}
	return now
}

// same reports whether two answers are about one delivery.
func same(a, b courier.Delivery) bool {
	return a.ID == b.ID && a.Ref == b.Ref && a.TrackingURL == b.TrackingURL
}

// count checks the number of deliveries.
func (c contract) count(want int) {
	c.Helper()
	if made := c.Made(c.T); made != want {
		c.Errorf("%d deliveries were made, want %d", made, want)
	}
}

// refused checks that err is a definite refusal.
func (c contract) refused(err error, code courier.Code, what string) {
	c.Helper()
	if refusal, ok := errors.AsType[*courier.Refusal](err); !ok || refusal.Code != code || refusal.Message == "" {
		c.Errorf("%s: got %#v, want a refusal %s in words", what, err, code)
	}
}

// outcomeUnknown checks that err is neither a refusal nor a limit.
func (c contract) outcomeUnknown(err error, what string) {
	c.Helper()
	_, refused := errors.AsType[*courier.Refusal](err)
	_, limited := errors.AsType[*courier.Limited](err)
	if err == nil || refused || limited {
		c.Errorf("%s: got %#v, want an error that is not definite", what, err)
	}
}

// patience bounds a call to a provider that hangs.
const patience = 50 * time.Millisecond

// briefly returns the context of a call that may hang.
func (c contract) briefly(s Situation) context.Context {
	if s != Hanging {
		return c.Context()
	}
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	c.Cleanup(cancel)
	return ctx
}
