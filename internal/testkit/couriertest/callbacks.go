package couriertest

import (
	"bytes"
	"errors"
	"net/http"
	"reflect"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
)

// read returns the callbacks of a post. It reads each post twice, because a repeated
// callback has to have the same id.
func (c contract) read(post Post) []courier.Callback {
	c.Helper()
	callbacks, err := c.Provider().ReadCallback(c.Context(), post.Header, post.Body)
	c.must(err)
	again, err := c.Provider().ReadCallback(c.Context(), post.Header, post.Body)
	c.must(err)
	if !reflect.DeepEqual(callbacks, again) {
		c.Errorf("a callback is read as %+v, then as %+v", callbacks, again)
	}
	return callbacks
}

// callbacks reads everything that was posted since the last call, in order, and checks
// that no two callbacks share an id.
func (c contract) callbacks() []courier.Callback {
	c.Helper()
	var all []courier.Callback
	seen := map[string]bool{}
	for _, post := range c.Posted(c.T) {
		for _, n := range c.read(post) {
			if n.ID == "" || seen[n.ID] {
				c.Errorf("a callback has no id of its own: %+v", n)
			}
			seen[n.ID] = true
			all = append(all, n)
		}
	}
	return all
}

// advance moves a delivery on, and checks that callbacks lead it there without a step
// back.
func (c contract) advance(d courier.Delivery, from, to commerce.CourierStatus) []courier.Callback {
	c.Helper()
	c.Move(c.T, d, to)
	c.is(d, to)
	callbacks := c.callbacks()
	for _, n := range callbacks {
		c.about(n, d)
		if n.Status.Rank() < from.Rank() || n.Status.Rank() > to.Rank() {
			c.Errorf("between %s and %s the provider reports %s", from, to, n.Status)
		}
		from = n.Status
	}
	return callbacks
}

// about checks the delivery of a callback. If a callback does not carry our name, the
// provider's id finds the delivery.
func (c contract) about(n courier.Callback, d courier.Delivery) {
	c.Helper()
	if n.Delivery.ID != d.ID || n.Ref != "" && n.Ref != d.Ref {
		c.Errorf("the callback %+v is about %+v", n, d)
	}
}

// everyStatus follows a delivery to the door. Some providers skip the pick-up, but
// all report that a courier is coming for the goods, has them, and has delivered
// them.
func (c contract) everyStatus() {
	d := c.made(c.quoted(c.request(order1)))
	c.callbacks()
	var all []courier.Callback
	statuses := []commerce.CourierStatus{commerce.CourierPending, commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierEnRoute, commerce.CourierDone}
	for i, to := range statuses[1:] {
		all = append(all, c.advance(d, statuses[i], to)...)
		if now := c.is(d, to); !to.Over() && (now.Courier.Name == "" || now.Courier.At == nil || !now.Courier.At.Valid()) {
			c.Errorf("when %s, the courier is %+v", to, now.Courier)
		}
	}
	reported := func(status func(commerce.CourierStatus) bool) bool {
		return slices.ContainsFunc(all, func(n courier.Callback) bool { return status(n.Status) })
	}
	if !reported(func(s commerce.CourierStatus) bool { return s == commerce.CourierAssigned }) ||
		!reported(func(s commerce.CourierStatus) bool { return s.HasGoods() && !s.Over() }) ||
		!reported(func(s commerce.CourierStatus) bool { return s == commerce.CourierDone }) {
		c.Errorf("the callbacks are %+v", all)
	}
}

// quits makes a courier give up before the pick-up.
func (c contract) quits() {
	d := c.made(c.Arrange(c.T, CourierQuits, c.quoted(c.request(order1))))
	callbacks := c.advance(d, commerce.CourierPending, commerce.CourierCancelled)
	if len(callbacks) == 0 || callbacks[len(callbacks)-1].Status != commerce.CourierCancelled || callbacks[len(callbacks)-1].Reason == "" {
		c.Errorf("the callbacks are %+v", callbacks)
	}
	if slices.ContainsFunc(callbacks, func(n courier.Callback) bool { return n.Status.HasGoods() }) {
		c.Errorf("the courier had the goods: %+v", callbacks)
	}
	c.cancelled(courier.Key{ID: d.ID, Ref: d.Ref}, d) // without a change
}

// goesBack makes a courier return the goods to the store.
func (c contract) goesBack() {
	d := c.made(c.Arrange(c.T, GoesBack, c.quoted(c.request(order1))))
	callbacks := c.advance(d, commerce.CourierPending, commerce.CourierReturned)
	if len(callbacks) == 0 || callbacks[len(callbacks)-1].Status != commerce.CourierReturned {
		c.Errorf("the callbacks are %+v", callbacks)
	}
	_, err := c.Provider().Cancel(c.Context(), courier.Key{ID: d.ID, Ref: d.Ref})
	c.refused(err, courier.TooLate, "cancel")
}

// anyOrder reads callbacks in reverse order, and checks that each says the same.
func (c contract) anyOrder() {
	d := c.made(c.quoted(c.request(order1)))
	c.Move(c.T, d, commerce.CourierDone)
	posts := c.Posted(c.T)
	if len(posts) < 3 {
		c.Fatalf("a delivery posts %d callbacks", len(posts))
	}
	var forwards, backwards []courier.Callback
	for _, post := range posts {
		forwards = append(forwards, c.read(post)...)
	}
	slices.Reverse(posts)
	for _, post := range posts {
		read := c.read(post)
		slices.Reverse(read)
		backwards = append(backwards, read...)
	}
	slices.Reverse(backwards)
	if !reflect.DeepEqual(forwards, backwards) {
		c.Errorf("forwards %+v, backwards %+v", forwards, backwards)
	}
}

func (c contract) badCallbacks() {
	d := c.made(c.quoted(c.request(order1)))
	c.Move(c.T, d, commerce.CourierAssigned)
	posts := c.Posted(c.T)
	if len(posts) == 0 {
		c.Fatal("a delivery posts nothing")
	}
	for _, post := range posts {
		bad := map[string]Post{"unsigned": {http.Header{}, post.Body}}
		for what, header := range c.Forged(c.T, post.Body) {
			bad[what] = Post{header, post.Body}
		}
		for what, body := range map[string][]byte{
			"empty":       nil,
			"cut":         post.Body[:len(post.Body)-1],
			"no JSON":     []byte(`{"id":`),
			"a list":      []byte(`[]`),
			"a text":      []byte(`"delivered"`),
			"null":        []byte(`null`),
			"two in one":  []byte(`{}{}`),
			"of 10 MiB":   bytes.Repeat([]byte("x"), 10<<20),
			"wrong types": []byte(`{"id":1,"kind":[],"status":{},"delivery_id":true,"data":"x"}`),
		} {
			bad[what] = Post{c.Sign(c.T, body), body}
		}
		for what, post := range bad {
			callbacks, err := c.Provider().ReadCallback(c.Context(), post.Header, post.Body)
			if _, ok := errors.AsType[*courier.BadCallback](err); !ok || len(callbacks) > 0 {
				c.Errorf("%s: got %+v, %v, want a bad callback", what, callbacks, err)
			}
		}
		if callbacks := c.read(Post{c.Sign(c.T, post.Body), post.Body}); !reflect.DeepEqual(callbacks, c.read(post)) {
			c.Errorf("a callback that is signed again is read as %+v", callbacks)
		}
	}
}
