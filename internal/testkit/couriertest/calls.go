package couriertest

import (
	"errors"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
)

func (c contract) quote() {
	r := c.request(order1)
	q, err := c.Provider().Quote(c.Context(), r.QuoteRequest)
	c.must(err)
	now := c.Now().UnixMilli()
	if q.ID == "" || q.FeeCents <= 0 || q.Currency != "USD" {
		c.Errorf("the quote is %+v", q)
	}
	if q.ExpiresOn <= commerce.Millis(now) || q.ExpiresOn > commerce.Millis(now+time.Hour.Milliseconds()) {
		c.Errorf("a quote of %d expires at %d", now, q.ExpiresOn)
	}
	// A few seconds mean that minutes were not converted.
	if q.PickupDurationSeconds < 60 || q.DurationSeconds <= q.PickupDurationSeconds || q.DurationSeconds > 3*3600 {
		c.Errorf("the pick-up takes %d s, all of it %d s", q.PickupDurationSeconds, q.DurationSeconds)
	}
	const tolerance = 2 * time.Minute // for durations that are given in minutes
	if off := q.DropoffETA - commerce.Millis(now) - commerce.Millis(q.DurationSeconds*1000); off > commerce.Millis(tolerance.Milliseconds()) || off < commerce.Millis(-tolerance.Milliseconds()) {
		c.Errorf("it takes %d s, and is there at %d; now is %d", q.DurationSeconds, q.DropoffETA, now)
	}
	c.count(0)
}

func (c contract) create() {
	r := c.request(order1)
	q, err := c.Provider().Quote(c.Context(), r.QuoteRequest)
	c.must(err)
	r.QuoteID = q.ID
	d := c.made(r)
	if d.FeeCents != q.FeeCents || d.QuoteID != q.ID {
		c.Errorf("by the quote %+v the delivery is %+v", q, d)
	}
	if now := c.Now().UnixMilli(); d.DropoffETA <= commerce.Millis(now) || d.PickupETA <= commerce.Millis(now) || d.PickupETA >= d.DropoffETA {
		c.Errorf("at %d the times are %d and %d", now, d.PickupETA, d.DropoffETA)
	}
	if d.Status != commerce.CourierPending {
		c.Errorf("a new delivery is %s", d.Status)
	}
	c.is(d, commerce.CourierPending)
	c.count(1)
}

func (c contract) createTwice() {
	r := c.quoted(c.request(order1))
	first, other := c.made(r), c.made(c.quoted(c.request(order2)))
	if again := c.made(r); !same(again, first) {
		c.Errorf("the same request gives %+v, then %+v", first, again)
	}
	if other.ID == first.ID || other.TrackingURL == first.TrackingURL {
		c.Errorf("two deliveries are %+v and %+v", first, other)
	}
	c.count(2)
	c.Move(c.T, first, commerce.CourierAssigned)
	if again := c.made(r); !same(again, first) || again.Status != commerce.CourierAssigned {
		c.Errorf("once a courier was assigned, the same request gives %+v", again)
	}
	second := c.request(order1)
	second.Ref = commerce.DeliveryRef(order1, 2)
	if next := c.made(c.quoted(second)); next.ID == first.ID {
		c.Errorf("the second attempt is the first: %+v", next)
	}
	c.count(3)
}

func (c contract) createConcurrently() {
	r := c.quoted(c.request(order1))
	made := make([]courier.Delivery, 8)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			d, err := c.Provider().Create(c.Context(), r)
			if err != nil {
				c.Error(err)
			}
			made[i] = d
		})
	}
	all.Wait()
	for _, d := range made {
		if !same(d, made[0]) {
			c.Errorf("one request gives %+v and %+v", made[0], d)
		}
	}
	c.count(1)
}

// createLater repeats a request after the provider has forgotten its key.
func (c contract) createLater() {
	r := c.quoted(c.request(order1))
	first := c.made(r)
	c.Lapse(c.T)
	if again := c.made(r); !same(again, first) {
		c.Errorf("the same request gives %+v, and hours later %+v", first, again)
	}
	c.count(1)
}

func (c contract) expiredQuote() {
	r := c.quoted(c.request(order1))
	c.Lapse(c.T)
	r.AskedOn = commerce.MillisOf(c.Now())
	if d := c.made(r); d.FeeCents <= 0 || d.DropoffETA <= commerce.MillisOf(c.Now()) {
		c.Errorf("by an expired quote the delivery is %+v", d)
	}
	c.count(1)
}

func (c contract) usedQuote() {
	first := c.quoted(c.request(order1))
	c.made(first)
	second := c.request(order2)
	second.QuoteID = first.QuoteID
	c.made(second)
	c.count(2)
}

// otherQuote creates a delivery from a quote with another name, as after a quote that
// was only shown.
func (c contract) otherQuote() {
	shown := c.request(order2)
	shown.Ref = "shown"
	r := c.request(order1)
	r.QuoteID = c.quoted(shown).QuoteID
	c.is(c.made(r), commerce.CourierPending)
	c.count(1)
}

func (c contract) alwaysStale() {
	r := c.Arrange(c.T, AlwaysStale, c.quoted(c.request(order1)))
	_, err := c.Provider().Create(c.Context(), r)
	c.refused(err, courier.QuoteExpired, "create")
	c.count(0)
}

