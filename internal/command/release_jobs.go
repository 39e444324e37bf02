package command

import "purveyor/internal/commerce"

// ReleaseJobs lets held jobs go on.
type ReleaseJobs struct{ Jobs []commerce.JobKey }

// Needs names the jobs.
func (c ReleaseJobs) Needs() commerce.Needs { return commerce.Needs{Jobs: c.Jobs} }

// Decide returns how many jobs it released. They keep their time, which is over for most.
func (c ReleaseJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (int, commerce.Changes, error) {
	changes := commerce.Changes{}
	for _, key := range c.Jobs {
		if job, _ := rows.Jobs.Get(key); job.State == commerce.JobHeld {
			job.State = commerce.JobWaiting
			changes.Jobs = append(changes.Jobs, job)
		}
	}
	return len(changes.Jobs), changes, nil
}
