package command

import (
	"cmp"
	"errors"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// RecordRefund ends the job of a refund, or the try that failed. With it the
// answer of who asked for the refund is decided.
type RecordRefund struct {
	RecordJob
	Facts    OrderFacts
	RefundID string
	Answers  commerce.ReplyKey // of the refund
	Ref      string            // of the refund at the processor
	Refused  string            // why it gave nothing back; empty: it did
}

// Needs names all that a full refund may end: the order with the stock of its
// products, its partner and payment; the refund, the job and the open reply.
func (c RecordRefund) Needs() commerce.Needs {
	n := needsOfRefund(c.Facts, c.RefundID)
	n.Jobs = c.RecordJob.Needs().Jobs
	if c.Answers.Key != "" {
		n.OpenReplies = []commerce.ReplyKey{c.Answers}
	}
	return n
}

func needsOfRefund(f OrderFacts, refundID string) commerce.Needs {
	n := f.needs()
	n.Stock = commerce.ProductKeys(f.Key.StoreID, f.Lines)
	n.Payments = []commerce.OrderKey{f.Key}
	n.Deliveries = f.delivery()
	n.Refunds = []commerce.RefundKey{{StoreID: f.Key.StoreID, RefundID: refundID}}
	f.mayRaise(&n, commerce.ResolvedBy(commerce.RefundInFull)...)
	f.mayRaise(&n, commerce.AttentionRefundUnknown, commerce.AttentionRefundAfterAll)
	return n
}

// Decide enters the refund, or gives its amount free again. While the
// processor cannot be reached, the amount stays reserved.
func (c RecordRefund) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	order, payment, err := loadPaid(rows, c.Facts)
	refund, ok := rows.Refunds.Get(commerce.RefundKey{StoreID: c.Facts.Key.StoreID, RefundID: c.RefundID})
	if !ok || err != nil {
		return c.Job, commerce.Changes{}, errors.Join(err, errors.New("the refund of the job is not there"))
	}
	made := c.Refused == "" && c.Failed == nil
	// A try that stalled may have made the refund although an operator gave it up meanwhile.
	late := made && refund.State == commerce.RefundGivenUp
	if made && (late || refund.State == commerce.RefundPending) && !payment.Has(refund.AmountCents) {
		c.Failed = tooEarly()
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil {
		return job, changes, err
	}
	s := begin(order, rows, now, refund.TraceID)
	s.changes = changes
	if c.Refused != commerce.ProcessorRefusesUs {
		s.credentials(c.Failed, commerce.ProcessorRefusesUs)
	}
	s.givenUp(c.RecordJob)
	switch {
	case c.GivenUpBy != "":
		c.Refused = job.Error
	case c.Failed != nil && !job.Over():
		return job, s.endIfMoved(order), nil
	case c.Failed != nil: // the outcome is not known, and no worker asks again
		if !s.raised(commerce.AttentionRefundUnknown) { // a repeat of the key had it tried once more
			s.flag(commerce.AttentionRefundUnknown, fmt.Sprintf("Whether %d cents were refunded is not known (%s): %s", refund.AmountCents, refund.ID, job.Error))
		}
		_, changes = s.end()
		return job, changes, nil
	}
	switch {
	case late:
		s.completeGivenUp(rows, &payment, &refund, c.Ref)
	case refund.State == commerce.RefundPending: // else a callback was faster
		payment.Release(refund.AmountCents)
		if c.Refused != "" {
			s.refuseRefund(&refund, c.Refused)
			if c.GivenUpBy != "" {
				refund.State = commerce.RefundGivenUp
				s.raise(commerce.AttentionRefundDue, fmt.Sprintf("%d cents were not refunded: %s", refund.AmountCents, refund.Error))
			}
		} else {
			s.completeRefund(rows, &payment, &refund, c.Ref)
		}
	}
	s.refundsKnown(payment, cmp.Or(c.GivenUpBy, refundKnown))
	c.answer(rows, s, refund)
	s.changes.Payments, s.changes.Refunds = []commerce.Payment{payment}, []commerce.Refund{refund}
	_, changes = s.end()
	return job, changes, nil
}

// refundKnown resolves a reason when the processor has told what became of a refund.
const refundKnown = commerce.OrderItself + "refund_known"

// refundsKnown ends the search for the outcome of refunds once that of every refund
// of the order is known.
func (s *story) refundsKnown(p commerce.Payment, by string) {
	if unknown := s.attention(commerce.AttentionRefundUnknown); unknown.Open() && p.PendingCents == 0 {
		s.setAttention(unknown.Resolve(by, s.now))
	}
}

// answer closes the reply, or releases the key of a refund that was refused:
// the call may be repeated, and is a new refund then.
func (c RecordRefund) answer(rows *commerce.Rows, s *story, refund commerce.Refund) {
	if c.Answers.Key == "" {
		return
	}
	reply, ok := c.openReply(rows, c.Answers)
	if !ok {
		return
	}
	done := refund.State == commerce.RefundDone
	switch {
	case refund.Origin == commerce.RefundCancelled:
		reply.Body = cancelledWith(reply.Body, refund)
	case done:
		reply.Body = wire.Encode(wire.RefundAnswer{OK: true, OrderID: s.order.ID, PaymentsRefundID: refund.ID,
			AmountRefundedCents: refund.AmountCents, TotalRefundedCents: refund.TotalRefundedCents, Status: refund.OrderStatus})
	default:
		s.changes.Released = []commerce.ReplyKey{c.Answers}
		return
	}
	reply.Status, reply.Job = wire.StatusOK, commerce.JobKey{}
	s.changes.Replies = []commerce.Reply{reply}
}

// cancelledWith is the answer of the call that cancelled the order, with what
// became of its refund.
func cancelledWith(meanwhile []byte, refund commerce.Refund) []byte {
	answer, err := wire.ParseCancelAnswer(meanwhile)
	if err != nil {
		return meanwhile
	}
	answer.Refund = &wire.CancelRefund{PaymentsRefundID: refund.ID, Error: refund.Error}
	if refund.State == commerce.RefundDone {
		answer.Refund.AmountRefundedCents = refund.AmountCents
	}
	return wire.Encode(answer)
}

// completeRefund enters money that went back. When all of it did, the order is
// refunded; goods that were not handed over stay.
func (s *story) completeRefund(rows *commerce.Rows, p *commerce.Payment, r *commerce.Refund, ref string) {
	r.State, r.Ref, r.UpdatedOn = commerce.RefundDone, ref, s.now
	s.changes.Ledger = append(s.changes.Ledger, p.Return(r.AmountCents, r.ID, ref, s.now))
	s.order.RefundedCents = p.RefundedCents
	previous := s.order.Status
	var moves []wire.InventoryMove
	s.refundAgain(p, r)
	if p.Returned() {
		s.resolveBy(commerce.RefundInFull)
		if _, err := s.order.Check(commerce.RefundInFull); err == nil {
			moves = s.stopFulfilment(rows)
			s.order = s.order.RefundInFull()
		}
	}
	r.TotalRefundedCents, r.OrderStatus = p.RefundedCents, s.order.Status
	s.tell(commerce.TimelineRefunded, "", wire.RefundData(*r, p.RefundedCents, moves))
	s.notify(commerce.WebhookRefunded, wire.RefundEventData(s.order, previous, *r))
}

// refundAgain sets a refund off against money that came back before the refund was
// asked for. Once all of that was refunded again, the merchant need not look any more.
func (s *story) refundAgain(p *commerce.Payment, r *commerce.Refund) {
	failed := s.attention(commerce.AttentionRefundFailed)
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
		s.resolve(string(commerce.WebhookRefunded), commerce.AttentionRefundFailed)
	}
}

