package command

import (
	"time"

	"purveyor/internal/commerce"
)

// RecordWebhookAttempts records requests to endpoints, with the consequences of each for
// its endpoint and its job.
type RecordWebhookAttempts struct {
	Tries []WebhookTry // in the order in which they ended
}

// WebhookTry is one request.
type WebhookTry struct {
	Job        commerce.Job // as it was run
	Attempt    commerce.WebhookAttempt
	RetryAfter time.Duration // as the answer asks for; 0: it does not
	Jitter     float64       // in [0, 1), drawn by the caller
}

// owner is that of the endpoint.
func (t WebhookTry) owner() string {
	return commerce.EndpointOwner(t.Attempt.PartnerID, t.Attempt.Endpoint)
}

// Needs names the endpoints and the jobs. Jobs of delivered events are ended without being
// read, because a delivery counts in any case.
func (c RecordWebhookAttempts) Needs() commerce.Needs {
	n := commerce.Needs{Endpoints: c.owners()}
	for _, t := range c.Tries {
		if t.Attempt.Delivered() {
			n.EndedJobs = append(n.EndedJobs, t.Job.Key())
		} else {
			n.Jobs = append(n.Jobs, t.Job.Key())
		}
	}
	return n
}

func (c RecordWebhookAttempts) owners() (list []string) {
	for _, t := range c.Tries {
		list = append(list, t.owner())
	}
	return eachOnce(list)
}

// Decide returns the jobs as they go on.
func (c RecordWebhookAttempts) Decide(rows *commerce.Rows, now commerce.Millis) ([]commerce.Job, commerce.Changes, error) {
	changes := commerce.Changes{}
	jobs := make([]commerce.Job, len(c.Tries))
	endpoints := make(map[string]commerce.Endpoint, 1) // as they fare after the tries so far
	owners := c.owners()
	for _, id := range owners {
		endpoints[id] = endpointOf(rows, id)
	}
	for i, t := range c.Tries {
		id := t.owner()
		verdict := t.record(rows, endpoints[id], now, &changes)
		jobs[i], endpoints[id] = verdict.Job, verdict.Endpoint
		if verdict.Release {
			changes.NewJobs = append(changes.NewJobs, releaseParked(id, now))
		}
	}
	for _, id := range owners {
		if _, there := rows.Endpoints.Get(id); !there && endpoints[id].ID != "" {
			continue // it was deleted meanwhile
		}
		changes.Endpoints = append(changes.Endpoints, changed(endpointOf(rows, id), endpoints[id])...)
	}
	return jobs, changes, nil
}

// record returns the consequences of a try. If the job's lease has ended meanwhile, the job
// may be gone or leased again. Then the try counts for the job only if it was delivered.
func (t WebhookTry) record(rows *commerce.Rows, e commerce.Endpoint, now commerce.Millis, changes *commerce.Changes) commerce.Verdict {
	attempt := t.Attempt
	attempt.Manual = t.Job.Resends()
	changes.Attempts = append(changes.Attempts, attempt)
	job, there := t.Job, false
	if !t.Attempt.Delivered() {
		if stored, ok := rows.Jobs.Get(t.Job.Key()); ok {
			job, there = stored, true
		}
	}
	verdict := e.After(job, t.Attempt, t.RetryAfter, now, t.Jitter)
	switch {
	case t.Attempt.Delivered():
		changes.DoneJobs = append(changes.DoneJobs, job.Key())
	case there && job.SameLease(t.Job):
		changes.Jobs = append(changes.Jobs, verdict.Job.LeasedTo("", 0))
	}
	return verdict
}
