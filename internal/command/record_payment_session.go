package command

import (
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// RecordPaymentSession records the outcome of an attempt of the job that opens a payment
// session. It decides the answer of the checkout.
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
// failed_payment and releases the key, so that a repeat makes a new order. If the
// processor cannot be reached, the job tries again until its schedule is used up.
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
	oc := begin(order, rows, now, c.by(), payment.TraceID)
	oc.changes = changes
	oc.usePayment(payment)
	oc.payment.UpdatedOn = now
	oc.addGivenUpNote(c.RecordJob)
	if refusal := c.refusal(); refusal != "" {
		c.refuse(rows, oc, refusal)
	} else {
		c.open(rows, oc)
	}
	return job, oc.finish(), nil
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

func (c RecordPaymentSession) open(rows *commerce.Rows, oc *orderChange) {
	payment := oc.payment
	payment.SessionID, payment.CheckoutURL = c.SessionID, c.URL
	if payment.State == commerce.PaymentOpening { // otherwise a callback was faster
		payment.State = commerce.PaymentOpen
	}
	if oc.order.Status != commerce.PendingPayment && payment.State == commerce.PaymentOpen { // it was cancelled meanwhile
		oc.enqueue(commerce.JobExpireSession, oc.order.ID, false)
	}
	reply, ok := c.openReply(rows, c.Answers)
	if !ok {
		return
	}
	reply.Status, reply.Job = wire.StatusCreated, commerce.JobKey{}
	reply.Body = wire.Encode(wire.CheckoutAnswer{OK: true, OrderID: oc.order.ID, SessionID: c.SessionID, CheckoutURL: c.URL, TraceID: payment.TraceID})
	oc.changes.Replies = []commerce.Reply{reply}
}

func (c RecordPaymentSession) refuse(rows *commerce.Rows, oc *orderChange, refusal string) {
	payment := oc.payment
	payment.Error = commerce.CleanText(refusal, commerce.MaxNote)
	if payment.State == commerce.PaymentOpening {
		payment.State = commerce.PaymentRefused
	}
	oc.tryTransition(commerce.PaymentSessionFailed, payment.Error)
	if _, ok := c.openReply(rows, c.Answers); ok {
		oc.changes.Released = []commerce.ReplyKey{c.Answers}
	}
}
