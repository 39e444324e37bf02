package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// addGivenUpNote adds a note to the timeline if an operator gave up the job.
func (oc *orderChange) addGivenUpNote(c RecordJob) {
	if c.isGivenUp() {
		oc.addNote("job_given_up", commerce.CleanText(fmt.Sprintf("%s gave up %s: %s", c.GivenUpBy.Name(), c.Job.Kind, c.Failed), commerce.MaxNote))
	}
}

// GiveUpJob gives up a dead job of a kind whose failed attempts change only the job
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

// Decide notes it on the order's timeline. It refuses a job that is not dead.
func (c GiveUpJob) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil || c.Facts == nil {
		return Recorded{Job: job}, changes, err
	}
	order, err := c.Facts.load(rows)
	if err != nil {
		return Recorded{Job: job}, commerce.Changes{}, err
	}
	oc := begin(order, rows, now, c.by(""))
	oc.changes = changes
	oc.addGivenUpNote(c.RecordJob)
	return Recorded{Job: job}, oc.finish(), nil
}
