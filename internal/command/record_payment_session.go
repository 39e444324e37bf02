package command

import (
	"errors"

	"purveyor/internal/commerce"
)

// RecordPaymentSession records the outcome of an attempt of the job that opens a payment
// session. It decides the answer of the checkout.
type RecordPaymentSession struct {
	RecordJob
	Facts     OrderFacts
	SessionID string
	URL       string
	Refused   string // why the processor opened none; empty: it did
}

// Needs names the order, its partner and payment, and the job.
func (c RecordPaymentSession) Needs() commerce.Needs {
	n := c.Facts.needs()
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide stores the session, which is the answer. A refusal ends the order in
// failed_payment and leaves no answer, so that a repeat makes a new order. If the
// processor cannot be reached, the job tries again until its schedule is used up.
func (c RecordPaymentSession) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	if c.isGone(rows) {
		return Recorded{Job: c.Job}, commerce.Changes{}, nil // another worker was faster
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	recorded := Recorded{Job: job}
	if err != nil || c.Failed != nil && !job.Over() {
		return recorded, changes, err
	}
	payment, ok := rows.Payments.Get(c.Facts.Key)
	order, err := c.Facts.load(rows)
	if !ok || err != nil {
		return recorded, changes, errors.Join(err, errors.New("the order of the payment does not exist"))
	}
	oc := begin(order, rows, now, c.by(payment.TraceID))
	oc.changes = changes
	oc.usePayment(payment)
	oc.payment.UpdatedOn = now
	oc.addGivenUpNote(c.RecordJob)
	if refusal := c.refusal(); refusal != "" {
		recorded.Decision = commerce.Refused
		oc.refuseSession(refusal)
	} else {
		recorded.Decision = commerce.Decided
		c.open(oc)
	}
	recorded.Order, recorded.Payment = oc.order, *oc.payment
	return recorded, oc.finish(), nil
}

func (c RecordPaymentSession) refusal() string {
	if c.isGivenUp() {
		return "The operator gave up opening a payment session: " + c.Failed.Error()
	}
	if c.Failed != nil {
		return "The payment processor could not be reached: " + c.Failed.Error()
	}
	return c.Refused
}

func (c RecordPaymentSession) open(oc *orderChange) {
	payment := oc.payment
	payment.SessionID, payment.CheckoutURL = c.SessionID, c.URL
	if payment.State == commerce.PaymentOpening { // otherwise a callback was faster
		payment.State = commerce.PaymentOpen
	}
	if oc.order.Status != commerce.PendingPayment && payment.State == commerce.PaymentOpen { // it was cancelled meanwhile
		oc.enqueue(commerce.JobExpireSession, oc.order.ID, false)
	}
}

func (oc *orderChange) refuseSession(refusal string) {
	payment := oc.payment
	payment.Error = commerce.CleanText(refusal, commerce.MaxNote)
	if payment.State == commerce.PaymentOpening {
		payment.State = commerce.PaymentRefused
	}
	oc.tryTransition(commerce.PaymentSessionFailed, payment.Error)
}
