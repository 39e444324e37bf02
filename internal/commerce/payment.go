package commerce

import "fmt"

// PaymentState is the phase of an order's card payment. It determines what moves the
// payment on.
type PaymentState string

// The states.
const (
	PaymentOpening PaymentState = "opening" // a job asks the processor for a session
	PaymentOpen    PaymentState = "open"    // the customer can pay
	PaymentRefused PaymentState = "refused" // the processor opened no session; final
	PaymentExpired PaymentState = "expired" // the session has ended; final, unless the customer paid in the last moment
	PaymentPaid    PaymentState = "paid"    // the customer has paid; refunds may follow
)

// Payment is the card payment of one order, with the balance of the order's ledger.
// CapturedCents, RefundedCents and PendingCents change only through Capture, Reserve,
// Release, Return and TakeBack. Capture, Return and TakeBack also return the ledger
// entry that explains the change.
type Payment struct {
	StoreID, OrderID      string
	Processor             string // the configured name of the processor
	SuccessURL, CancelURL string
	// StoreName and Titles are the names of the store and the products on the payment
	// page. They are kept as they were when the order was made: a processor refuses a
	// repeat under the same idempotency key if the request differs.
	StoreName string
	Titles    []LineTitle

	TraceID     string // of the request that asked for the payment
	State       PaymentState
	SessionID   string
	CheckoutURL string
	PaymentID   string // the processor's id of the payment; empty: not paid
	Error       string // why there is no session
	CallbackID  string // the last callback that has a timeline event

	CapturedCents Cents
	RefundedCents Cents
	PendingCents  Cents // reserved for refunds whose outcome is unknown
	CameBackCents Cents // of refunds that came back and were not made again
	Entries       int64 // the number of ledger entries; the next one has Seq Entries + 1
	CreatedOn     Millis
	UpdatedOn     Millis
}

// LineTitle is a line of the order as the payment page shows it.
type LineTitle struct {
	Name     string
	ImageURL string
}

// Key of the row.
func (p Payment) Key() OrderKey { return OrderKey{p.StoreID, p.OrderID} }

// Left is the amount that can still be refunded. Pending refunds count as refunded.
func (p Payment) Left() Cents { return max(0, p.CapturedCents-p.RefundedCents-p.PendingCents) }

// Has reports whether the ledger covers another refund of amount. If the processor made
// one that the ledger does not cover, the money of an earlier refund came back there,
// and the callback about it has not arrived yet.
func (p Payment) Has(amount Cents) bool { return amount <= p.CapturedCents-p.RefundedCents }

// Returned reports whether money was captured and all of it refunded.
func (p Payment) Returned() bool { return p.CapturedCents > 0 && p.RefundedCents == p.CapturedCents }

// EntryKind is the kind of a movement of an order's money.
type EntryKind string

// The kinds.
const (
	EntryCapture      EntryKind = "capture"
	EntryRefund       EntryKind = "refund"
	EntryRefundFailed EntryKind = "refund_failed" // the money of an entered refund came back
)

// LedgerEntry is one movement of an order's money. Entries are added and never changed.
// Their sum is the captured amount less the refunded amount.
type LedgerEntry struct {
	StoreID, OrderID string
	Seq              int64 // 1, 2, ... for each order
	Kind             EntryKind
	AmountCents      Cents  // above 0
	RefundID         string // empty for a capture
	Ref              string // the processor's id of the payment or refund
	CreatedOn        Millis
}

// Signed is the effect of the entry on the merchant's balance: above 0 for captures and
// for refunds that came back, below 0 for refunds.
func (e LedgerEntry) Signed() Cents {
	if e.Kind == EntryRefund {
		return -e.AmountCents
	}
	return e.AmountCents
}

// enter counts the next ledger entry and returns it.
func (p *Payment) enter(kind EntryKind, amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.Entries++
	p.UpdatedOn = now
	return LedgerEntry{StoreID: p.StoreID, OrderID: p.OrderID, Seq: p.Entries, Kind: kind, AmountCents: amount,
		RefundID: refundID, Ref: ref, CreatedOn: now}
}

// Capture records money that the customer paid.
func (p *Payment) Capture(amount Cents, paymentID string, now Millis) LedgerEntry {
	p.CapturedCents += amount
	p.State, p.PaymentID = PaymentPaid, paymentID
	return p.enter(EntryCapture, amount, "", paymentID, now)
}

