package command

import "purveyor/internal/commerce"

// TakeJob leases a job that nobody has, whether it is due or not, because
// somebody waits for it. A try before its time is one more than the schedule
// has, so that who asks often does not use it up.
type TakeJob struct {
	Job    commerce.JobKey
	Worker string
}

// TakenJob is what there was to take.
type TakenJob struct {
	Job   commerce.Job
	There bool // false: it is done, or was given up
	Taken bool // false: another worker has it
}

// Needs names the job.
func (c TakeJob) Needs() commerce.Needs { return commerce.Needs{Jobs: []commerce.JobKey{c.Job}} }

// Decide leases it by the batch's own time, which the next command that takes the
// job compares the lease with: however clocks differ, one of them gets it.
func (c TakeJob) Decide(rows *commerce.Rows, now commerce.Millis) (TakenJob, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job)
	if there && job.State == commerce.JobGivenUp { // its outcome is on record: another try could move money again
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
