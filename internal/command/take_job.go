package command

import "purveyor/internal/commerce"

// TakeJob leases a job that no worker holds, because a caller waits for it. The job need
// not be due: an attempt before its time counts as a probe, so that a caller that asks
// often does not use up the schedule of retries.
type TakeJob struct {
	Job    commerce.JobKey
	Worker string
}

// TakenJob is the result of TakeJob.
type TakenJob struct {
	Job   commerce.Job
	There bool // false: the job is done, was given up, or is held until an operator releases it
	Taken bool // false: another worker holds the job
}

// Needs names the job.
func (c TakeJob) Needs() commerce.Needs { return commerce.Needs{Jobs: []commerce.JobKey{c.Job}} }

// Decide leases the job by the time of the batch, not by the clock of the caller. The next
// command that takes the job compares the lease with the time of its own batch, so that
// only one of them gets the job, however the clocks of the callers differ.
func (c TakeJob) Decide(rows *commerce.Rows, now commerce.Millis) (TakenJob, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job)
	if job.State == commerce.JobGivenUp || job.State == commerce.JobHeld { // another attempt could move money again
		return TakenJob{Job: job}, commerce.Changes{}, nil
	}
	if !there || job.Leased(now) {
		return TakenJob{Job: job, There: there}, commerce.Changes{}, nil
	}
	if job.RunAt > now {
		job.Probes++
	}
	job = job.LeasedTo(c.Worker, now.Add(commerce.JobLease))
	job.State = commerce.JobWaiting
	return TakenJob{job, true, true}, commerce.Changes{Jobs: []commerce.Job{job}}, nil
}
