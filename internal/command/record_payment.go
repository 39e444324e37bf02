package command

import (
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// RecordPayment records that the customer has paid, however often and however
// late it is told.
type RecordPayment struct {
	Facts       OrderFacts
	SessionID   string
	PaymentID   string // at the processor
	AmountCents commerce.Cents
	TraceID     string
	Job         *commerce.JobKey // ends with it, if it was a job that found out
}

func (c RecordPayment) refundKey() commerce.RefundKey {
	return commerce.RefundKey{StoreID: c.Facts.Key.StoreID, RefundID: commerce.LateRefundID(c.Facts.Key.OrderID)}
}

// Needs names the order, its partner and payment, and a new refund.
func (c RecordPayment) Needs() commerce.Needs {
	n := needsOfPayment(c.Facts, c.Job)
	n.NewRefunds = []commerce.RefundKey{c.refundKey()}
	c.Facts.mayRaise(&n, commerce.AttentionPaymentMismatch, commerce.AttentionSecondPayment)
	return n
}

// Decide moves the order to paid if it waits for exactly this amount. Money for
// an order that is over goes back at once; another amount is kept and flagged.
func (c RecordPayment) Decide(rows *commerce.Rows, now int64) (commerce.Order, commerce.Changes, error) {
	order, payment, err := loadPaid(rows, c.Facts)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	s.ends(c.Job)
	if payment.CapturedCents > 0 {
		return c.again(s, payment)
	}
	s.changes.Ledger = []commerce.LedgerEntry{payment.Capture(c.AmountCents, c.PaymentID, now)}
	if payment.SessionID == "" {
		payment.SessionID = c.SessionID
	}
	transition, over := order.Check(commerce.PaymentSucceeded)
	switch {
	case over == nil && c.AmountCents == order.TotalCents:
		s.move(transition, "", wire.PaymentData(c.AmountCents, c.PaymentID))
	case over == nil:
		s.flag(commerce.AttentionPaymentMismatch, fmt.Sprintf("%d cents were paid, but the total is %d; the order is not marked as paid", c.AmountCents, order.TotalCents))
	default:
		s.note("payment_too_late", fmt.Sprintf("The customer paid %d cents when the order was %s already; the money goes back", c.AmountCents, order.Status))
		if _, err := s.refund(&payment, commerce.Refund{ID: c.refundKey().RefundID, Origin: commerce.RefundLate, TraceID: c.TraceID}, false); err != nil {
			return commerce.Order{}, commerce.Changes{}, err
		}
	}
	s.changes.Payments = []commerce.Payment{payment}
	paid, changes := s.end()
	return paid, changes, nil
}

// again is for a payment that is known, or a second one, which somebody must
// look at.
func (c RecordPayment) again(s *story, payment commerce.Payment) (commerce.Order, commerce.Changes, error) {
	if payment.PaymentID == c.PaymentID || s.raised(commerce.AttentionSecondPayment) {
		return s.order, commerce.Changes{DoneJobs: s.changes.DoneJobs}, nil
	}
	s.flag(commerce.AttentionSecondPayment, fmt.Sprintf("The customer paid %d cents once more (%s); look at the payment processor", c.AmountCents, c.PaymentID))
	order, changes := s.end()
	return order, changes, nil
}

// needsOfPayment names an order, its partner and payment, and the job that ends
// with what is recorded of it, if there is one.
func needsOfPayment(f OrderFacts, job *commerce.JobKey) commerce.Needs {
	n := f.needs()
	n.Payments = []commerce.OrderKey{f.Key}
	if job != nil {
		n.Jobs = []commerce.JobKey{*job}
	}
	return n
}

// ends the job that found out, if it was one.
func (s *story) ends(job *commerce.JobKey) {
	if job != nil {
		s.changes.DoneJobs = []commerce.JobKey{*job}
	}
}

// loadPaid loads an order and its payment.
func loadPaid(rows *commerce.Rows, f OrderFacts) (commerce.Order, commerce.Payment, error) {
	order, err := f.load(rows)
	if err != nil {
		return order, commerce.Payment{}, err
	}
	payment, ok := rows.Payments.Get(f.Key)
	if !ok {
		return order, payment, commerce.NotFound("payment")
	}
	return order, payment, nil
}
