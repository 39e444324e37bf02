package command

import (
	"cmp"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// RecordRefundCallback records what the processor tells of a refund: that it was
// made, here or in the processor's dashboard, or that it did not arrive.
type RecordRefundCallback struct {
	Facts       OrderFacts
	RefundID    string // ours, or the processor's for one that was made there
	Ref         string // of the refund at the processor
	AmountCents commerce.Cents
	Failed      bool
	Message     string // why it failed
	TraceID     string
}

// Needs names what a refund moves, as those of RecordRefund.
func (c RecordRefundCallback) Needs() commerce.Needs { return needsOfRefund(c.Facts, c.RefundID) }

// Decide brings the ledger to what the processor says. A conflict too_early
// asks for the callback to be sent again: the payment is not known yet.
func (c RecordRefundCallback) Decide(rows *commerce.Rows, now int64) (commerce.Refund, commerce.Changes, error) {
	order, payment, err := loadPaid(rows, c.Facts)
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	refund, known := rows.Refunds.Get(commerce.RefundKey{StoreID: c.Facts.Key.StoreID, RefundID: c.RefundID})
	s := begin(order, rows, now, c.TraceID)
	switch {
	case c.AmountCents <= 0 && !known, refund.State == commerce.RefundFailed, refund.State == commerce.RefundDone && !c.Failed:
		return refund, commerce.Changes{}, nil // it says nothing, or was told before
	case refund.State == commerce.RefundGivenUp && c.Failed: // what tells that it was made is late
		refund.State, refund.UpdatedOn = commerce.RefundFailed, now
		return refund, commerce.Changes{Refunds: []commerce.Refund{refund}}, nil
	case !c.Failed && !payment.Has(cmp.Or(refund.AmountCents, c.AmountCents)):
		return refund, commerce.Changes{}, tooEarly()
	case !known && c.Failed: // nothing to undo, and what tells that it was made is late
		refund = c.elsewhere(now)
		refund.State, refund.Error = commerce.RefundFailed, commerce.CleanText(c.Message, commerce.MaxNote)
		return refund, commerce.Changes{Refunds: []commerce.Refund{refund}}, nil
	case !known:
		refund = c.elsewhere(now)
		s.completeRefund(rows, &payment, &refund, c.Ref)
	case refund.State == commerce.RefundPending && c.Failed:
		payment.Release(refund.AmountCents)
		s.refuseRefund(&refund, c.Message)
	case refund.State == commerce.RefundGivenUp:
		s.completeGivenUp(rows, &payment, &refund, c.Ref)
	case refund.State == commerce.RefundPending:
		payment.Release(refund.AmountCents)
		s.completeRefund(rows, &payment, &refund, c.Ref)
	default:
		s.takeBack(&payment, &refund, c.Message)
	}
	s.refundsKnown(payment, refundKnown)
	s.changes.Payments, s.changes.Refunds = []commerce.Payment{payment}, []commerce.Refund{refund}
	_, changes := s.end()
	return refund, changes, nil
}

// tooEarly asks for a refund to be told again: what it needs is not known yet.
func tooEarly() error {
	return commerce.Conflict("too_early", "The payment that is refunded is not known yet, or a refund that came back")
}

// elsewhere is a refund that was made in the processor's dashboard.
func (c RecordRefundCallback) elsewhere(now int64) commerce.Refund {
	return commerce.Refund{StoreID: c.Facts.Key.StoreID, ID: c.RefundID, OrderID: c.Facts.Key.OrderID, AmountCents: c.AmountCents,
		Origin: commerce.RefundElsewhere, Ref: c.Ref, TraceID: c.TraceID, CreatedOn: now, UpdatedOn: now}
}

// takeBack enters money that did not arrive. An order that was refunded is not
// any more; what that refund did to couriers and stock stays. The merchant is to
// find another way, or to refund again.
func (s *story) takeBack(p *commerce.Payment, r *commerce.Refund, why string) {
	r.State, r.UpdatedOn = commerce.RefundFailed, s.now
	r.Error = commerce.CleanText(why, commerce.MaxNote)
	if !s.raised(commerce.AttentionRefundFailed) {
		p.CameBackCents = 0 // what came back before was refunded again, or settled
	}
	p.CameBackCents += r.AmountCents
	s.changes.Ledger = append(s.changes.Ledger, p.TakeBack(r.AmountCents, r.ID, r.Ref, s.now))
	s.order.RefundedCents = p.RefundedCents
	previous := s.order.Status
	if _, err := s.order.Check(commerce.RefundCameBack); err == nil {
		s.order = s.order.Unrefund()
	}
	s.flag(commerce.AttentionRefundFailed, fmt.Sprintf("The refund of %d cents did not arrive: %s", r.AmountCents, r.Error))
	s.notify(commerce.WebhookRefundFailed, wire.RefundFailedEventData(s.order, previous, *r))
}
