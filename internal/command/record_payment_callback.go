package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// PaymentCallbackKind is a change of a payment that the processor reports and that moves
// no money.
type PaymentCallbackKind string

// The kinds.
const (
	CallbackPending  PaymentCallbackKind = "payment_pending"
	CallbackDeclined PaymentCallbackKind = "payment_declined"
	CallbackExpired  PaymentCallbackKind = "payment_session_expired"
	CallbackDisputed PaymentCallbackKind = PaymentCallbackKind(commerce.AttentionDisputed)
)

// RecordPaymentCallback adds the processor's callback to the order's timeline. The status of
// the order stays as it is (BEHAVIOUR, Lifecycle). When the page ends, so does the hold.
type RecordPaymentCallback struct {
	Facts       OrderFacts
	Kind        PaymentCallbackKind
	CallbackID  string // a repeated callback changes nothing
	Message     string // in the processor's words
	AmountCents commerce.Cents
	// Actor is the processor that reports it, or the system if a job learned of it.
	Actor commerce.Actor
	Job   *commerce.JobKey // the job that learned of it and ends with it; nil: a callback
}

// Needs names the order, its partner and its payment, and the stock of what an ended page
// gives back.
func (c RecordPaymentCallback) Needs() commerce.Needs {
	n := needsOfPayment(c.Facts, c.Job)
	switch c.Kind {
	case CallbackDisputed:
		c.Facts.needAttention(&n, commerce.AttentionDisputed)
	case CallbackExpired:
		c.Facts.needHeld(&n)
	}
	return n
}

// Decide adds a note, unless the callback is old.
func (c RecordPaymentCallback) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor, thePayment)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.endJob(c.Job)
	if !c.isNew(*oc.payment) {
		return oc.order, oc.finish(), nil
	}
	oc.payment.CallbackID, oc.payment.UpdatedOn = c.CallbackID, now
	switch c.Kind {
	case CallbackPending:
		oc.addNote(string(c.Kind), "The customer has paid; the money is still on its way")
	case CallbackDeclined:
		oc.addNote(string(c.Kind), commerce.CleanText("The payment was declined: "+c.Message, commerce.MaxNote))
	case CallbackExpired:
		oc.payment.State = commerce.PaymentExpired
		oc.addNote(string(c.Kind), "The payment session has ended; nobody has paid")
		oc.endHold()
	case CallbackDisputed:
		oc.raiseAttention(commerce.AttentionDisputed, fmt.Sprintf("The customer's bank disputes %d cents: %s", c.AmountCents, c.Message))
	}
	return oc.order, oc.finish(), nil
}

// isNew reports whether the callback is neither a duplicate nor superseded by a payment.
func (c RecordPaymentCallback) isNew(p commerce.Payment) bool {
	if c.CallbackID != "" && c.CallbackID == p.CallbackID {
		return false
	}
	if c.Kind == CallbackDisputed {
		return true
	}
	return p.State == commerce.PaymentOpening || p.State == commerce.PaymentOpen
}
