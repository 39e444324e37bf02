package command

import "purveyor/internal/commerce"

// TakeJob leases a job that nobody has, whether it is due or not, because
// somebody waits for it. One that had no try left gets one more.
type TakeJob struct {
	Job    commerce.JobKey
	Worker string
	Until  int64 // Unix ms, of the lease
}

// TakenJob is what there was to take.
type TakenJob struct {
	Job   commerce.Job
	There bool // false: it is done
	Taken bool // false: another worker has it
}

// Needs names the job.
func (c TakeJob) Needs() commerce.Needs { return commerce.Needs{Jobs: []commerce.JobKey{c.Job}} }

// Decide leases it.
func (c TakeJob) Decide(rows *commerce.Rows, now int64) (TakenJob, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job)
	if !there || job.Leased(now) {
		return TakenJob{Job: job, There: there}, commerce.Changes{}, nil
	}
	job = job.LeasedTo(c.Worker, c.Until)
	job.State = commerce.JobWaiting
	return TakenJob{job, true, true}, commerce.Changes{Jobs: []commerce.Job{job}}, nil
}
