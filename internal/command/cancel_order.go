package command

import (
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// CancelOrder ends an order before its goods were handed over.
type CancelOrder struct {
	Facts   OrderFacts
	TraceID string
	Reason  string // for the audit log
	// Refund gives back what is left of the payment, too, as the refund of this id,
	// which is drawn by the caller.
	Refund   bool
	RefundID string
	Answers  commerce.ReplyKey // whose answer tells of the refund
}

// CancelResult tells what cancelling undid.
type CancelResult struct {
	Order             commerce.Order
	DeliveryCancelled bool
	InventoryRestored bool
	Refund            *commerce.Refund // that was asked for
}

// Needs names the order, the stock of its products, its partner, payment and
// delivery, and a new refund.
func (c CancelOrder) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Stock = commerce.ProductKeys(c.Facts.Key.StoreID, c.Facts.Lines)
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.Deliveries = c.Facts.delivery()
	c.Facts.mayRaise(&n, commerce.ResolvedBy(commerce.Cancel)...)
	c.Facts.mayRaise(&n, commerce.AttentionRefundDue)
	if c.Refund {
		n.NewRefunds = []commerce.RefundKey{{StoreID: c.Facts.Key.StoreID, RefundID: c.RefundID}}
	}
	return n
}

// Access implements commit.Keyed.
func (c CancelOrder) Access(rows *commerce.Rows) error { return c.Facts.access(rows) }

// Decide cancels from every status that is not terminal. Stock comes back
// exactly when it had been deducted, whatever the status.
func (c CancelOrder) Decide(rows *commerce.Rows, now int64) (CancelResult, commerce.Changes, error) {
	order, err := c.Facts.load(rows)
	if err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	transition, err := order.Check(commerce.Cancel)
	if err != nil {
		return CancelResult{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	s.resolveBy(commerce.Cancel)
	moves := s.restore(rows)
	var data []byte
	if moves != nil {
		data = wire.InventoryData(moves)
	}
	s.move(transition, c.Reason, data)
	if order.Fulfillment == commerce.ByDelivery {
		s.cancelDelivery(rows, c.Answers)
	}
	result := CancelResult{InventoryRestored: moves != nil}
	if payment, ok := rows.Payments.Get(c.Facts.Key); ok {
		result.Refund = c.endPayment(s, payment)
	}
	cancelled, changes := s.end()
	result.Order = cancelled
	return result, changes, nil
}

// endPayment sees to it that nobody pays any more, and that money that was
// paid goes back, or that somebody knows of it.
func (c CancelOrder) endPayment(s *story, payment commerce.Payment) *commerce.Refund {
	if payment.State == commerce.PaymentOpen { // while it is opening, its job will see that the order is over
		s.ask(commerce.JobExpireSession, s.order.ID, false)
	}
	if payment.Left() == 0 {
		return nil
	}
	if c.Refund {
		refund, err := s.refund(&payment, commerce.Refund{ID: c.RefundID, Reason: c.Reason, Origin: commerce.RefundCancelled,
			TraceID: c.TraceID, Answers: c.Answers}, true)
		if err == nil {
			s.changes.Payments = []commerce.Payment{payment}
			return &refund
		}
	}
	s.raise(commerce.AttentionRefundDue, fmt.Sprintf("The order was cancelled; %d cents of its payment are left", payment.Left()))
	return nil
}
