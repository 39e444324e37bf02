package command

import "purveyor/internal/commerce"

// HoldJobs holds jobs that act outside, because the database was restored to an earlier state:
// what they ask for may have been done since. They stay held until ReleaseJobs.
//
// The held jobs are the only mark of a restored database, so a copy of it is marked, too.
type HoldJobs struct{ Jobs []commerce.JobKey }

// Needs names the jobs.
func (c HoldJobs) Needs() commerce.Needs { return commerce.Needs{Jobs: c.Jobs} }

// Decide returns how many jobs it held. An attempt that is under way loses its lease: if it
// succeeds, its job is done, and otherwise it stays held.
func (c HoldJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (int, commerce.Changes, error) {
	changes := commerce.Changes{}
	for _, key := range c.Jobs {
		if job, _ := rows.Jobs.Get(key); job.State == commerce.JobWaiting && job.Kind.ActsOutside() {
			job.State = commerce.JobHeld
			changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
		}
	}
	return len(changes.Jobs), changes, nil
}
