package courier_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakesandbox"
)

var order = commerce.NewOrderID(7, 1_800_000_000_000, commerce.Entropy{1})

var (
	ferryBuilding = commerce.Point{Lat: 37.7955, Lng: -122.3937}
	mission       = commerce.Point{Lat: 37.7618, Lng: -122.4146} // 2.6 miles from there
)

// asks returns a request whose address has these tags.
func asks(tags string) courier.CreateRequest {
	return courier.CreateRequest{QuoteRequest: courier.QuoteRequest{
		Ref:     commerce.DeliveryRef(order, 1),
		StoreID: "str_1",
		Pickup: courier.Stop{Name: "Harbor Street Market", Phone: "+14155550101", At: &ferryBuilding,
			Address: commerce.Address{Line1: "1 Ferry Building", City: "San Francisco", State: "CA", PostalCode: "94111"}},
		Dropoff: courier.Stop{Name: "Jo Doe", Phone: "+14155550134", At: &mission,
			Address: commerce.Address{Line1: "3180 18th St", Line2: tags, City: "San Francisco", State: "CA", PostalCode: "94110"}},
	}}
}

func (x *town) create(t testing.TB, r courier.CreateRequest) courier.Delivery {
	t.Helper()
	d, err := x.sandbox.Create(t.Context(), r)
	check.OK(t, err)
	return d
}

// callbacks reads the callbacks since the last call.
func (x *town) callbacks(t testing.TB) []courier.Callback {
	t.Helper()
	var all []courier.Callback
	for _, n := range x.objects.TakeCallbacks() {
		signature, err := sandbox.NewSigner(env.Env{}, x.objects).Sign(t.Context(), x.Now(), n.Body)
		check.OK(t, err)
		read, err := x.sandbox.ReadCallback(t.Context(), http.Header{sandbox.SignatureHeader: {signature}}, n.Body)
		check.OK(t, err)
		all = append(all, read...)
	}
	return all
}

// TestCalls lists the answers of calls for each tag of an address.
func TestCalls(t *testing.T) {
	refusal := func(code courier.Code) func(error) bool {
		return func(err error) bool {
			refusal, ok := errors.AsType[*courier.Refusal](err)
			return ok && refusal.Code == code && refusal.Message != ""
		}
	}
	fine := func(err error) bool { return err == nil }
	for tags, want := range map[string]struct{ quote, create func(error) bool }{
		"sandbox:out-of-zone":   {refusal(courier.OutOfZone), refusal(courier.OutOfZone)},
		"sandbox:no-couriers":   {refusal(courier.NoCouriers), refusal(courier.NoCouriers)},
		"sandbox:bad-address":   {refusal(courier.BadAddress), refusal(courier.BadAddress)},
		"sandbox:quote-expired": {fine, refusal(courier.QuoteExpired)},
		"sandbox:cancel":        {fine, fine},
	} {
		x := newTown(t, "https://shop.example")
		r := asks(tags)
		if _, err := x.sandbox.Quote(t.Context(), r.QuoteRequest); !want.quote(err) {
			t.Errorf("%s: the quote gives %v", tags, err)
		}
		if _, err := x.sandbox.Create(t.Context(), r); !want.create(err) {
			t.Errorf("%s: the delivery gives %v", tags, err)
		}
	}
}

func TestUncancellable(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks("sandbox:uncancellable"))
	_, err := x.sandbox.Cancel(t.Context(), courier.Key{ID: d.ID})
	if refusal, ok := errors.AsType[*courier.Refusal](err); !ok || refusal.Code != courier.TooLate {
		t.Errorf("got %v", err)
	}
	if !x.step(t, d.ID) {
		t.Error("the courier stays")
	}
}

