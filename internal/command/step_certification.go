package command

import (
	"time"

	"purveyor/internal/commerce"
)

// StepCertification keeps a run as it is after a step of its job.
type StepCertification struct {
	Job           commerce.Job           // as it was run
	Certification commerce.Certification // as it was read, with the run after the step
	Pause         time.Duration          // until the next step
}

// Needs names the certification and the job.
func (c StepCertification) Needs() commerce.Needs {
	return commerce.Needs{Certified: []string{c.Certification.PartnerID}, Jobs: []commerce.JobKey{c.Job.Key()}}
}

// Decide returns the job as it goes on: it ends with its run. If the run has changed meanwhile, the step is
// taken again at once. A job whose lease has ended belongs to another worker.
func (c StepCertification) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, _ := rows.Jobs.Get(c.Job.Key())
	if !job.SameLease(c.Job) {
		return c.Job, commerce.Changes{}, nil
	}
	kept, changes := keepCertification(rows, c.Certification, now)
	if kept && !c.Certification.Running {
		changes.DoneJobs = []commerce.JobKey{job.Key()}
		return job, changes, nil
	}
	if job.RunAt = now; kept {
		job.RunAt = now.Add(c.Pause)
	}
	job.Tries, job.Error = 0, ""
	job = job.LeasedTo("", 0)
	changes.Jobs = []commerce.Job{job}
	return job, changes, nil
}
