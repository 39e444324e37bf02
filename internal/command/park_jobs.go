package command

import "purveyor/internal/commerce"

// ParkJobs parks leased jobs whose endpoint holds them, or whose partner is suspended.
type ParkJobs struct {
	Owner string
	Jobs  []commerce.Job // as leased
}

// Needs names the partner, its endpoint and the jobs.
func (c ParkJobs) Needs() commerce.Needs {
	n := endpointNeeds(c.Owner)
	n.Jobs = keysOf(c.Jobs)
	return n
}

// Decide returns how many jobs it parked. If the endpoint no longer holds its jobs, they
// become due.
func (c ParkJobs) Decide(rows *commerce.Rows, _ commerce.Millis) (parked int, changes commerce.Changes, _ error) {
	partner, _ := partnerOf(rows, c.Owner)
	holds := commerce.Parks(partner, endpointOf(rows, c.Owner))
	for _, job := range stillLeased(rows, c.Jobs) {
		if holds {
			job.State = commerce.JobParked
			parked++
		}
		changes.Jobs = append(changes.Jobs, job.LeasedTo("", 0))
	}
	return parked, changes, nil
}

// stillLeased returns those of the jobs, as stored, whose lease has not changed.
func stillLeased(rows *commerce.Rows, jobs []commerce.Job) (list []commerce.Job) {
	seen := make(map[commerce.JobKey]bool, len(jobs))
	for _, j := range jobs {
		if job, _ := rows.Jobs.Get(j.Key()); job.SameLease(j) && !seen[j.Key()] {
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