// TestSlow checks that a slow call takes four seconds, or ends when the caller gives
// up.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTown(t, "https://shop.example")
		start := time.Now()
		x.create(t, asks("sandbox:slow"))
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("it takes %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := x.sandbox.Quote(ctx, asks("sandbox:slow").QuoteRequest); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestQuotes checks that quotes rise with the distance, and end at 30 miles.
func TestQuotes(t *testing.T) {
	x := newTown(t, "https://shop.example")
	north := func(miles float64) courier.QuoteRequest {
		r := asks("").QuoteRequest
		r.Dropoff.At = &commerce.Point{Lat: ferryBuilding.Lat + miles/69.0934, Lng: ferryBuilding.Lng}
		return r
	}
	for _, c := range []struct {
		miles   float64
		fee     commerce.Cents
		seconds int64
	}{{0, 499, 564}, {1, 589, 744}, {10, 1399, 2364}, {29.9, 3190, 5946}} {
		q, err := x.sandbox.Quote(t.Context(), north(c.miles))
		check.OK(t, err)
		if q.FeeCents != c.fee || q.DurationSeconds != c.seconds || q.PickupDurationSeconds != 384 || q.Currency != "USD" {
			t.Errorf("%v miles: %+v", c.miles, q)
		}
		if life := q.ExpiresOn - commerce.MillisOf(x.Now()); life > commerce.Millis((15*time.Minute).Milliseconds()) || life < commerce.Millis((14*time.Minute).Milliseconds()) {
			t.Errorf("a quote is good for %d ms", life)
		}
	}
	_, err := x.sandbox.Quote(t.Context(), north(30.1))
	if refusal, ok := errors.AsType[*courier.Refusal](err); !ok || refusal.Code != courier.OutOfZone || !strings.Contains(refusal.Message, "30.1 miles") {
		t.Errorf("30.1 miles: got %v", err)
	}
}

// TestQuotesCannotBeForged checks that an unknown id, or one of another way, silently
// gets a new quote.
func TestQuotesCannotBeForged(t *testing.T) {
	x := newTown(t, "https://shop.example")
	given, err := x.sandbox.Quote(t.Context(), asks("").QuoteRequest)
	check.OK(t, err)
	far := asks("")
	far.Dropoff.At = &commerce.Point{Lat: 37.6, Lng: -122.4}
	quoteOf := func(quoteID string, r courier.CreateRequest, attempt int64) courier.Delivery {
		r.QuoteID, r.Ref = quoteID, commerce.DeliveryRef(order, attempt)
		return x.create(t, r)
	}
	if d := quoteOf(given.ID, asks(""), 1); d.QuoteID != given.ID || d.FeeCents != given.FeeCents {
		t.Errorf("by its quote the delivery is %+v", d)
	}
	parts := strings.Split(given.ID, "_")
	later := strings.Join([]string{parts[0], parts[1], "zzzzzzzz", parts[3]}, "_")
	for i, id := range []string{"", "dqt_test_", later, given.ID[:len(given.ID)-1] + "x", "dqt_test_-1_" + parts[3]} {
		if d := quoteOf(id, asks(""), int64(i)+2); d.QuoteID == id || d.QuoteID == "" {
			t.Errorf("by %q the delivery is %+v", id, d)
		}
	}
	if d := quoteOf(given.ID, far, 9); d.QuoteID == given.ID || d.FeeCents <= given.FeeCents {
		t.Errorf("by the quote of a shorter way the delivery is %+v", d)
	}
	x.ahead.Add(int64(15 * time.Minute))
	if d := quoteOf(given.ID, asks(""), 10); d.QuoteID == given.ID {
		t.Errorf("by an expired quote the delivery is %+v", d)
	}
}

// TestLocate checks that addresses without coordinates are looked up.
func TestLocate(t *testing.T) {
	x := newTown(t, "https://shop.example")
	r := asks("")
	r.Dropoff.At = nil
	code := func() courier.Code {
		_, err := x.sandbox.Quote(t.Context(), r.QuoteRequest)
		if err == nil {
			return ""
		}
		refusal, _ := errors.AsType[*courier.Refusal](err)
		return refusal.Code
	}
	if got := code(); got != courier.BadAddress {
		t.Errorf("without a geocoder: %s", got)
	}
	at, known := mission, true
	x.sandbox.Locate = func(_ context.Context, a commerce.Address) (commerce.Point, bool) {
		return at, known && a.Line1 == "3180 18th St"
	}
	if got := code(); got != "" {
		t.Errorf("an address that was placed: %s", got)
	}
	r.Pickup.At = nil
	if got := code(); got != courier.BadAddress {
		t.Errorf("a store without a place: %s", got)
	}
	r.Pickup.At, at = &ferryBuilding, commerce.Point{Lat: 91}
	if got := code(); got != courier.BadAddress {
		t.Errorf("a place that is none: %s", got)
	}
	r.Dropoff.At = &commerce.Point{Lat: 10, Lng: 200}
	if got := code(); got != courier.BadAddress {
		t.Errorf("a place beyond the map: %s", got)
	}
}

// TestTwoProcesses checks that processes share all state, and that a restart changes
// nothing.
func TestTwoProcesses(t *testing.T) {
	x := newTown(t, "https://shop.example")
	other := courier.NewSandbox(env.Env{}, x.objects, "https://shop.example/")
	other.Now = x.Now
	q, err := other.Quote(t.Context(), asks("").QuoteRequest)
	check.OK(t, err)
	r := asks("")
	r.QuoteID = q.ID
	d := x.create(t, r)
	if d.QuoteID != q.ID {
		t.Errorf("the quote of another process is not honoured: %+v", d)
	}
	x.step(t, d.ID)
	again, err := other.Create(t.Context(), r)
	check.OK(t, err)
	if again.ID != d.ID || again.Status != commerce.CourierAssigned || again.TrackingURL != d.TrackingURL {
		t.Errorf("another process sees %+v", again)
	}
	moved, err := x.objects.Step(t.Context(), other, d.ID)
	check.OK(t, err)
	if posted := brief(x.callbacks(t)); !moved || posted != "to-store to-store" {
		t.Errorf("two processes posted %s", posted)
	}
}

// TestConcurrentChanges has couriers step while merchants cancel and partners repeat
// their requests. One delivery is created, and either it is cancelled, or every
// cancellation was refused.
func TestConcurrentChanges(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			moved, err := x.objects.Step(t.Context(), x.sandbox, d.ID)
			if err != nil {
				t.Error(err)
			}
			if !moved {
				return
			}
		}
	})
	ended := make([]error, 8)
	for i := range ended {
		all.Go(func() { _, ended[i] = x.sandbox.Cancel(t.Context(), courier.Key{Ref: d.Ref}) })
		all.Go(func() {
			if again, err := x.sandbox.Create(t.Context(), asks("")); err != nil || again.ID != d.ID {
				t.Errorf("again it is %+v, %v", again, err)
			}
		})
	}
	all.Wait()
	now, err := x.sandbox.Get(t.Context(), courier.Key{ID: d.ID})
	check.OK(t, err)
	for _, err := range ended {
		if refusal, refused := errors.AsType[*courier.Refusal](err); now.Status == commerce.CourierCancelled && err != nil ||
			now.Status == commerce.CourierDone && (!refused || refusal.Code != courier.TooLate) {
			t.Errorf("it is %s, and a cancellation gave %v", now.Status, err)
		}
	}
	if !now.Status.Over() || x.Made(t) != 1 {
		t.Errorf("in the end it is %+v, and %d were made", now, x.Made(t))
	}
}

