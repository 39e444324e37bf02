package memory

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Gauges implements storage.Reader.
func (r reader) Gauges(ctx context.Context, most int) (g storage.Gauges, err error) {
	if g.Jobs, err = r.jobCounts(most); err != nil {
		return g, err
	}
	if g.Endpoints, err = r.eachEndpoint(); err != nil {
		return g, err
	}
	if g.Open, err = r.OpenCounts(ctx, nil, most); err != nil {
		return g, err
	}
	g.Attention, err = r.AttentionCounts(ctx, nil, most)
	return g, err
}

func (r reader) jobCounts(most int) (counts []storage.JobCount, err error) {
	jobs, err := list(r, &schema.Jobs, -1, func(j *commerce.Job) bool { return j.State != commerce.JobGivenUp }, func(a, b *commerce.Job) int { return cmp.Compare(a.RunAt, b.RunAt) })
	type part struct {
		state   commerce.JobState
		slot    int64
		refunds bool
	}
	counted := map[part]int{}
next:
	for _, j := range jobs {
		of, limit := part{state: j.State, slot: -1}, most
		if j.State == commerce.JobWaiting { // each slot is counted by itself, and refunds also as a whole
			of.slot, limit = j.Slot, max(most/commerce.JobSlots, 1)
			if j.Kind == commerce.JobRefund {
				counted[of]++
				of, limit = part{state: j.State, slot: -1, refunds: true}, most
			}
		}
		if counted[of]++; counted[of] > limit {
			continue
		}
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

func (r reader) eachEndpoint() ([]commerce.Endpoint, error) {
	all, err := list(r, &schema.Endpoints, -1, func(*commerce.Endpoint) bool { return true }, func(_, _ *commerce.Endpoint) int { return 0 })
	for i, e := range all {
		all[i] = commerce.Endpoint{PartnerID: e.PartnerID, ID: e.ID, FailingSince: e.FailingSince, HeldUntil: e.HeldUntil, HeldSince: e.HeldSince, PausedOn: e.PausedOn}
	}
	return all, err
}

// Vitals implements storage.Engine.
func (e *Engine) Vitals(context.Context) (storage.Vitals, error) { return storage.Vitals{}, nil }
