package command

import (
	"fmt"

	"purveyor/internal/commerce"
)

// givenUp tells the timeline that an operator gave up a job, if one did.
func (s *story) givenUp(c RecordJob) {
	if c.GivenUpBy != "" {
		s.note("job_given_up", commerce.CleanText(fmt.Sprintf("%s gave up %s: %s", c.GivenUpBy, c.Job.Kind, c.Failed), commerce.MaxNote))
	}
}

// GiveUpJob gives up a dead job whose failed tries record nothing but the job
// itself. Kinds that record more are given up by the command that records their
// tries.
type GiveUpJob struct {
	RecordJob
	Facts *OrderFacts // of the order that the job is about; nil: it is about none
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
func (c GiveUpJob) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil || c.Facts == nil {
		return job, changes, err
	}
	order, err := c.Facts.load(rows)
	if err != nil {
		return job, commerce.Changes{}, err
	}
	s := begin(order, rows, now, "")
	s.changes = changes
	s.givenUp(c.RecordJob)
	_, changes = s.end()
	return job, changes, nil
}
