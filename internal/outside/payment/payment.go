// Package payment is the port to payment processors. A processor shows the
// customer a page to pay on, gives money back, and tells by callbacks what
// happened. There are two: the Sandbox, for test mode, and Stripe.
package payment

import (
	"context"
	"net/http"

	"purveyor/internal/commerce"
)

// Processor takes payments. Its calls may be repeated: what they make is known
// by an id of ours, and made once. An error is either a *Refusal, which is
// definite, or says that nobody knows whether the call had an effect: then it
// is to be repeated.
type Processor interface {
	// OpenSession opens a page on which the customer can pay an order.
	OpenSession(ctx context.Context, r SessionRequest) (Session, error)

	// ExpireSession ends a session, so that nobody can pay on its page any more, and
	// returns what became of it: one that was paid meanwhile stays paid.
	ExpireSession(ctx context.Context, id string) (Session, error)

	// Session reads a session as it is now, with all that was paid and returned.
	Session(ctx context.Context, id string) (Session, error)

	// Refund gives money of a paid session back.
	Refund(ctx context.Context, r RefundRequest) (Refund, error)

	// ReadCallback translates what the processor has posted to us, once its signature
	// is found to be right; a *BadCallback if it is not. A callback of no interest is
	// an empty list. Any other error asks for the callback to be sent again.
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error)

	// CallbackForm says what every callback has, so that anything else is refused
	// unread: one of these headers at least, and at most so many bytes.
	CallbackForm() (headers []string, maxBytes int)
}

// SessionRequest is what the customer is to pay. The lines, the fee and the tax
// sum to the total. The same request gives the same session.
type SessionRequest struct {
	OrderID          string
	StoreName        string
	Lines            []Line
	DeliveryFeeCents commerce.Cents
	TaxCents         commerce.Cents
	TotalCents       commerce.Cents
	CustomerEmail    string // empty: the page asks
	// DeliverTo is where the goods are brought, line by line, for the customer to
	// check; nil: the customer collects them.
	DeliverTo []string
	// SuccessURL and CancelURL are where the page leads to. In both, the text
	// {CHECKOUT_SESSION_ID} stands for the session's id.
	SuccessURL, CancelURL string
	ExpiresOn             int64 // Unix ms
}

// Line is one line of what is bought.
type Line struct {
	Name       string
	ImageURL   string         // absolute http(s); empty: none
	PriceCents commerce.Cents // of one piece
	Quantity   int64
}

// SessionStatus is where a session stands.
type SessionStatus string

// The statuses.
const (
	SessionOpen    SessionStatus = "open"
	SessionPending SessionStatus = "pending" // the customer is done, the money is not there yet
	SessionPaid    SessionStatus = "paid"
	SessionExpired SessionStatus = "expired"
)

// Session is one payment page and what became of it.
type Session struct {
	ID            string
	URL           string // of the page; empty once it can no longer be paid
	Status        SessionStatus
	PaymentID     string // of the payment at the processor; empty: not paid
	PaidCents     commerce.Cents
	RefundedCents commerce.Cents // refunds that failed later are not in it
}

// RefundRequest is money to give back.
type RefundRequest struct {
	ID          string // ours: the same id is refunded once
	OrderID     string
	SessionID   string
	PaymentID   string
	AmountCents commerce.Cents
	Reason      string // duplicate, fraudulent, requested_by_customer, or free text
}

// Refund is money that was given back, or is under way to the customer: should
// it not arrive, a callback tells.
type Refund struct {
	ID string // at the processor
}

// Refusal is a definite no, in the processor's words.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return "refused by the payment processor: " + r.Message }

// BadCallback is a callback that nobody can trust or read.
type BadCallback struct{ Reason string }

func (b *BadCallback) Error() string { return "payment notice: " + b.Reason }

// CallbackKind is what a callback tells of.
type CallbackKind string

// The kinds.
const (
	CallbackPaid         CallbackKind = "paid"          // AmountCents were captured
	CallbackPending      CallbackKind = "pending"       // the customer is done, the money is not there yet
	CallbackDeclined     CallbackKind = "declined"      // Message says why; the session may still be open
	CallbackExpired      CallbackKind = "expired"       // nobody paid
	CallbackRefunded     CallbackKind = "refunded"      // AmountCents went back as RefundID
	CallbackRefundFailed CallbackKind = "refund_failed" // they came back; Message says why
	CallbackDisputed     CallbackKind = "disputed"      // the customer's bank asks for AmountCents
)

// Callback is news of one order's payment. Callbacks may come late, in any order,
// and more than once.
type Callback struct {
	ID          string // at the processor: the same for a repeated callback
	Kind        CallbackKind
	OrderID     string
	SessionID   string // empty for refunds and disputes
	PaymentID   string
	AmountCents commerce.Cents
	// RefundID is the id of the refund at the processor, OurRefundID that of the
	// RefundRequest; empty: it was made elsewhere, in the processor's dashboard.
	RefundID, OurRefundID string
	Message               string
}
