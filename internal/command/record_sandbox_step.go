package command

import (
	"time"

	"purveyor/internal/commerce"
)

// RecordSandboxStep stores a step of an object, and postpones its job to the next step.
type RecordSandboxStep struct {
	RecordJob
	Version int64         // of the object as it was read
	Data    []byte        // nil: it stays as it is
	Next    time.Duration // from now; 0: there is no other step
}

// Needs names the job and the object.
func (c RecordSandboxStep) Needs() commerce.Needs {
	n := c.RecordJob.Needs()
	n.Sandbox = []string{c.Job.Subject}
	return n
}

// Decide stores nothing if the object was changed meanwhile. The step is then due
// again.
func (c RecordSandboxStep) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, _ := rows.Jobs.Get(c.Job.Key())
	if !job.SameLease(c.Job) {
		return c.Job, commerce.Changes{}, nil // the lease of this try has ended
	}
	if c.Failed != nil {
		return c.RecordJob.Decide(rows, now)
	}
	object, known := rows.Sandbox.Get(c.Job.Subject)
	job = job.LeasedTo("", 0)
	switch {
	case !known:
		return c.Job, commerce.Changes{DoneJobs: []commerce.JobKey{c.Job.Key()}}, nil
	case object.Version != c.Version:
		job.RunAt = now
		return job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
	}
	changes := commerce.Changes{}
	if c.Data != nil {
		object.Version, object.Data, object.UpdatedOn = object.Version+1, c.Data, now
		changes.Sandbox = []commerce.SandboxObject{object}
	}
	if c.Next == 0 {
		changes.DoneJobs = []commerce.JobKey{c.Job.Key()}
		return c.Job, changes, nil
	}
	job.RunAt, job.Tries, job.Probes, job.Error = now.Add(c.Next), 0, 0, ""
	changes.Jobs = []commerce.Job{job}
	return job, changes, nil
}
