package command

import "purveyor/internal/commerce"

// RecordPaymentSession records the outcome of an attempt of the job that opens a payment
// session. It decides the answer of the checkout.
type RecordPaymentSession struct {
	RecordJob
	Facts     OrderFacts
	SessionID string
	URL       string
	Refused   string // why the processor opened none; empty: it did
}

// Needs names the order, its partner and payment, the stock of what is held, and the job.
func (c RecordPaymentSession) Needs() commerce.Needs {
	n := c.Facts.needs(commerce.PaymentSessionFailed)
	n.Payments = []commerce.OrderKey{c.Facts.Key}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide stores the session, which is the answer. A refusal ends the order in
// failed_payment and leaves no answer, so that a repeat makes a new order. If the
// processor cannot be reached, the job tries again until its schedule is used up.
func (c RecordPaymentSession) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	oc, err := c.begin(c.Facts, rows, now, thePayment)
	if oc == nil {
		return Recorded{Job: c.Job}, commerce.Changes{}, err
	}
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	if c.Failed != nil && !oc.job.Over() {
		return oc.recorded(commerce.Undecided)
	}
	oc.payment.UpdatedOn = now
	if refusal := c.refusal(); refusal != "" {
		oc.refuseSession(refusal)
		return oc.recorded(commerce.Refused)
	}
	c.open(oc)
	return oc.recorded(commerce.Decided)
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
