// Package paymenttest is the conformance suite of payment.Processor.
package paymenttest

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
)

// Harness is a processor with its surroundings.
type Harness interface {
	Processor() payment.Processor

	// Pay makes the customer pay on the session's page. It may do nothing if the page
	// accepts no payment.
	Pay(t *testing.T, session payment.Session)

	// Decline makes the customer try a card that is declined.
	Decline(t *testing.T, session payment.Session)

	// Lapse lets time pass until the session has expired.
	Lapse(t *testing.T, session payment.Session)

	// Posted returns everything that the processor has posted since the last call,
	// signed. It waits until all consequences of earlier calls have been posted.
	Posted(t *testing.T) []Post

	// Sign signs a body as the processor would at a given time.
	Sign(t *testing.T, body []byte, at time.Time) http.Header
}

// Post is a callback as it reaches the service.
type Post struct {
	Header http.Header
	Body   []byte
}

// Run runs the suite. Each test gets a new harness.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		test func(c contract)
	}{
		{"open", contract.open},
		{"open twice", contract.openTwice},
		{"no such session", contract.noSuchSession},
		{"pay", contract.pay},
		{"decline, then pay", contract.decline},
		{"expire", contract.expire},
		{"expire when paid", contract.expireWhenPaid},
		{"lapse", contract.lapse},
		{"refunds", contract.refunds},
		{"refund twice", contract.refundTwice},
		{"refund too much", contract.refundTooMuch},
		{"refund what is not paid", contract.refundUnpaid},
		{"forged callbacks", contract.badCallbacks},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(contract{t, start(t)}) })
	}
}

type contract struct {
	*testing.T
	Harness
}

const total commerce.Cents = 5740

// The orders of a test.
var (
	order1 = commerce.NewOrderID(7, 1_800_000_000_000, commerce.Entropy{1})
	order2 = commerce.NewOrderID(7, 1_800_000_000_000, commerce.Entropy{2})
)

// expiresOn is the same for all requests, because repeated requests have to be equal.
var expiresOn = time.Now().Add(time.Hour).Truncate(time.Second).UnixMilli()

func request(order string) payment.SessionRequest {
	return payment.SessionRequest{
		OrderID:   order,
		StoreName: "Harbor Street Market",
		Lines: []payment.Line{
			{Name: "Sourdough bread", ImageURL: "https://shop.example/bread.jpg", PriceCents: 650, Quantity: 2},
			{Name: "Olive oil", PriceCents: 3497, Quantity: 1},
		},
		DeliveryFeeCents: 499,
		TaxCents:         444,
		TotalCents:       total,
		CustomerEmail:    "jo@example.com",
		SuccessURL:       "https://shop.example/thanks?session={CHECKOUT_SESSION_ID}",
		CancelURL:        "https://shop.example/cart",
		ExpiresOn:        commerce.Millis(expiresOn),
	}
}

func (c contract) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// opened returns a session of a new order.
func (c contract) opened(order string) payment.Session {
	c.Helper()
	session, err := c.Processor().OpenSession(c.Context(), request(order))
	c.must(err)
	return session
}

// paid returns a session that the customer has paid, after reading its callbacks.
func (c contract) paid(order string) payment.Session {
	c.Helper()
	session := c.opened(order)
	c.Pay(c.T, session)
	c.callbacks()
	return c.is(session.ID, payment.SessionPaid, 0)
}

// is checks a session, and returns its current state.
func (c contract) is(id string, status payment.SessionStatus, refunded commerce.Cents) payment.Session {
	c.Helper()
	session, err := c.Processor().Session(c.Context(), id)
	c.must(err)
	c.check(session, id, status, refunded)
	return session
}

func (c contract) check(session payment.Session, id string, status payment.SessionStatus, refunded commerce.Cents) {
	c.Helper()
	paid := status == payment.SessionPaid
	want := payment.Session{ID: id, Status: status, URL: session.URL, PaymentID: session.PaymentID, RefundedCents: refunded}
	if paid {
		want.PaidCents = total
	}
	if session != want {
		c.Errorf("the session is %+v, want %+v", session, want)
	}
	if (session.URL != "") != (status == payment.SessionOpen) {
		c.Errorf("a session that is %s has the URL %q", status, session.URL)
	}
	if paid && session.PaymentID == "" {
		c.Error("a paid session has no payment")
	}
}

