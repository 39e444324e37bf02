package commerce

import "fmt"

// PaymentState is where the card payment of an order stands.
type PaymentState string

// The states, each with who moves the payment on from there.
const (
	PaymentOpening PaymentState = "opening" // a job, which asks the processor for a session
	PaymentOpen    PaymentState = "open"    // the customer
	PaymentRefused PaymentState = "refused" // nobody; the processor opened no session
	PaymentExpired PaymentState = "expired" // nobody, unless the customer paid in the last moment
	PaymentPaid    PaymentState = "paid"    // refunds
)

// Payment is the card payment of one order, and the balance of its ledger.
// The three amounts move only with Capture, Reserve, Release, Return and
// TakeBack, of which each but the second and third is an entry of the ledger.
type Payment struct {
	StoreID, OrderID      string
	Processor             string // who takes it, by the name that is configured
	SuccessURL, CancelURL string
	// StoreName and Titles are what the store and the lines of the order are called
	// on the page, as they were when the order was made: under one idempotency key
	// processors take one request.
	StoreName string
	Titles    []LineTitle

	TraceID     string // of the request that asked for it
	State       PaymentState
	SessionID   string
	CheckoutURL string
	PaymentID   string // at the processor, once it is paid
	Error       string // why there is no session
	CallbackID  string // of the last callback that the timeline was told of

	CapturedCents Cents
	RefundedCents Cents
	PendingCents  Cents // of refunds that nobody knows the outcome of yet
	CameBackCents Cents // of refunds that came back and were not made again
	Entries       int64 // of the ledger; the next one has this number + 1
	CreatedOn     Millis
	UpdatedOn     Millis
}

// LineTitle is how a line is shown to who pays for it.
type LineTitle struct {
	Name     string
	ImageURL string
}

// Key of the row.
func (p Payment) Key() OrderKey { return OrderKey{p.StoreID, p.OrderID} }

// Left is what can still be refunded. Refunds in flight count as spent.
func (p Payment) Left() Cents { return max(0, p.CapturedCents-p.RefundedCents-p.PendingCents) }

// Has tells whether so much can have gone back. If not, the processor knows of
// a refund that came back, and its callback has not arrived.
func (p Payment) Has(amount Cents) bool { return amount <= p.CapturedCents-p.RefundedCents }

// Returned tells whether money was captured, and all of it given back.
func (p Payment) Returned() bool { return p.CapturedCents > 0 && p.RefundedCents == p.CapturedCents }

// EntryKind is what moved the money of an order.
type EntryKind string

// The kinds.
const (
	EntryCapture      EntryKind = "capture"
	EntryRefund       EntryKind = "refund"
	EntryRefundFailed EntryKind = "refund_failed" // a refund that was entered before came back
)

// LedgerEntry is one movement of an order's money. Entries are only ever
// added; what they sum to is what was captured and refunded.
type LedgerEntry struct {
	StoreID, OrderID string
	Seq              int64 // 1, 2, ... for each order
	Kind             EntryKind
	AmountCents      Cents  // above 0
	RefundID         string // of a refund
	Ref              string // of the payment or refund at the processor
	CreatedOn        Millis
}

// Signed is the amount as it counts for what the house has: captures and
// refunds that came back above 0, refunds below.
func (e LedgerEntry) Signed() Cents {
	if e.Kind == EntryRefund {
		return -e.AmountCents
	}
	return e.AmountCents
}

func (p *Payment) enter(kind EntryKind, amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.Entries++
	p.UpdatedOn = now
	return LedgerEntry{StoreID: p.StoreID, OrderID: p.OrderID, Seq: p.Entries, Kind: kind, AmountCents: amount,
		RefundID: refundID, Ref: ref, CreatedOn: now}
}

// Capture enters money that the customer paid.
func (p *Payment) Capture(amount Cents, paymentID string, now Millis) LedgerEntry {
	p.CapturedCents += amount
	p.State, p.PaymentID = PaymentPaid, paymentID
	return p.enter(EntryCapture, amount, "", paymentID, now)
}

// Reserve sets money aside for a refund: 409 if there is none to refund, 400
// for an amount beyond what is left; 0 is all that is left.
func (p *Payment) Reserve(amount Cents) (Cents, error) {
	left := p.Left()
	switch {
	case p.CapturedCents == 0:
		return 0, NoPayment()
	case left == 0:
		return 0, Conflict("already_refunded", "Nothing is left to refund: %d of %d cents are refunded, %d are on their way",
			p.RefundedCents, p.CapturedCents, p.PendingCents)
	case amount == 0:
		amount = left
	case amount < 0 || amount > left:
		return 0, &Error{Kind: KindInvalid, Code: "invalid_amount", Field: "amount_cents",
			Message: fmt.Sprintf("amount_cents must be between 1 and %d, which is left to refund", left)}
	}
	p.PendingCents += amount
	return amount, nil
}

// NoPayment is the refusal to refund what no processor has taken.
func NoPayment() *Error {
	return Conflict("no_processor_payment", "This order has no payment at the payment processor that could be refunded")
}

// Release ends a reservation: the refund was made, or never will be.
func (p *Payment) Release(amount Cents) { p.PendingCents -= amount }

// Return enters money that went back to the customer.
func (p *Payment) Return(amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.RefundedCents += amount
	return p.enter(EntryRefund, amount, refundID, ref, now)
}

// TakeBack enters a refund that did not arrive: its money is here again.
func (p *Payment) TakeBack(amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.RefundedCents -= amount
	return p.enter(EntryRefundFailed, amount, refundID, ref, now)
}

// RefundState is where a refund stands.
type RefundState string

// The states.
const (
	RefundPending RefundState = "pending" // a job asks the processor for it; its amount is reserved
	RefundDone    RefundState = "done"    // it is in the ledger
	RefundFailed  RefundState = "failed"  // refused, or it came back
	// An operator gave it up, without an answer of the processor, which may still tell
	// that it was made.
	RefundGivenUp RefundState = "given_up"
)

// RefundOrigin is what a refund was made for.
type RefundOrigin string

// The origins.
const (
	RefundAsked     RefundOrigin = "asked"     // a partner or a merchant
	RefundCancelled RefundOrigin = "cancelled" // by the call that cancelled the order
	RefundLate      RefundOrigin = "late"      // the customer paid an order that was over
	RefundElsewhere RefundOrigin = "elsewhere" // in the processor's dashboard
)

// Refund is money of one order on its way back to the customer.
type Refund struct {
	StoreID     string
	ID          string // of ours; of the processor's for one that was made there
	OrderID     string
	AmountCents Cents
	Reason      string
	Origin      RefundOrigin
	TraceID     string
	State       RefundState
	// TotalRefundedCents and OrderStatus are what the refund made of the order: the
	// sum of its refunds up to this one, and its status then.
	TotalRefundedCents Cents
	OrderStatus        OrderStatus
	Ref                string // at the processor
	Error              string // why it failed
	CreatedOn          Millis
	UpdatedOn          Millis
}

// RefundKey finds a refund.
type RefundKey struct{ StoreID, RefundID string }

// Key of the row.
func (r Refund) Key() RefundKey { return RefundKey{r.StoreID, r.ID} }

// SandboxObject is the state of one thing in a sandbox, which only the
// sandbox understands.
type SandboxObject struct {
	ID        string
	Version   int64 // goes up with each change
	Data      []byte
	UpdatedOn Millis
}