// Refundable refuses a refund of an order without a payment, or with nothing left (409).
func (p Payment) Refundable() error {
	switch {
	case p.CapturedCents == 0:
		return NoPayment()
	case p.Left() == 0:
		return Conflict("already_refunded", "Nothing is left to refund: %d of %d cents are refunded, %d are on their way",
			p.RefundedCents, p.CapturedCents, p.PendingCents)
	}
	return nil
}

// Reserve sets amount aside for a refund and returns it; amount 0 stands for all that is
// left. It refuses an order without a payment or with nothing left (409), and an amount
// beyond what is left (400).
func (p *Payment) Reserve(amount Cents) (Cents, error) {
	if err := p.Refundable(); err != nil {
		return 0, err
	}
	switch left := p.Left(); {
	case amount == 0:
		amount = left
	case amount < 0 || amount > left:
		return 0, invalidAmount("amount_cents", fmt.Sprintf("amount_cents must be between 1 and %d, which is left to refund", left))
	}
	p.PendingCents += amount
	return amount, nil
}

// invalidAmount is the refusal of a refund of more, or of something else, than there is.
func invalidAmount(field, message string) *Error {
	return &Error{Kind: KindInvalid, Code: "invalid_amount", Field: field, Message: message}
}

// NoPayment is the refusal to refund an order that no processor took money for.
func NoPayment() *Error {
	return Conflict("no_processor_payment", "This order has no payment at the payment processor that could be refunded")
}

// Release ends a reservation, once the refund is made or is known never to be made.
func (p *Payment) Release(amount Cents) { p.PendingCents -= amount }

// Return records money that went back to the customer.
func (p *Payment) Return(amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.RefundedCents += amount
	return p.enter(EntryRefund, amount, refundID, ref, now)
}

// TakeBack records that the money of an entered refund came back to the merchant.
func (p *Payment) TakeBack(amount Cents, refundID, ref string, now Millis) LedgerEntry {
	p.RefundedCents -= amount
	return p.enter(EntryRefundFailed, amount, refundID, ref, now)
}

// RefundState is the phase of a refund.
type RefundState string

// The states.
const (
	RefundPending RefundState = "pending" // a job asks the processor for it, and its amount is reserved
	RefundDone    RefundState = "done"    // the processor made it, and it is in the ledger
	RefundFailed  RefundState = "failed"  // the processor refused it, or its money came back
	// RefundGivenUp is set by an operator when the processor never answered. A callback
	// may still report that the refund was made.
	RefundGivenUp RefundState = "given_up"
)

// RefundOrigin is the reason why a refund exists.
type RefundOrigin string

// The origins.
const (
	RefundAsked     RefundOrigin = "asked"     // a partner or the merchant asked for it
	RefundCancelled RefundOrigin = "cancelled" // the call that cancelled the order asked for it
	RefundLate      RefundOrigin = "late"      // the customer paid an order that was over
	RefundElsewhere RefundOrigin = "elsewhere" // it was made in the processor's dashboard
)

// Refund is a repayment of all or part of an order's money.
type Refund struct {
	StoreID     string
	ID          string // made by the service; the processor's own for RefundElsewhere
	OrderID     string
	AmountCents Cents
	Reason      string
	Origin      RefundOrigin
	TraceID     string
	// Lines are the pieces that a refund by line is about. Restock has them given back to
	// stock when the refund is made.
	Lines   []RefundLine
	Restock bool
	State   RefundState
	// TotalRefundedCents and OrderStatus describe the order right after this refund: the
	// sum of its refunds so far, and its status.
	TotalRefundedCents Cents
	OrderStatus        OrderStatus
	Ref                string // the processor's id of the refund
	Error              string // why it failed
	CreatedOn          Millis
	UpdatedOn          Millis
}

// RefundKey finds a refund.
type RefundKey struct{ StoreID, RefundID string }

// Made reports whether the money went back, also if a bank has returned it since.
func (r Refund) Made() bool { return r.TotalRefundedCents > 0 }

// Key of the row.
func (r Refund) Key() RefundKey { return RefundKey{r.StoreID, r.ID} }

// SandboxObject is the stored state of one object of a sandbox. Only the sandbox knows
// the format of Data.
type SandboxObject struct {
	ID        string
	Version   int64 // goes up with each change
	Data      []byte
	UpdatedOn Millis
}
