package command

import "purveyor/internal/commerce"

// ParkJobs gives jobs of a worker back to an endpoint that holds them.
type ParkJobs struct {
	PartnerID string
	Worker    string
	Jobs      []commerce.JobKey
}

// Needs names the endpoint and the jobs.
func (c ParkJobs) Needs() commerce.Needs {
	return commerce.Needs{Endpoints: []string{c.PartnerID}, Jobs: c.Jobs}
}

// Decide returns how many were parked. If the endpoint answers again by now,
// they wait.
func (c ParkJobs) Decide(rows *commerce.Rows, _ int64) (parked int, changes commerce.Changes, _ error) {
	holds := endpointOf(rows, c.PartnerID).Holds()
	for _, job := range leasedBy(rows, c.Worker, c.Jobs) {
		if holds {
			job.State = commerce.JobParked
			parked++
		}
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return parked, changes, nil
}

// ReturnJobs ends leases of a worker before their time.
type ReturnJobs struct {
	Worker string
	Jobs   []commerce.JobKey
}

// Needs names the jobs.
func (c ReturnJobs) Needs() commerce.Needs { return commerce.Needs{Jobs: c.Jobs} }

// Decide returns how many were given back.
func (c ReturnJobs) Decide(rows *commerce.Rows, _ int64) (int, commerce.Changes, error) {
	changes := commerce.Changes{}
	for _, job := range leasedBy(rows, c.Worker, c.Jobs) {
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return len(changes.Jobs), changes, nil
}

// leasedBy are those of the jobs that are still there and the worker's.
func leasedBy(rows *commerce.Rows, worker string, keys []commerce.JobKey) (list []commerce.Job) {
	for _, k := range eachOnce(keys) {
		if job, ok := rows.Jobs.Get(k); ok && job.LeasedBy == worker {
			list = append(list, job)
		}
	}
	return list
}
