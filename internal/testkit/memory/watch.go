package memory

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// JobCounts implements storage.Reader, as does EachEndpoint.
func (r reader) JobCounts(context.Context) (counts []storage.JobCount, err error) {
	jobs, err := list(r, &schema.Jobs, -1, func(commerce.Job) bool { return true }, func(commerce.Job, commerce.Job) int { return 0 })
next:
	for _, j := range jobs {
		made := commerce.TimeOfJob(j.ID)
		for i, c := range counts {
			if c.Kind == j.Kind && c.State == j.State {
				counts[i].Count, counts[i].First, counts[i].Made = c.Count+1, min(c.First, j.RunAt), min(c.Made, made)
				continue next
			}
		}
		counts = append(counts, storage.JobCount{Kind: j.Kind, State: j.State, Count: 1, First: j.RunAt, Made: made})
	}
	return counts, err
}

func (r reader) EachEndpoint(context.Context) ([]commerce.Endpoint, error) {
	all, err := list(r, &schema.Endpoints, -1, func(commerce.Endpoint) bool { return true }, func(commerce.Endpoint, commerce.Endpoint) int { return 0 })
	for i, e := range all {
		all[i] = commerce.Endpoint{PartnerID: e.PartnerID, ID: e.ID, FailingSince: e.FailingSince, HeldUntil: e.HeldUntil, HeldSince: e.HeldSince, PausedOn: e.PausedOn}
	}
	return all, err
}

// Vitals implements storage.Engine.
func (e *Engine) Vitals(context.Context) (storage.Vitals, error) { return storage.Vitals{}, nil }
