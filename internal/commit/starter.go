package commit

import "purveyor/internal/commerce"

// Starter runs jobs in this process as soon as they are saved. What it
// reserves room for is saved as leased to it, and then either started or
// cancelled; other jobs wait until a worker claims them.
type Starter interface {
	// Reserve takes room for a new job, if it is of a known kind, due, and there
	// is room. It must not wait.
	Reserve(job commerce.Job) (Lease, bool)
	// Start hands over jobs that were saved, in the order of their ids.
	Start(jobs []commerce.Job)
	// Cancel gives back the room of jobs that were not saved, or may have been:
	// then their leases end, and they are claimed.
	Cancel(jobs []commerce.Job)
}

// Lease says which worker has a job, and until when (Unix ms).
type Lease struct {
	Worker string
	Until  int64
}

// StartJobsWith has new jobs offered to s from now on.
func (c *Committer) StartJobsWith(s Starter) { c.starter.Store(&s) }

// offered are the new jobs of a batch that a starter has room for.
type offered struct {
	to   Starter
	jobs []commerce.Job
}

// offer marks new jobs as leased where there is room.
func (c *Committer) offer(jobs []commerce.Job) (o offered) {
	s := c.starter.Load()
	if s == nil {
		return o
	}
	o.to = *s
	for i, j := range jobs {
		if lease, ok := o.to.Reserve(j); ok {
			jobs[i] = j.LeasedTo(lease.Worker, lease.Until)
			o.jobs = append(o.jobs, jobs[i])
		}
	}
	return o
}

func (o offered) end(saved bool) {
	switch {
	case len(o.jobs) == 0:
	case saved:
		o.to.Start(o.jobs)
	default:
		o.to.Cancel(o.jobs)
	}
}
