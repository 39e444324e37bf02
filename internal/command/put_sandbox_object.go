package command

import (
	"time"

	"purveyor/internal/commerce"
)

// SandboxOwner owns the jobs of all sandboxes.
const SandboxOwner = "sandbox"

// PutSandboxObject stores the state of a sandbox object, with the callbacks that report
// the change, if the object has not changed since it was read.
type PutSandboxObject struct {
	ID        string
	Version   int64 // as it was read; 0: it is new
	Data      []byte
	Callbacks []SandboxCallback
	// FirstStep is when the object is first moved, from now; 0: it stays.
	FirstStep time.Duration
}

// Needs names the object and the callbacks.
func (c PutSandboxObject) Needs() commerce.Needs {
	n := commerce.Needs{Sandbox: []string{c.ID}}
	for _, callback := range c.Callbacks {
		n.Sandbox = append(n.Sandbox, callback.ID)
	}
	return n
}

// Decide returns whether the object was stored. It is not if its version differs.
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

// SandboxCallback is a callback that a sandbox sends after a while. It is stored as an
// object of its own until it has arrived.
type SandboxCallback struct {
	ID    string // drawn by the caller
	After time.Duration
	Data  []byte
}
