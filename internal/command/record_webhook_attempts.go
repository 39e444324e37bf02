package command

import "purveyor/internal/commerce"

// RecordWebhookAttempt records a request to an endpoint, and what follows from
// it for the endpoint and the job.
type RecordWebhookAttempt struct {
	Job        commerce.Job // as it was run
	Attempt    commerce.WebhookAttempt
	RetryAfter int64   // ms, as the answer asks for; 0: it does not
	Jitter     float64 // in [0, 1), drawn by the caller
}

// Needs names the endpoint and the job.
func (c RecordWebhookAttempt) Needs() commerce.Needs {
	return commerce.Needs{Endpoints: []string{c.Attempt.PartnerID}, Jobs: []commerce.JobKey{c.Job.Key()}}
}

// Decide returns the job as it goes on. When its lease had ended meanwhile, it
// may be gone, or another worker's: then only an attempt that was delivered
// still counts for it.
func (c RecordWebhookAttempt) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	changes := commerce.Changes{Attempts: []commerce.WebhookAttempt{c.Attempt}}
	endpoint := endpointOf(rows, c.Attempt.PartnerID)
	job, there := rows.Jobs.Get(c.Job.Key())
	if !there {
		job = c.Job
	}
	verdict := endpoint.After(job, c.Attempt, c.RetryAfter, now, c.Jitter)
	changes.Endpoints = changed(endpoint, verdict.Endpoint)
	if verdict.Release {
		changes.NewJobs = []commerce.Job{releaseParked(c.Attempt.PartnerID, now)}
	}
	switch {
	case c.Attempt.Delivered():
		changes.DoneJobs = []commerce.JobKey{job.Key()}
	case there && job.LeasedBy == c.Job.LeasedBy:
		changes.Jobs = []commerce.Job{verdict.Job.LeasedTo("", 0)}
	}
	return verdict.Job, changes, nil
}

func endpointOf(rows *commerce.Rows, partnerID string) commerce.Endpoint {
	e, _ := rows.Endpoints.Get(partnerID)
	e.PartnerID = partnerID
	return e
}

// changed is the row to save, if it is another than before.
func changed(before, after commerce.Endpoint) []commerce.Endpoint {
	if before == after {
		return nil
	}
	return []commerce.Endpoint{after}
}

// releaseParked is a job of its own, because there may be any number to release.
func releaseParked(partnerID string, now int64) commerce.Job {
	return commerce.Job{Kind: commerce.JobReleaseParked, Owner: partnerID, Subject: partnerID, RunAt: now}
}
