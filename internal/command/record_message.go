package command

import "purveyor/internal/commerce"

// RecordMessage records the outcome of an attempt of the job that sends an e-mail or SMS.
type RecordMessage struct {
	RecordJob
	Facts   OrderFacts              // of the order that the message is about; zero: it is about none
	What    string                  // names the message in a note to people: "E-mail to the customer"
	Kept    *commerce.UnsentMessage // the message, if it was kept and not sent
	NotSent string                  // why there was no address to send it to; empty: there was one
}

// limited reports whether a mail to a customer was kept because it is beyond a limit.
func (c RecordMessage) limited() bool {
	return c.Kept != nil && (c.Kept.Reason == commerce.UnsentTooManyOfOrder || c.Kept.Reason == commerce.UnsentTooManyOfPartner)
}

func (c RecordMessage) isAboutOrder() bool { return c.Facts.Key.OrderID != "" }

// Needs names the job, and the order if there may be a note to add.
func (c RecordMessage) Needs() commerce.Needs {
	n := commerce.Needs{}
	if c.isAboutOrder() && (c.NotSent != "" || c.Failed != nil || c.limited()) {
		n = c.Facts.needs()
	}
	if c.limited() {
		c.Facts.needAttention(&n, commerce.AttentionMailNotSent)
	}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide puts a message that was kept into the outbox, and adds a note to the order's timeline if the message will not be sent.
func (c RecordMessage) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if c.Kept != nil {
		message := *c.Kept
		message.CreatedOn = now
		changes.Outbox = []commerce.UnsentMessage{message}
	}
	failed := job.Over()
	if !c.isAboutOrder() || !c.limited() && c.NotSent == "" && !failed {
		return job, changes, err
	}
	oc, missing := c.Facts.begin(rows, now, c.by(""))
	if missing != nil {
		return job, changes, err // there is no timeline to add a note to
	}
	oc.changes = changes
	switch {
	case c.limited():
		oc.raiseAttention(commerce.AttentionMailNotSent, c.What+" was not sent: "+string(c.Kept.Reason)+". It is in the outbox")
	case c.NotSent != "":
		oc.addNote("notice_not_sent", c.What+" was not sent: "+c.NotSent)
	default:
		oc.addNote("notice_failed", c.What+" could not be sent: "+job.Error)
	}
	return job, oc.finish(), err
}
