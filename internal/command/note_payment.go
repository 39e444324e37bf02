package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// PaymentNews is what the processor tells of a payment beside money that
// moved.
type PaymentNews string

// The news.
const (
	NewsPending  PaymentNews = "payment_pending"
	NewsDeclined PaymentNews = "payment_declined"
	NewsExpired  PaymentNews = "payment_session_expired"
	NewsDisputed PaymentNews = PaymentNews(commerce.AttentionDisputed)
)

// NotePayment tells the timeline what became of a payment. The status of the
// order stays as it is (BEHAVIOUR, Lifecycle).
type NotePayment struct {
	Facts       OrderFacts
	News        PaymentNews
	CallbackID  string // of a repeated callback nothing is told
	Message     string // in the processor's words
	AmountCents commerce.Cents
	TraceID     string
	Job         *commerce.JobKey // ends with it, if it was a job that found out
}

// Needs names the order, its partner and its payment.
func (c NotePayment) Needs() commerce.Needs {
	n := needsOfPayment(c.Facts, c.Job)
	if c.News == NewsDisputed {
		c.Facts.mayRaise(&n, commerce.AttentionDisputed)
	}
	return n
}

// Decide adds a note, if it is news.
func (c NotePayment) Decide(rows *commerce.Rows, now int64) (commerce.Order, commerce.Changes, error) {
	order, payment, err := loadPaid(rows, c.Facts)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	s.ends(c.Job)
	if !c.isNews(payment) {
		return order, commerce.Changes{DoneJobs: s.changes.DoneJobs}, nil
	}
	payment.CallbackID, payment.UpdatedOn = c.CallbackID, now
	switch c.News {
	case NewsPending:
		s.note(string(c.News), "The customer has paid; the money is still on its way")
	case NewsDeclined:
		s.note(string(c.News), commerce.CleanText("The payment was declined: "+c.Message, commerce.MaxNote))
	case NewsExpired:
		payment.State = commerce.PaymentExpired
		s.note(string(c.News), "The payment session has ended; nobody has paid")
	case NewsDisputed:
		s.flag(commerce.AttentionDisputed, fmt.Sprintf("The customer's bank disputes %d cents: %s", c.AmountCents, c.Message))
	}
	s.changes.Payments = []commerce.Payment{payment}
	noted, changes := s.end()
	return noted, changes, nil
}

// isNews is not so for what was told before, and for what is overtaken by the
// payment itself.
func (c NotePayment) isNews(p commerce.Payment) bool {
	if c.CallbackID != "" && c.CallbackID == p.CallbackID {
		return false
	}
	if c.News == NewsDisputed {
		return true
	}
	return p.State == commerce.PaymentOpening || p.State == commerce.PaymentOpen
}
