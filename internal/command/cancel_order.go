package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// CancelOrder ends an order before its goods are handed over.
type CancelOrder struct {
	Facts  OrderFacts
	Actor  commerce.Actor
	Reason string // for the timeline and the audit
	// Refund also refunds what is left of the payment. The caller draws RefundID.
	Refund   bool
	RefundID string
}

// CancelResult is the order as it was cancelled.
type CancelResult struct {
	Order  commerce.Order
	Refund *commerce.Refund // nil: none was started
}

// Needs names the order, the stock of its products, its partner, payment and
// delivery, and a new refund.
func (c CancelOrder) Needs() commerce.Needs {
	n := c.Facts.needs(commerce.Cancel)
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.Deliveries = c.Facts.delivery()
	c.Facts.needAttention(&n, commerce.AttentionRefundDue)
	if c.Refund {
		n.NewRefunds = []commerce.RefundKey{c.Facts.refundKey(c.RefundID)}
	}
	return n
}

// Access implements commit.Keyed.
func (c CancelOrder) Access(rows *commerce.Rows) error { return c.Facts.access(rows, c.Actor) }

// Why is the reason for the audit.
func (c CancelOrder) Why() string { return c.Reason }

// Decide cancels in every status that is not terminal. It restores stock if and only if
// stock was deducted, whatever the status.
func (c CancelOrder) Decide(rows *commerce.Rows, now commerce.Millis) (CancelResult, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	if err := oc.transition(commerce.Cancel, c.Reason); err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	if c.Facts.Fulfillment == commerce.ByDelivery {
		oc.cancelDelivery(true)
	}
	if err := thePayment(oc); err == nil {
		c.endPayment(oc)
	}
	return CancelResult{Order: oc.order, Refund: oc.refund}, oc.finish(), nil
}

// endPayment closes an open payment session, and starts the refund that the call asks
// for. Money that it does not refund is raised as due.
func (c CancelOrder) endPayment(oc *orderChange) {
	if oc.payment.State == commerce.PaymentOpen { // the job that opens a session sees by itself that the order is over
		oc.enqueue(commerce.JobExpireSession, oc.order.ID, false)
	}
	if oc.payment.Left() == 0 {
		return
	}
	if c.Refund {
		err := oc.startRefund(commerce.Refund{ID: c.RefundID, Reason: c.Reason, Origin: commerce.RefundCancelled,
			TraceID: c.Actor.TraceID}, true)
		if err == nil {
			return
		}
	}
	oc.raiseWithoutNote(commerce.AttentionRefundDue, fmt.Sprintf("The order was cancelled; %d cents of its payment are left", oc.payment.Left()))
}
