package command

import "purveyor/internal/commerce"

// GiveUpJob gives up a dead or held job of a kind whose failed attempts change only the job
// itself. Other kinds are given up by the command that records their attempts.
type GiveUpJob struct {
	RecordJob
	Facts *OrderFacts // of the order that the job is about; nil: no order
}

// Needs names the job, and the order with its partner.
func (c GiveUpJob) Needs() commerce.Needs {
	n := commerce.Needs{}
	if c.Facts != nil {
		n = c.Facts.needs()
	}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide notes it on the order's timeline. It refuses other jobs.
func (c GiveUpJob) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	if c.Facts == nil {
		job, changes, err := c.RecordJob.Decide(rows, now)
		return Recorded{Job: job}, changes, err
	}
	oc, err := c.begin(*c.Facts, rows, now)
	if err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	return oc.recorded(commerce.Undecided)
}
