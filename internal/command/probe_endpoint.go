package command

import "purveyor/internal/commerce"

// ProbeEndpoint leases the job that probes a held endpoint, so that only one worker sends
// it.
type ProbeEndpoint struct {
	Owner  string
	Parked *commerce.JobKey // the parked job with the lowest RunAt; nil: there is none
	Worker string
	Until  commerce.Millis // of the lease
}

// Needs names the partner, its endpoint and the job.
func (c ProbeEndpoint) Needs() commerce.Needs {
	n := endpointNeeds(c.Owner)
	if c.Parked != nil {
		n.Jobs = []commerce.JobKey{*c.Parked}
	}
	return n
}

// Decide returns the job to try, leased and still parked, or nil: the time has
// not come, the partner is suspended, another worker has it, or nothing is left to probe with, which
// heals the endpoint.
func (c ProbeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (*commerce.Job, commerce.Changes, error) {
	endpoint := endpointOf(rows, c.Owner)
	if partner, _ := partnerOf(rows, c.Owner); partner.Suspended || !endpoint.ProbeDue(now) {
		return nil, commerce.Changes{}, nil
	}
	if c.Parked == nil {
		// A job may have been parked since the caller looked.
		return nil, commerce.Changes{Endpoints: changed(endpoint, endpoint.Healed()),
			NewJobs: []commerce.Job{releaseParked(c.Owner, now)}}, nil
	}
	job, _ := rows.Jobs.Get(*c.Parked)
	if job.State != commerce.JobParked || job.Leased(now) {
		return nil, commerce.Changes{}, nil
	}
	job = job.LeasedTo(c.Worker, c.Until)
	return &job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
}
