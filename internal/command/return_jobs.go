package command

import "purveyor/internal/commerce"

// ReturnJobs ends leases before their time.
type ReturnJobs struct {
	Jobs []commerce.Job // as leased
}

// Needs names the jobs.
func (c ReturnJobs) Needs() commerce.Needs { return commerce.Needs{Jobs: keysOf(c.Jobs)} }

// Decide ends the leases that have not changed and returns how many.
func (c ReturnJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (int, commerce.Changes, error) {
	changes := commerce.Changes{}
	for _, job := range stillLeased(rows, c.Jobs) {
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return len(changes.Jobs), changes, nil
}