// callbacks reads everything that was posted since the last call, each post twice: a
// repeated callback has the same id.
func (c contract) callbacks() []payment.Callback {
	c.Helper()
	var all []payment.Callback
	seen := map[string]bool{}
	for _, post := range c.Posted(c.T) {
		callbacks, err := c.Processor().ReadCallback(c.Context(), post.Header, post.Body)
		c.must(err)
		again, err := c.Processor().ReadCallback(c.Context(), post.Header, post.Body)
		c.must(err)
		if len(again) != len(callbacks) {
			c.Fatalf("a callback is read as %+v, then as %+v", callbacks, again)
		}
		for i, n := range callbacks {
			if n != again[i] || n.ID == "" || seen[n.ID+string(n.Kind)] {
				c.Errorf("a callback is read as %+v, then as %+v, or came before", n, again[i])
			}
			seen[n.ID+string(n.Kind)] = true
			all = append(all, n)
		}
	}
	return all
}

// reported checks how many different events of a kind were reported since the last call,
// and returns them without the ids of callbacks: several callbacks may report one
// event.
func (c contract) reported(kind payment.CallbackKind, count int) []payment.Callback {
	c.Helper()
	var found []payment.Callback
	all := c.callbacks()
	for _, n := range all {
		n.ID = ""
		if n.Kind == kind && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	if len(found) != count {
		c.Fatalf("%d callbacks are %s, want %d: %+v", len(found), kind, count, all)
	}
	return found
}

// refused checks that err is a definite refusal.
func (c contract) refused(err error, what string) {
	c.Helper()
	if refusal, ok := errors.AsType[*payment.Refusal](err); !ok || refusal.Message == "" {
		c.Errorf("%s: got %v, want a refusal in words", what, err)
	}
}

func (c contract) open() {
	session := c.opened(order1)
	c.check(session, session.ID, payment.SessionOpen, 0)
	c.is(session.ID, payment.SessionOpen, 0)
	if callbacks := c.callbacks(); len(callbacks) > 0 {
		c.Errorf("opening reports %+v", callbacks)
	}
}

func (c contract) openTwice() {
	first, other := c.opened(order1), c.opened(order2)
	if again := c.opened(order1); again != first {
		c.Errorf("the same request gives %+v, then %+v", first, again)
	}
	if other.ID == first.ID || other.URL == first.URL {
		c.Errorf("two orders share %+v", first)
	}
	changed := request(order1)
	changed.Lines[0].PriceCents++
	changed.Lines[1].PriceCents -= 2
	_, err := c.Processor().OpenSession(c.Context(), changed)
	c.refused(err, "another request of the same order")
}

func (c contract) noSuchSession() {
	_, err := c.Processor().Session(c.Context(), "cs_test_nowhere")
	c.refused(err, "Session")
	_, err = c.Processor().ExpireSession(c.Context(), "cs_test_nowhere")
	c.refused(err, "ExpireSession")
}

func (c contract) pay() {
	session, other := c.opened(order1), c.opened(order2)
	c.Pay(c.T, session)
	paid := c.is(session.ID, payment.SessionPaid, 0)
	c.is(other.ID, payment.SessionOpen, 0)
	want := payment.Callback{Kind: payment.CallbackPaid, OrderID: order1, SessionID: session.ID, PaymentID: paid.PaymentID, AmountCents: total}
	if got := c.reported(payment.CallbackPaid, 1)[0]; got != want {
		c.Errorf("reported %+v, want %+v", got, want)
	}
}

func (c contract) decline() {
	session := c.opened(order1)
	c.Decline(c.T, session)
	c.is(session.ID, payment.SessionOpen, 0)
	for _, n := range c.callbacks() {
		if n.Kind != payment.CallbackDeclined || n.OrderID != order1 || n.Message == "" {
			c.Errorf("a decline reports %+v", n)
		}
	}
	c.Pay(c.T, session)
	c.is(session.ID, payment.SessionPaid, 0)
	c.reported(payment.CallbackPaid, 1)
}

func (c contract) expire() {
	session := c.opened(order1)
	for range 2 {
		ended, err := c.Processor().ExpireSession(c.Context(), session.ID)
		c.must(err)
		c.check(ended, session.ID, payment.SessionExpired, 0)
	}
	if n := c.reported(payment.CallbackExpired, 1)[0]; n.OrderID != order1 || n.SessionID != session.ID {
		c.Errorf("reported %+v", n)
	}
	c.Pay(c.T, session)
	c.is(session.ID, payment.SessionExpired, 0)
	c.reported(payment.CallbackPaid, 0)
}

func (c contract) expireWhenPaid() {
	session := c.paid(order1)
	ended, err := c.Processor().ExpireSession(c.Context(), session.ID)
	c.must(err)
	c.check(ended, session.ID, payment.SessionPaid, 0)
	c.reported(payment.CallbackExpired, 0)
}

func (c contract) lapse() {
	session := c.opened(order1)
	c.Lapse(c.T, session)
	c.is(session.ID, payment.SessionExpired, 0)
	c.reported(payment.CallbackExpired, 1)
}

// refund asks for a refund of a part of a session's money.
func (c contract) refund(session payment.Session, id string, amount commerce.Cents) (payment.Refund, error) {
	return c.Processor().Refund(c.Context(), payment.RefundRequest{
		ID: id, OrderID: order1, SessionID: session.ID, PaymentID: session.PaymentID, AmountCents: amount, Reason: "requested_by_customer"})
}

// refunds returns a part, with a reason in the merchant's own words, and then the
// rest.
func (c contract) refunds() {
	session := c.paid(order1)
	part, err := c.Processor().Refund(c.Context(), payment.RefundRequest{
		ID: "rfd_1", OrderID: order1, SessionID: session.ID, PaymentID: session.PaymentID, AmountCents: 1000, Reason: "The bread was stale"})
	c.must(err)
	c.is(session.ID, payment.SessionPaid, 1000)
	want := payment.Callback{Kind: payment.CallbackRefunded, OrderID: order1, PaymentID: session.PaymentID, AmountCents: 1000,
		RefundID: part.ID, OurRefundID: "rfd_1"}
	if got := c.reported(payment.CallbackRefunded, 1)[0]; got != want {
		c.Errorf("reported %+v, want %+v", got, want)
	}
	rest, err := c.refund(session, "rfd_2", total-1000)
	c.must(err)
	c.is(session.ID, payment.SessionPaid, total)
	if rest.ID == part.ID || rest.ID == "" {
		c.Errorf("the refunds are %q and %q", part.ID, rest.ID)
	}
	_, err = c.refund(session, "rfd_3", 1)
	c.refused(err, "a cent more than was paid")
}

// refundTwice repeats a refund, and then asks for another amount under the same id,
// as by mistake: nothing more is refunded.
func (c contract) refundTwice() {
	session := c.paid(order1)
	first, err := c.refund(session, "rfd_1", 1000)
	c.must(err)
	again, err := c.refund(session, "rfd_1", 1000)
	c.must(err)
	if again != first {
		c.Errorf("the same refund is %+v, then %+v", first, again)
	}
	if other, err := c.refund(session, "rfd_1", 1); err != nil {
		c.refused(err, "another amount")
	} else if other != first {
		c.Errorf("the same id is refunded as %+v, then as %+v", first, other)
	}
	c.is(session.ID, payment.SessionPaid, 1000)
	c.reported(payment.CallbackRefunded, 1)
}

func (c contract) refundTooMuch() {
	session := c.paid(order1)
	_, err := c.refund(session, "rfd_1", 4000)
	c.must(err)
	_, err = c.refund(session, "rfd_2", total-4000+1)
	c.refused(err, "a cent more than is left")
	c.is(session.ID, payment.SessionPaid, 4000)
	_, err = c.refund(session, "rfd_3", total-4000)
	c.must(err)
	c.is(session.ID, payment.SessionPaid, total)
}

func (c contract) refundUnpaid() {
	open, paid := c.opened(order1), c.paid(order2)
	stranger := paid
	stranger.PaymentID = "pi_test_nowhere"
	_, err := c.refund(open, "rfd_1", 1)
	c.refused(err, "of an open session")
	_, err = c.refund(stranger, "rfd_2", 1)
	c.refused(err, "of an unknown payment")
	c.is(paid.ID, payment.SessionPaid, 0)
	c.reported(payment.CallbackRefunded, 0)
}

func (c contract) badCallbacks() {
	c.Pay(c.T, c.opened(order1))
	posts := c.Posted(c.T)
	if len(posts) == 0 {
		c.Fatal("a payment posts nothing")
	}
	for _, post := range posts {
		changed := append(bytes.Clone(post.Body), ' ')
		for what, bad := range map[string]Post{
			"unsigned":       {http.Header{}, post.Body},
			"changed":        {post.Header, changed},
			"empty":          {post.Header, nil},
			"cut":            {post.Header, post.Body[:len(post.Body)-1]},
			"old":            {c.Sign(c.T, post.Body, time.Now().Add(-10*time.Minute)), post.Body},
			"of nonsense":    {c.Sign(c.T, []byte(`{"id":`), time.Now()), []byte(`{"id":`)},
			"of 10 MiB":      {post.Header, bytes.Repeat([]byte("x"), 10<<20)},
			"signed with ''": {http.Header{"Sandbox-Signature": {""}, "Stripe-Signature": {""}}, post.Body},
		} {
			callbacks, err := c.Processor().ReadCallback(c.Context(), bad.Header, bad.Body)
			if _, ok := errors.AsType[*payment.BadCallback](err); !ok || len(callbacks) > 0 {
				c.Errorf("%s: got %+v, %v, want a bad callback", what, callbacks, err)
			}
		}
		if _, err := c.Processor().ReadCallback(c.Context(), c.Sign(c.T, post.Body, time.Now()), post.Body); err != nil {
			c.Errorf("a callback that is signed again: %v", err)
		}
	}
}
