package command

import "purveyor/internal/commerce"

// RecordSandboxCallback records the outcome of an attempt to post a sandbox's callback.
type RecordSandboxCallback struct{ RecordJob }

// Needs names the job and the callback.
func (c RecordSandboxCallback) Needs() commerce.Needs {
	n := c.RecordJob.Needs()
	n.Sandbox = []string{c.Job.Subject}
	return n
}

// Decide deletes the callback if it has arrived.
func (c RecordSandboxCallback) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, changes, err := c.RecordJob.Decide(rows, now)
	if c.Failed == nil {
		changes.GoneSandbox = []string{c.Job.Subject}
	}
	return job, changes, err
}
