package command

import "purveyor/internal/commerce"

// RefundOrder reserves money of a payment, and adds the job that asks the processor to
// refund it.
type RefundOrder struct {
	Facts       OrderFacts
	RefundID    string                // drawn by the caller
	AmountCents commerce.Cents        // 0: all that is left, or what the lines are worth
	Lines       []commerce.RefundLine // without their tax; nil: the refund is by amount
	Restock     bool                  // the pieces of the lines go back into stock
	Reason      string
	Actor       commerce.Actor
}

// Needs names the order, its partner and payment, and the new refund.
func (c RefundOrder) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.NewRefunds = []commerce.RefundKey{c.Facts.refundKey(c.RefundID)}
	return n
}

// Access implements commit.Keyed.
func (c RefundOrder) Access(rows *commerce.Rows) error { return c.Facts.access(rows, c.Actor) }

// Decide reserves the amount. Refusals: 409 when there is no payment or nothing
// is left of it, 400 for an amount, or pieces, beyond what is left.
func (c RefundOrder) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Refund, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	if err := oc.fresh(); err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	if thePayment(oc) != nil {
		return commerce.Refund{}, commerce.Changes{}, commerce.NoPayment()
	}
	refund := commerce.Refund{ID: c.RefundID, AmountCents: c.AmountCents, Restock: c.Restock, Reason: c.Reason,
		Origin: commerce.RefundAsked, TraceID: c.Actor.TraceID}
	if c.Lines != nil {
		refund.Lines, refund.AmountCents, err = oc.payment.PriceRefund(oc.order, c.Lines)
	}
	if err == nil {
		err = oc.startRefund(refund, true)
	}
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	oc.saveOrder = true // its updated_on moves with each refund
	return *oc.refund, oc.finish(), nil
}

// startRefund reserves the refund's amount and adds the job that asks the processor for
// it. An amount of 0 refunds all that is left.
func (oc *orderChange) startRefund(r commerce.Refund, awaited bool) error {
	amount, err := oc.payment.Reserve(r.AmountCents)
	if err != nil {
		return err
	}
	oc.payment.UpdatedOn = oc.now
	r.StoreID, r.OrderID, r.AmountCents = oc.order.StoreID, oc.order.ID, amount
	r.State, r.CreatedOn, r.UpdatedOn = commerce.RefundPending, oc.now, oc.now
	oc.order.LineRefunds = oc.order.LineRefunds.Add(r.Lines)
	oc.refund = &r
	oc.enqueue(commerce.JobRefund, r.ID, awaited)
	return nil
}
