package command

import "purveyor/internal/commerce"

// RecordAlarmMail records the outcome of an attempt of the job that sends an e-mail of an
// alarm.
type RecordAlarmMail struct {
	RecordJob
	Kept *commerce.UnsentMessage // the e-mail, if it was kept and not sent
}

// Decide puts an e-mail that was kept into the outbox.
func (c RecordAlarmMail) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if c.Kept != nil {
		message := *c.Kept
		message.CreatedOn = now
		changes.Outbox = []commerce.UnsentMessage{message}
	}
	return job, changes, err
}