// completeGivenUp enters a refund that an operator gave up and that was made all
// the same. Nothing is reserved for it any more.
func (s *story) completeGivenUp(rows *commerce.Rows, p *commerce.Payment, r *commerce.Refund, ref string) {
	s.flag(commerce.AttentionRefundAfterAll, fmt.Sprintf("The payment processor has made the refund of %d cents (%s) although it was %s; the money may have gone back twice",
		r.AmountCents, r.ID, r.Error))
	r.Error = ""
	s.completeRefund(rows, p, r, ref)
}

// stopFulfilment does what cancelling does, if there is anything left to fulfil.
// It returns what came back into stock.
func (s *story) stopFulfilment(rows *commerce.Rows) []wire.InventoryMove {
	if !s.order.StillToFulfil() {
		return nil
	}
	if s.order.Fulfillment == commerce.ByDelivery {
		s.cancelDelivery(rows, commerce.ReplyKey{})
	}
	return s.restore(rows)
}

// refuseRefund records that nothing went back. What was to happen by itself,
// or along with something else, needs somebody to look; so does money of a
// cancelled order, for cancelling took it to be on its way.
func (s *story) refuseRefund(r *commerce.Refund, why string) {
	r.State, r.UpdatedOn = commerce.RefundFailed, s.now
	r.Error = commerce.CleanText(why, commerce.MaxNote)
	message := commerce.CleanText(fmt.Sprintf("%d cents were not refunded: %s", r.AmountCents, r.Error), commerce.MaxNote)
	if r.Origin == commerce.RefundAsked {
		s.note("refund_refused", message)
		if s.order.Status == commerce.Cancelled {
			s.raise(commerce.AttentionRefundDue, message)
		}
		return
	}
	s.flag(commerce.AttentionRefundDue, message)
}
