package commit

import "purveyor/internal/commerce"

// Starter runs jobs in this process as soon as they are saved. A job that Reserve
// accepts is saved with this process's lease, and then either Started or
// Cancelled. All other jobs wait until a worker claims them.
type Starter interface {
	// Reserve takes room for a new job if the job is of a known kind and due, and
	// there is room. It returns the job with this process's lease. It must not wait.
	Reserve(job commerce.Job) (leased commerce.Job, ok bool)
	// Start hands over jobs that were saved, in the order of their ids.
	Start(jobs []commerce.Job)
	// Cancel gives back the room of jobs that were not saved, or may not have been:
	// if they were, workers claim them when their leases end.
	Cancel(jobs []commerce.Job)
}

// reserve leases new jobs to this process as far as the starter has room, and
// returns the leased ones.
func (c *Committer) reserve(jobs []commerce.Job) (reserved []commerce.Job) {
	if c.starter == nil {
		return nil
	}
	for i, j := range jobs {
		if leased, ok := c.starter.Reserve(j); ok {
			jobs[i] = leased
			reserved = append(reserved, leased)
		}
	}
	return reserved
}

// end starts the reserved jobs of a batch that was saved, and cancels those of
// another.
func (c *Committer) end(reserved []commerce.Job, saved bool) {
	switch {
	case len(reserved) == 0:
	case saved:
		c.starter.Start(reserved)
	default:
		c.starter.Cancel(reserved)
	}
}
