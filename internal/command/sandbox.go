package command

import (
	"time"

	"purveyor/internal/commerce"
)

// SandboxOwner owns the jobs of all sandboxes.
const SandboxOwner = "sandbox"

// PutSandboxObject stores the state of a sandbox object that has not changed
// since it was read, with the callbacks that tell of the change.
type PutSandboxObject struct {
	ID        string
	Version   int64 // as it was read; 0: it is new
	Data      []byte
	Callbacks []SandboxCallback
	// FirstStep is when the object is first moved, from now; 0: it stays.
	FirstStep time.Duration
}

// SandboxCallback is a callback that a sandbox sends after a while. It is an object
// of its own until it has arrived.
type SandboxCallback struct {
	ID    string // drawn by the caller
	After time.Duration
	Data  []byte
}

// Needs names the object and the callbacks.
func (c PutSandboxObject) Needs() commerce.Needs {
	n := commerce.Needs{Sandbox: []string{c.ID}}
	for _, callback := range c.Callbacks {
		n.Sandbox = append(n.Sandbox, callback.ID)
	}
	return n
}

// Decide returns whether the object was stored: not if it has another version.
func (c PutSandboxObject) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	if stored, _ := rows.Sandbox.Get(c.ID); stored.Version != c.Version {
		return false, commerce.Changes{}, nil
	}
	changes := commerce.Changes{Sandbox: []commerce.SandboxObject{{ID: c.ID, Version: c.Version + 1, Data: c.Data, UpdatedOn: now}}}
	for _, n := range c.Callbacks {
		changes.Sandbox = append(changes.Sandbox, commerce.SandboxObject{ID: n.ID, Version: 1, Data: n.Data, UpdatedOn: now})
		changes.NewJobs = append(changes.NewJobs, commerce.Job{
			Kind: commerce.JobSandboxCallback, Mode: commerce.Test, Owner: SandboxOwner, Subject: n.ID, RunAt: now.Add(n.After),
		})
	}
	if c.FirstStep > 0 {
		changes.NewJobs = append(changes.NewJobs, commerce.Job{Kind: commerce.JobSandboxStep, Mode: commerce.Test, Owner: SandboxOwner, Subject: c.ID, RunAt: now.Add(c.FirstStep)})
	}
	return true, changes, nil
}

// RecordSandboxCallback ends the job of a sandbox's callback, or the try that
// failed.
type RecordSandboxCallback struct{ RecordJob }

// Needs names the job and the callback.
func (c RecordSandboxCallback) Needs() commerce.Needs {
	n := c.RecordJob.Needs()
	n.Sandbox = []string{c.Job.Subject}
	return n
}

// Decide deletes a callback that has arrived.
func (c RecordSandboxCallback) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err == nil && c.Failed == nil {
		changes.GoneSandbox = []string{c.Job.Subject}
	}
	return job, changes, err
}

// RecordSandboxStep stores the step of an object, and puts its job off until the
// next one.
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

// Decide stores nothing if the object has changed since it was read. The step is then
// due again at once.
func (c RecordSandboxStep) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job.Key())
	if !there || !job.SameLease(c.Job) {
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
