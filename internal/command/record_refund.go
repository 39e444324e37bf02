package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// RecordRefund records the outcome of an attempt of a refund's job. It decides the answer of
// the call that asked for the refund.
type RecordRefund struct {
	RecordJob
	Facts    OrderFacts
	RefundID string
	Ref      string // of the refund at the processor
	Refused  string // why the processor refunded nothing; empty: it did
}

// Needs names the rows that a full refund may change: the order with the stock of its
// products, its partner, payment and delivery; the refund and the job.
func (c RecordRefund) Needs() commerce.Needs {
	n := needsOfRefund(c.Facts, c.RefundID)
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

func needsOfRefund(f OrderFacts, refundID string) commerce.Needs {
	n := f.needs(commerce.RefundInFull)
	n.Payments = []commerce.OrderKey{f.Key}
	n.Deliveries = f.delivery()
	n.Refunds = []commerce.RefundKey{f.refundKey(refundID)}
	f.needAttention(&n, commerce.AttentionRefundUnknown, commerce.AttentionRefundAfterAll)
	return n
}

// Decide enters the refund, or releases its amount. While the processor cannot be reached,
// the amount stays reserved.
func (c RecordRefund) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	oc, err := c.begin(c.Facts, rows, now, thePayment, theRefund(c.RefundID))
	if oc == nil {
		return Recorded{Job: c.Job}, commerce.Changes{}, err
	}
	refund := *oc.refund
	oc.by.TraceID = refund.TraceID
	if c.Facts.Fulfillment == commerce.ByDelivery { // the answer of a cancellation shows it
		oc.delivery, _ = find(&rows.Deliveries, c.Facts.Key, "delivery")
	}
	made := c.Refused == "" && c.Failed == nil
	// A try that stalled may have made the refund although an operator gave it up meanwhile.
	late := refund.State == commerce.RefundGivenUp
	if made && (late || refund.State == commerce.RefundPending) && !oc.payment.Has(refund.AmountCents) {
		c.Failed = tooEarly()
	}
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	if c.Refused != commerce.ProcessorRefusesUs {
		oc.recordCredentials(c.Failed, commerce.ProcessorRefusesUs)
	}
	switch {
	case c.isGivenUp():
		c.Refused = oc.job.Error
	case c.Failed != nil:
		if oc.job.Over() && !oc.raised(commerce.AttentionRefundUnknown) { // no worker asks again, unless a repeat of the key has it tried once more
			oc.raiseAttention(commerce.AttentionRefundUnknown, fmt.Sprintf("Whether %d cents were refunded is not known (%s): %s", refund.AmountCents, refund.ID, oc.job.Error))
		}
		return oc.recorded(commerce.Undecided)
	}
	oc.closeRefund(c.Refused == "", c.Ref, c.Refused)
	if c.isGivenUp() {
		if refund.State == commerce.RefundPending { // otherwise a callback was faster
			oc.refund.State = commerce.RefundGivenUp
			oc.raiseWithoutNote(commerce.AttentionRefundDue, fmt.Sprintf("%d cents were not refunded: %s", refund.AmountCents, oc.refund.Error))
		}
		oc.refundsKnown(c.GivenUpBy.Name())
	} else {
		oc.refundsKnown(refundKnown)
	}
	if oc.refund.State != commerce.RefundDone && oc.refund.Origin != commerce.RefundCancelled {
		return oc.recorded(commerce.Refused) // the call can be repeated, and is then a new refund
	}
	return oc.recorded(commerce.Decided)
}

// refundKnown is what resolves a reason when the processor has reported the outcome of a
// refund.
const refundKnown = commerce.OrderItself + "refund_known"

// refundsKnown resolves refund_unknown once the outcome of every refund of the order is
// known.
func (oc *orderChange) refundsKnown(by string) {
	if unknown := oc.attention(commerce.AttentionRefundUnknown); unknown.Open() && oc.payment.PendingCents == 0 {
		oc.setAttention(unknown.Resolve(by, oc.now))
	}
}

