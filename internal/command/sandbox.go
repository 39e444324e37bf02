package command

import "purveyor/internal/commerce"

// PutSandboxObject stores the state of a sandbox object that has not changed
// since it was read, with the notices that tell of the change.
type PutSandboxObject struct {
	ID      string
	Version int64 // as it was read; 0: it is new
	Data    []byte
	Notices []SandboxNotice
}

// SandboxNotice is a notice that a sandbox sends after a while. It is an object
// of its own until it has arrived.
type SandboxNotice struct {
	ID    string // drawn by the caller
	After int64  // ms
	Data  []byte
}

// Needs names the object and the notices.
func (c PutSandboxObject) Needs() commerce.Needs {
	n := commerce.Needs{Sandbox: []string{c.ID}}
	for _, notice := range c.Notices {
		n.Sandbox = append(n.Sandbox, notice.ID)
	}
	return n
}

// Decide returns whether the object was stored: not if it has another version.
func (c PutSandboxObject) Decide(rows *commerce.Rows, now int64) (bool, commerce.Changes, error) {
	if stored, _ := rows.Sandbox.Get(c.ID); stored.Version != c.Version {
		return false, commerce.Changes{}, nil
	}
	changes := commerce.Changes{Sandbox: []commerce.SandboxObject{{ID: c.ID, Version: c.Version + 1, Data: c.Data, UpdatedOn: now}}}
	for _, n := range c.Notices {
		changes.Sandbox = append(changes.Sandbox, commerce.SandboxObject{ID: n.ID, Version: 1, Data: n.Data, UpdatedOn: now})
		changes.NewJobs = append(changes.NewJobs, commerce.Job{
			Kind: commerce.JobSandboxNotice, Owner: "sandbox", Subject: n.ID, RunAt: now + n.After,
		})
	}
	return true, changes, nil
}

// RecordSandboxNotice ends the job of a sandbox's notice, or the try that
// failed.
type RecordSandboxNotice struct{ RecordJob }

// Needs names the job and the notice.
func (c RecordSandboxNotice) Needs() commerce.Needs {
	n := c.RecordJob.Needs()
	n.Sandbox = []string{c.Job.Subject}
	return n
}

// Decide deletes a notice that has arrived.
func (c RecordSandboxNotice) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err == nil && c.Failed == nil {
		changes.GoneSandbox = []string{c.Job.Subject}
	}
	return job, changes, err
}
