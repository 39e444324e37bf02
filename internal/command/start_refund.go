package command

import "purveyor/internal/commerce"

// StartRefund sets money aside and asks the processor to give it back.
type StartRefund struct {
	Facts       OrderFacts
	RefundID    string         // drawn by the caller
	AmountCents commerce.Cents // 0: all that is left
	Reason      string
	TraceID     string
	Answers     commerce.ReplyKey // whose answer is the refund
}

// Needs names the order, its partner and payment, and the new refund.
func (c StartRefund) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.NewRefunds = []commerce.RefundKey{{StoreID: c.Facts.Key.StoreID, RefundID: c.RefundID}}
	return n
}

// Access implements commit.Keyed.
func (c StartRefund) Access(rows *commerce.Rows) error { return c.Facts.access(rows) }

// Decide reserves the amount. Refusals: 409 when there is no payment or nothing
// is left of it, 400 for an amount beyond what is left.
func (c StartRefund) Decide(rows *commerce.Rows, now int64) (commerce.Refund, commerce.Changes, error) {
	order, err := c.Facts.load(rows)
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	payment, ok := rows.Payments.Get(c.Facts.Key)
	if !ok {
		return commerce.Refund{}, commerce.Changes{}, commerce.NoPayment()
	}
	s := begin(order, rows, now, c.TraceID)
	refund, err := s.refund(&payment, commerce.Refund{ID: c.RefundID, AmountCents: c.AmountCents, Reason: c.Reason,
		Origin: commerce.RefundAsked, TraceID: c.TraceID, Answers: c.Answers}, true)
	if err != nil {
		return commerce.Refund{}, commerce.Changes{}, err
	}
	s.changes.Payments = []commerce.Payment{payment}
	_, changes := s.end()
	return refund, changes, nil
}

// refund reserves the amount of a refund, 0 for all that is left, and asks for
// it.
func (s *story) refund(p *commerce.Payment, r commerce.Refund, awaited bool) (commerce.Refund, error) {
	amount, err := p.Reserve(r.AmountCents)
	if err != nil {
		return r, err
	}
	p.UpdatedOn = s.now
	r.StoreID, r.OrderID, r.AmountCents = s.order.StoreID, s.order.ID, amount
	r.State, r.CreatedOn, r.UpdatedOn = commerce.RefundPending, s.now, s.now
	s.changes.Refunds = append(s.changes.Refunds, r)
	s.ask(commerce.JobRefund, r.ID, awaited)
	return r, nil
}
