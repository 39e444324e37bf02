package command

import (
	"cmp"
	"fmt"

	"purveyor/internal/commerce"
)

// RecordRefundCallback records the processor's callback of a refund: that it was made, by us or
// in the processor's dashboard, or that the bank returned it.
type RecordRefundCallback struct {
	Facts       OrderFacts
	RefundID    string // ours, or the processor's for one that was made there
	Ref         string // of the refund at the processor
	AmountCents commerce.Cents
	Failed      bool
	Message     string         // why it failed
	Actor       commerce.Actor // the processor
}

// Needs names the rows that a refund may change, as RecordRefund does.
func (c RecordRefundCallback) Needs() commerce.Needs { return needsOfRefund(c.Facts, c.RefundID) }

// Decide brings the ledger in line with the processor. A conflict too_early makes the
// processor send the callback again, because the payment is not known yet.
func (c RecordRefundCallback) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Refund, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor, thePayment)
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	refund, known := rows.Refunds.Get(c.Facts.refundKey(c.RefundID))
	changed := refund
	oc.refund = &changed
	switch {
	case c.AmountCents <= 0 && !known, refund.State == commerce.RefundFailed, refund.State == commerce.RefundDone && !c.Failed:
		return refund, commerce.Changes{}, nil // it says nothing, or is a repetition
	case refund.State == commerce.RefundGivenUp && c.Failed: // the callback that it was made is late
		refund.State, refund.UpdatedOn = commerce.RefundFailed, now
		return refund, commerce.Changes{Refunds: []commerce.Refund{refund}}, nil
	case !c.Failed && !oc.payment.Has(cmp.Or(refund.AmountCents, c.AmountCents)):
		return refund, commerce.Changes{}, tooEarly()
	case !known && c.Failed: // there is nothing to undo, and the callback that it was made is late
		refund = c.elsewhere(now)
		refund.State, refund.Error = commerce.RefundFailed, commerce.CleanText(c.Message, commerce.MaxNote)
		return refund, commerce.Changes{Refunds: []commerce.Refund{refund}}, nil
	case !known:
		*oc.refund = c.elsewhere(now)
		oc.completeRefund(c.Ref)
	case refund.State != commerce.RefundDone:
		oc.closeRefund(!c.Failed, c.Ref, c.Message)
	default:
		oc.takeBack(c.Message)
	}
	oc.refundsKnown(refundKnown)
	return *oc.refund, oc.finish(), nil
}

// tooEarly refuses a callback for now: the payment or refund that it needs is not known yet.
func tooEarly() error {
	return commerce.Conflict("too_early", "The payment that is refunded is not known yet, or a refund that came back")
}

// elsewhere is a refund that was made in the processor's dashboard.
func (c RecordRefundCallback) elsewhere(now commerce.Millis) commerce.Refund {
	return commerce.Refund{StoreID: c.Facts.Key.StoreID, ID: c.RefundID, OrderID: c.Facts.Key.OrderID, AmountCents: c.AmountCents,
		Origin: commerce.RefundElsewhere, Ref: c.Ref, TraceID: c.Actor.TraceID, CreatedOn: now, UpdatedOn: now}
}

// takeBack enters money that the bank returned. A refunded order gets back an earlier
// status; what the refund did to couriers and stock stays. The merchant is asked to look.
func (oc *orderChange) takeBack(why string) {
	p, r := oc.payment, oc.refund
	r.State, r.UpdatedOn = commerce.RefundFailed, oc.now
	r.Error = commerce.CleanText(why, commerce.MaxNote)
	if !oc.raised(commerce.AttentionRefundFailed) {
		p.CameBackCents = 0 // what the bank returned before was refunded again, or settled
	}
	p.CameBackCents += r.AmountCents
	oc.changes.Ledger = append(oc.changes.Ledger, p.TakeBack(r.AmountCents, r.ID, r.Ref, oc.now))
	oc.order.RefundedCents = p.RefundedCents
	oc.order.LineRefunds = oc.order.LineRefunds.Remove(r.Lines, r.Restock)
	message := commerce.CleanText(fmt.Sprintf("The refund of %d cents did not arrive: %s", r.AmountCents, r.Error), commerce.MaxNote)
	oc.raiseWithoutNote(commerce.AttentionRefundFailed, message)
	oc.transitionOrEvents(commerce.RefundCameBack, message) // the status stays if the order was not refunded in full
	if oc.order.Status == commerce.RefundRequested {        // the decision is open again
		oc.raiseWithoutNote(commerce.AttentionRefundRequested, message)
	}
}
