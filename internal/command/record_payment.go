package command

import (
	"cmp"
	"fmt"

	"purveyor/internal/commerce"
)

// RecordPayment records that the customer has paid. The processor may report it twice and
// late.
type RecordPayment struct {
	Facts       OrderFacts
	SessionID   string
	PaymentID   string // at the processor
	AmountCents commerce.Cents
	// Actor is the processor that reports it, or the system if a job learned of it.
	Actor commerce.Actor
	Job   *commerce.JobKey // the job that learned of it and ends with it; nil: a callback
}

func (c RecordPayment) refundKey() commerce.RefundKey {
	return commerce.RefundKey{StoreID: c.Facts.Key.StoreID, RefundID: commerce.LateRefundID(c.Facts.Key.OrderID)}
}

// Needs names the order, its partner and payment, and a new refund.
func (c RecordPayment) Needs() commerce.Needs {
	n := needsOfPayment(c.Facts, c.Job)
	n.NewRefunds = []commerce.RefundKey{c.refundKey()}
	c.Facts.needAttention(&n, commerce.AttentionPaymentMismatch, commerce.AttentionSecondPayment)
	return n
}

// Decide moves the order to paid if it waits for exactly this amount. Another amount is
// kept, and the merchant is asked to look. Money for an order that is over goes back at
// once.
func (c RecordPayment) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor, thePayment)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.endJob(c.Job)
	if oc.payment.CapturedCents > 0 {
		c.again(oc)
		return oc.order, oc.finish(), nil
	}
	oc.changes.Ledger = []commerce.LedgerEntry{oc.payment.Capture(c.AmountCents, c.PaymentID, now)}
	oc.payment.SessionID = cmp.Or(oc.payment.SessionID, c.SessionID)
	_, over := oc.order.Check(commerce.PaymentSucceeded)
	switch {
	case oc.tryTransition(commerce.PaymentSucceeded, ""):
	case over == nil:
		oc.raiseAttention(commerce.AttentionPaymentMismatch, fmt.Sprintf("%d cents were paid, but the total is %d; the order is not marked as paid", c.AmountCents, oc.order.TotalCents))
	default:
		oc.addNote("payment_too_late", fmt.Sprintf("The customer paid %d cents when the order was %s already; the money goes back", c.AmountCents, oc.order.Status))
		if err := oc.startRefund(commerce.Refund{ID: c.refundKey().RefundID, Origin: commerce.RefundLate, TraceID: c.Actor.TraceID}, false); err != nil {
			return commerce.Order{}, commerce.Changes{}, err
		}
	}
	return oc.order, oc.finish(), nil
}

// again records a report for an order that is paid. The same payment changes nothing; for
// a second payment the merchant is asked to look.
func (c RecordPayment) again(oc *orderChange) {
	if oc.payment.PaymentID != c.PaymentID && !oc.raised(commerce.AttentionSecondPayment) {
		oc.raiseAttention(commerce.AttentionSecondPayment, fmt.Sprintf("The customer paid %d cents once more (%s); look at the payment processor", c.AmountCents, c.PaymentID))
	}
}

// needsOfPayment names an order, its partner and payment, and the job that learned of the
// change, if one did.
func needsOfPayment(f OrderFacts, job *commerce.JobKey) commerce.Needs {
	n := f.needs()
	n.Payments = []commerce.OrderKey{f.Key}
	if job != nil {
		n.Jobs = []commerce.JobKey{*job}
	}
	return n
}

// endJob ends the job that learned of the change. job is nil when a callback did.
func (oc *orderChange) endJob(job *commerce.JobKey) {
	if job != nil {
		oc.changes.DoneJobs = []commerce.JobKey{*job}
	}
}
