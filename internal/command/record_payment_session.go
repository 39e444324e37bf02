package command

import (
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// RecordPaymentSession ends the job that opened a payment session, or the try
// that failed. With it the answer of the checkout is decided.
type RecordPaymentSession struct {
	RecordJob
	Facts     OrderFacts
	Answers   commerce.ReplyKey // of the payment
	SessionID string
	URL       string
	Refused   string // why the processor opened none; empty: it did
}

// Needs names the order, its partner and payment, the job and the open reply.
func (c RecordPaymentSession) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.OpenReplies = []commerce.ReplyKey{c.Answers}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide stores the session and closes the reply. A refusal ends the order in
// failed_payment and releases the key, so that a repeat makes a new order. Of a
// processor that cannot be reached the job tries again, until it is too late.
func (c RecordPaymentSession) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil || c.Failed != nil && !job.Over() {
		return job, changes, err
	}
	payment, ok := rows.Payments.Get(c.Facts.Key)
	order, err := c.Facts.load(rows)
	if !ok || err != nil {
		return job, changes, errors.Join(err, errors.New("the order of the payment is not there"))
	}
	s := begin(order, rows, now, payment.TraceID)
	s.changes = changes
	s.givenUp(c.RecordJob)
	payment.UpdatedOn = now
	if refusal := c.refusal(); refusal != "" {
		c.refuse(rows, s, &payment, refusal)
		s.end()
	} else {
		c.open(rows, s, &payment) // the order itself stays as it is
	}
	s.changes.Payments = []commerce.Payment{payment}
	return job, s.changes, nil
}

func (c RecordPaymentSession) refusal() string {
	if c.GivenUpBy != "" {
		return "The operator gave up opening a payment session: " + c.Failed.Error()
	}
	if c.Failed != nil {
		return "The payment processor could not be reached: " + c.Failed.Error()
	}
	return c.Refused
}

func (c RecordPaymentSession) open(rows *commerce.Rows, s *story, payment *commerce.Payment) {
	payment.SessionID, payment.CheckoutURL = c.SessionID, c.URL
	if payment.State == commerce.PaymentOpening { // else a callback was faster
		payment.State = commerce.PaymentOpen
	}
	if s.order.Status != commerce.PendingPayment && payment.State == commerce.PaymentOpen { // it was cancelled meanwhile
		s.ask(commerce.JobExpireSession, s.order.ID, false)
	}
	reply, ok := c.openReply(rows, c.Answers)
	if !ok {
		return
	}
	reply.Status, reply.Job = wire.StatusCreated, commerce.JobKey{}
	reply.Body = wire.Encode(wire.CheckoutAnswer{OK: true, OrderID: s.order.ID, SessionID: c.SessionID, CheckoutURL: c.URL, TraceID: payment.TraceID})
	s.changes.Replies = []commerce.Reply{reply}
}

func (c RecordPaymentSession) refuse(rows *commerce.Rows, s *story, payment *commerce.Payment, refusal string) {
	payment.Error = commerce.CleanText(refusal, commerce.MaxNote)
	if payment.State == commerce.PaymentOpening {
		payment.State = commerce.PaymentRefused
	}
	if t, err := s.order.Check(commerce.PaymentSessionFailed); err == nil {
		s.move(t, payment.Error, nil)
	}
	if _, ok := c.openReply(rows, c.Answers); ok {
		s.changes.Released = []commerce.ReplyKey{c.Answers}
	}
}