// TestCreateIsCheap checks that, once the secret is known, a new delivery is one
// write, a repeated one is one read, and a quote touches no storage.
func TestCreateIsCheap(t *testing.T) {
	x := newTown(t, "https://shop.example")
	calls := func(f func()) string {
		reads, puts := x.objects.Calls()
		f()
		r, p := x.objects.Calls()
		return fmt.Sprint(r-reads, p-puts)
	}
	quote := func() {
		_, err := x.sandbox.Quote(t.Context(), asks("").QuoteRequest)
		check.OK(t, err)
	}
	quote()
	for _, c := range []struct {
		what, want string
		do         func()
	}{
		{"a quote", "0 0", quote},
		{"a delivery", "0 1", func() { x.create(t, asks("")) }},
		{"a repeat", "1 1", func() { x.create(t, asks("")) }},
	} {
		if got := calls(c.do); got != c.want {
			t.Errorf("%s takes %s reads and writes, want %s", c.what, got, c.want)
		}
	}
}

// FuzzSandboxCallback signs its input, so that all of it reaches the decoder.
func FuzzSandboxCallback(f *testing.F) {
	f.Add([]byte(`{"id":"cev_1","delivery_id":"del_1","ref":"dlv_1","status":"delivered","courier":{"location":{"Lat":1,"Lng":2}}}`), "t=1,v1=00")
	f.Add([]byte(`{"ID":"","status":["delivered"],"ref":"\ud800","courier":{"location":{"Lat":1e9}}}`), "v1=,t=,")
	objects := &fakesandbox.Objects{}
	box := courier.NewSandbox(env.Env{}, objects, "https://shop.example")
	signer := sandbox.NewSigner(env.Env{}, objects)
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		if callbacks, err := box.ReadCallback(t.Context(), http.Header{sandbox.SignatureHeader: {header}}, body); err == nil {
			t.Errorf("the signature %q is taken: %+v", header, callbacks)
		}
		signature, err := signer.Sign(t.Context(), time.Now(), body)
		check.OK(t, err)
		callbacks, err := box.ReadCallback(t.Context(), http.Header{sandbox.SignatureHeader: {signature}}, body)
		if _, bad := errors.AsType[*courier.BadCallback](err); err != nil && !bad {
			t.Errorf("got %v", err)
		}
		if err != nil {
			return
		}
		if n := callbacks[0]; len(callbacks) != 1 || n.ID == "" || n.Delivery.ID == "" || n.Ref == "" || n.Status.Rank() == 0 ||
			n.Courier.At != nil && !n.Courier.At.Valid() {
			t.Errorf("got %+v", callbacks)
		}
	})
}