// closeRefund enters the refund that the command is about if the processor made it, and else
// releases its amount. A refund whose outcome is known already stays as it is.
func (oc *orderChange) closeRefund(made bool, ref, why string) {
	switch state := oc.refund.State; {
	case state == commerce.RefundGivenUp && made:
		oc.completeGivenUp(ref)
	case state == commerce.RefundPending && made:
		oc.payment.Release(oc.refund.AmountCents)
		oc.completeRefund(ref)
	case state == commerce.RefundPending:
		oc.payment.Release(oc.refund.AmountCents)
		oc.refuseRefund(why)
	}
}

// completeRefund enters money that went back, of the refund that the command is about. When
// all of the payment went back, the order is refunded, and goods that were not handed over
// stay in the store.
func (oc *orderChange) completeRefund(ref string) {
	p, r := oc.payment, oc.refund
	r.State, r.Ref, r.UpdatedOn = commerce.RefundDone, ref, oc.now
	oc.changes.Ledger = append(oc.changes.Ledger, p.Return(r.AmountCents, r.ID, ref, oc.now))
	oc.order.RefundedCents = p.RefundedCents
	oc.offsetReturnedRefund()
	_, partial := oc.check(commerce.RefundInFull)
	stops := partial == nil && oc.order.StillToFulfil()
	if stops && oc.order.Fulfillment == commerce.ByDelivery {
		oc.cancelDelivery(false)
	}
	if r.Restock && !stops {
		oc.giveBack(oc.order.GiveBack(r.Lines))
	}
	oc.transitionOrEvents(commerce.RefundInFull, "") // the status stays if a part of the payment is left
	if r.Restock && stops {
		oc.order.GiveBack(r.Lines) // with the rest of the goods, just now
	}
	r.TotalRefundedCents, r.OrderStatus = p.RefundedCents, oc.order.Status
}

// offsetReturnedRefund sets a refund off against money that the bank returned before the
// refund was asked for. Once all of that was refunded again, it resolves refund_failed.
func (oc *orderChange) offsetReturnedRefund() {
	p, r := oc.payment, oc.refund
	failed := oc.attention(commerce.AttentionRefundFailed)
	if !failed.Open() {
		return
	}
	if r.CreatedOn > failed.Since {
		p.CameBackCents = max(0, p.CameBackCents-r.AmountCents)
	}
	if p.Returned() {
		p.CameBackCents = 0
	}
	if p.CameBackCents == 0 {
		oc.resolve(string(commerce.WebhookRefunded), commerce.AttentionRefundFailed)
	}
}

// completeGivenUp enters a refund that the processor made although an operator had given it
// up. Its amount is no longer reserved.
func (oc *orderChange) completeGivenUp(ref string) {
	r := oc.refund
	oc.raiseAttention(commerce.AttentionRefundAfterAll, fmt.Sprintf("The payment processor has made the refund of %d cents (%s) although it was %s; the money may have gone back twice",
		r.AmountCents, r.ID, r.Error))
	r.Error = ""
	oc.order.LineRefunds = oc.order.LineRefunds.Add(r.Lines)
	oc.completeRefund(ref)
}

// refuseRefund records that the processor refunded nothing. The merchant is asked to look at
// a refund that the service started by itself or along with a cancellation, and at any
// refund of a cancelled order, because cancelling counted its money as on the way.
func (oc *orderChange) refuseRefund(why string) {
	r := oc.refund
	r.State, r.UpdatedOn = commerce.RefundFailed, oc.now
	r.Error = commerce.CleanText(why, commerce.MaxNote)
	oc.order.LineRefunds = oc.order.LineRefunds.Remove(r.Lines, false)
	message := commerce.CleanText(fmt.Sprintf("%d cents were not refunded: %s", r.AmountCents, r.Error), commerce.MaxNote)
	if r.Origin == commerce.RefundAsked {
		oc.addNote("refund_refused", message)
		if oc.order.Status == commerce.Cancelled {
			oc.raiseWithoutNote(commerce.AttentionRefundDue, message)
		}
		return
	}
	oc.raiseAttention(commerce.AttentionRefundDue, message)
}
