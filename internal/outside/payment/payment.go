// Package payment is the port to payment processors. A processor shows the customer a
// page to pay on, refunds money, and reports by callbacks what happened. It has two
// of them: the Sandbox for test mode, and Stripe.
package payment

import (
	"context"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// Processor takes payments. Its calls may be repeated: each names what it creates by
// an id of ours, and creates it once. A *Refusal is definite. After any other error
// the outcome is unknown, and the call has to be repeated.
type Processor interface {
	// OpenSession creates a page on which the customer can pay an order.
	OpenSession(ctx context.Context, r SessionRequest) (Session, error)

	// ExpireSession closes a session to payments, and returns its final state: a
	// session that was paid meanwhile stays paid.
	ExpireSession(ctx context.Context, id string) (Session, error)

	// Session reads the current state of a session, with all payments and refunds.
	Session(ctx context.Context, id string) (Session, error)

	// Refund returns money of a paid session to the customer.
	Refund(ctx context.Context, r RefundRequest) (Refund, error)

	// ReadCallback verifies the signature of a callback, and translates it. It
	// returns a *BadCallback if the signature is wrong, and an empty list for a
	// callback of no interest. After any other error the processor should post the
	// callback again.
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error)

	// CallbackForm returns what every callback of this processor has: at least one of
	// these headers, and at most maxBytes. Everything else is refused without being
	// read.
	CallbackForm() (headers []string, maxBytes int)
}

// SessionRequest is what the customer has to pay. The lines, the fee and the tax add
// up to the total. The same request returns the same session.
type SessionRequest struct {
	OrderID          string
	StoreName        string
	Lines            []Line
	DeliveryFeeCents commerce.Cents
	TaxCents         commerce.Cents
	TotalCents       commerce.Cents
	CustomerEmail    string // empty: the page asks for it
	// DeliverTo is the delivery address, line by line, for the customer to check;
	// nil: the customer collects the goods.
	DeliverTo []string
	// SuccessURL and CancelURL are where the page sends the customer. In both,
	// {CHECKOUT_SESSION_ID} stands for the session's id.
	SuccessURL, CancelURL string
	ExpiresOn             commerce.Millis
}

// Line is one line of the order.
type Line struct {
	Name       string
	ImageURL   string         // absolute http(s); empty: none
	PriceCents commerce.Cents // per piece
	Quantity   int64
}

// SessionStatus is the state of a session.
type SessionStatus string

// The statuses.
const (
	SessionOpen    SessionStatus = "open"
	SessionPending SessionStatus = "pending" // the customer has finished, but the money has not arrived
	SessionPaid    SessionStatus = "paid"
	SessionExpired SessionStatus = "expired"
)

// Session is a payment page and its state.
type Session struct {
	ID            string
	URL           string // of the page; empty if it takes no payment any more
	Status        SessionStatus
	PaymentID     string // the processor's id of the payment; empty: not paid
	PaidCents     commerce.Cents
	RefundedCents commerce.Cents // without refunds that failed later
}

// RefundRequest asks for a refund.
type RefundRequest struct {
	ID          string // our id: each is refunded once
	OrderID     string
	SessionID   string
	PaymentID   string
	AmountCents commerce.Cents
	Reason      string // duplicate, fraudulent, requested_by_customer, or free text
}

// Refund is money on its way back to the customer. If it does not arrive, a callback
// reports that.
type Refund struct {
	ID string // given by the processor
}

// Refusal is a definite refusal, in the processor's words.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return "refused by the payment processor: " + r.Message }

// BadCallback is a callback that cannot be trusted or read.
type BadCallback struct{ Reason string }

func (b *BadCallback) Error() string { return "payment notice: " + b.Reason }

// CallbackKind is the kind of event that a callback reports.
type CallbackKind string

// The kinds.
const (
	CallbackPaid         CallbackKind = "paid"          // AmountCents were captured
	CallbackPending      CallbackKind = "pending"       // the customer has finished, but the money has not arrived
	CallbackDeclined     CallbackKind = "declined"      // Message says why; the session may still be open
	CallbackExpired      CallbackKind = "expired"       // without a payment
	CallbackRefunded     CallbackKind = "refunded"      // AmountCents went back as RefundID
	CallbackRefundFailed CallbackKind = "refund_failed" // the money of RefundID came back to the merchant; Message says why
	CallbackDisputed     CallbackKind = "disputed"      // the customer's bank demands AmountCents
)

// Callback is an update of one order's payment. Callbacks may come late, in any
// order, and more than once. The JSON is as the sandbox posts it.
type Callback struct {
	ID          string         `json:"id"` // given by the processor; a repeated callback has the same
	Kind        CallbackKind   `json:"kind"`
	OrderID     string         `json:"order_id"`
	SessionID   string         `json:"session_id,omitzero"` // empty for refunds and disputes
	PaymentID   string         `json:"payment_id,omitzero"`
	AmountCents commerce.Cents `json:"amount_cents"`
	RefundID    string         `json:"refund_id,omitzero"` // the processor's id of the refund
	// OurRefundID is the id of our RefundRequest; empty for a refund that was made
	// elsewhere, as in the processor's dashboard.
	OurRefundID string `json:"our_refund_id,omitzero"`
	Message     string `json:"message,omitzero"`
}

// Watch returns p with its calls watched, under its configured name. A call that
// fails is reported to the watcher, and returns a *commerce.ProviderError. Reading
// callbacks is not watched: its errors are about what was posted to us.
func Watch(name string, p Processor, watcher watch.Watcher) Processor {
	return watched{p, watch.Calls[*Refusal]{Provider: name, Watcher: watcher}}
}

type watched struct {
	Processor
	calls watch.Calls[*Refusal]
}

func (w watched) OpenSession(ctx context.Context, r SessionRequest) (Session, error) {
	return watch.Call(ctx, w.calls, "open_session", w.Processor.OpenSession, r)
}

func (w watched) ExpireSession(ctx context.Context, id string) (Session, error) {
	return watch.Call(ctx, w.calls, "expire_session", w.Processor.ExpireSession, id)
}

func (w watched) Session(ctx context.Context, id string) (Session, error) {
	return watch.Call(ctx, w.calls, "read_session", w.Processor.Session, id)
}

func (w watched) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	return watch.Call(ctx, w.calls, "refund", w.Processor.Refund, r)
}