// lostAnswer repeats a call that took effect although its answer was lost.
func (c contract) lostAnswer() {
	fine := c.quoted(c.request(order1))
	_, err := c.Provider().Create(c.Context(), c.Arrange(c.T, AnswerIsLost, fine))
	c.outcomeUnknown(err, "create")
	fine = c.Arrange(c.T, Fine, fine)
	found, err := c.Provider().Get(c.Context(), courier.Key{Ref: fine.Ref})
	c.must(err)
	d := c.made(fine)
	if !same(found, d) {
		c.Errorf("found %+v, made %+v", found, d)
	}
	c.count(1)
	c.Arrange(c.T, AnswerIsLost, fine)
	_, err = c.Provider().Cancel(c.Context(), courier.Key{ID: d.ID, Ref: d.Ref})
	c.outcomeUnknown(err, "cancel")
	c.Arrange(c.T, Fine, fine)
	c.cancelled(courier.Key{ID: d.ID, Ref: d.Ref}, d)
}

func (c contract) unknownDelivery() {
	for _, k := range []courier.Key{{ID: "del_nowhere", Ref: commerce.DeliveryRef(order1, 1)}, {Ref: commerce.DeliveryRef(order1, 1)}} {
		_, err := c.Provider().Get(c.Context(), k)
		c.refused(err, courier.NotFound, "get")
		_, err = c.Provider().Cancel(c.Context(), k)
		c.refused(err, courier.NotFound, "cancel")
	}
}

// cancelled cancels a delivery.
func (c contract) cancelled(k courier.Key, d courier.Delivery) {
	c.Helper()
	ended, err := c.Provider().Cancel(c.Context(), k)
	c.must(err)
	c.sane(ended, d.Ref)
	if !same(ended, d) || ended.Status != commerce.CourierCancelled {
		c.Errorf("cancelled, it is %+v", ended)
	}
	c.is(d, commerce.CourierCancelled)
}

func (c contract) cancel() {
	d, other := c.made(c.quoted(c.request(order1))), c.made(c.quoted(c.request(order2)))
	c.Move(c.T, d, commerce.CourierAssigned)
	for range 2 {
		c.cancelled(courier.Key{ID: d.ID, Ref: d.Ref}, d)
	}
	c.is(other, commerce.CourierPending)
}

func (c contract) cancelByRef() {
	d := c.made(c.quoted(c.request(order1)))
	for range 2 {
		c.cancelled(courier.Key{Ref: d.Ref}, d)
	}
}

func (c contract) tooLate() {
	d := c.made(c.quoted(c.request(order1)))
	for _, status := range []commerce.CourierStatus{commerce.CourierLoaded, commerce.CourierEnRoute, commerce.CourierDone} {
		c.Move(c.T, d, status)
		_, err := c.Provider().Cancel(c.Context(), courier.Key{ID: d.ID, Ref: d.Ref})
		c.refused(err, courier.TooLate, "cancel when "+string(status))
		c.is(d, status)
	}
}

// refuses asks for something that the provider refuses: first for a quote and then,
// with an earlier quote, for a delivery.
func (c contract) refuses(s Situation, code courier.Code) {
	fine := c.quoted(c.request(order1))
	r := c.Arrange(c.T, s, fine)
	_, err := c.Provider().Quote(c.Context(), r.QuoteRequest)
	c.refused(err, code, "quote")
	_, err = c.Provider().Create(c.Context(), r)
	c.refused(err, code, "create")
	c.count(0)
	c.made(c.Arrange(c.T, Fine, fine)) // a refusal does not last
}

func (c contract) limited() {
	fine := c.quoted(c.request(order1))
	r := c.Arrange(c.T, AskedTooOften, fine)
	check := func(err error, what string) {
		if limited, ok := errors.AsType[*courier.Limited](err); !ok || limited.RetryAfter != RetryAfter {
			c.Errorf("%s: got %#v, want to be told to wait %s", what, err, RetryAfter)
		}
	}
	_, err := c.Provider().Quote(c.Context(), r.QuoteRequest)
	check(err, "quote")
	_, err = c.Provider().Create(c.Context(), r)
	check(err, "create")
	c.count(0)
	c.made(c.Arrange(c.T, Fine, fine))
}

// unavailable checks that the outcome of calls is unknown during an outage, and that
// all calls work after it.
func (c contract) unavailable(s Situation) {
	d := c.made(c.quoted(c.request(order1)))
	fine := c.quoted(c.request(order2))
	r := c.Arrange(c.T, s, fine)
	_, err := c.Provider().Quote(c.briefly(s), r.QuoteRequest)
	c.outcomeUnknown(err, "quote")
	_, err = c.Provider().Create(c.briefly(s), r)
	c.outcomeUnknown(err, "create")
	for _, k := range []courier.Key{{ID: d.ID, Ref: d.Ref}, {Ref: d.Ref}} {
		_, err = c.Provider().Get(c.briefly(s), k)
		c.outcomeUnknown(err, "get")
		_, err = c.Provider().Cancel(c.briefly(s), k)
		c.outcomeUnknown(err, "cancel")
	}
	fine = c.Arrange(c.T, Fine, fine)
	c.made(fine)
	c.count(2)
}
