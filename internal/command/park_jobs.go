package command

import "purveyor/internal/commerce"

// ParkJobs parks leased jobs with an endpoint that holds them, or whose partner
// is suspended.
type ParkJobs struct {
	PartnerID string
	Jobs      []commerce.Job // as leased
}

// Needs names the partner, its endpoint and the jobs.
func (c ParkJobs) Needs() commerce.Needs {
	return commerce.Needs{Partners: []string{c.PartnerID}, Endpoints: []string{c.PartnerID}, Jobs: keysOf(c.Jobs)}
}

// Decide returns how many were parked. If the endpoint no longer holds its jobs,
// they wait.
func (c ParkJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (parked int, changes commerce.Changes, _ error) {
	partner, _ := rows.Partners.Get(c.PartnerID)
	holds := commerce.Parks(partner, endpointOf(rows, c.PartnerID))
	for _, job := range stillLeased(rows, c.Jobs) {
		if holds {
			job.State = commerce.JobParked
			parked++
		}
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return parked, changes, nil
}

// ReturnJobs ends leases before their time.
type ReturnJobs struct {
	Jobs []commerce.Job // as leased
}

// Needs names the jobs.
func (c ReturnJobs) Needs() commerce.Needs { return commerce.Needs{Jobs: keysOf(c.Jobs)} }

// Decide returns how many leases it ended.
func (c ReturnJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (int, commerce.Changes, error) {
	changes := commerce.Changes{}
	for _, job := range stillLeased(rows, c.Jobs) {
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return len(changes.Jobs), changes, nil
}

// stillLeased are those of the jobs, as stored, whose lease has not changed.
func stillLeased(rows *commerce.Rows, jobs []commerce.Job) (list []commerce.Job) {
	seen := make(map[commerce.JobKey]bool, len(jobs))
	for _, j := range jobs {
		if job, ok := rows.Jobs.Get(j.Key()); ok && job.SameLease(j) && !seen[j.Key()] {
			list = append(list, job)
			seen[j.Key()] = true
		}
	}
	return list
}

func keysOf(jobs []commerce.Job) []commerce.JobKey {
	keys := make([]commerce.JobKey, len(jobs))
	for i, j := range jobs {
		keys[i] = j.Key()
	}
	return keys
}
