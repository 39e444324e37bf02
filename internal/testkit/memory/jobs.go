package memory

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func (r reader) Job(_ context.Context, key commerce.JobKey) (commerce.Job, error) {
	return one(r, &schema.Jobs, key)
}

func (r reader) Jobs(_ context.Context, f storage.JobFilter) ([]commerce.Job, error) {
	after := commerce.Job{RunAt: f.After.RunAt, Slot: f.After.Slot, ID: f.After.ID}
	return list(r, &schema.Jobs, f.Limit, func(j *commerce.Job) bool {
		return j.State == f.State && (f.Owner == "" && f.State != commerce.JobParked || j.Owner == f.Owner) && byRunAt(j, &after) > 0
	}, byRunAt)
}

func (r reader) FirstWebhookJobs(_ context.Context, eventID string) ([]commerce.Job, error) {
	return list(r, &schema.Jobs, -1, func(j *commerce.Job) bool { return j.Subject == eventID && !j.Resends() },
		func(a, b *commerce.Job) int { return cmp.Compare(a.Slot, b.Slot) })
}

// NextDue implements storage.Reader. Processes look all the time, so the jobs are looked through again after a change
// of one of them, or when one becomes due.
func (r reader) NextDue(_ context.Context, now commerce.Millis) (due bool, next commerce.Millis, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	jobs := r.tables[schema.Jobs.Name]
	if r.looked.writes == jobs.writes && now >= r.looked.from && now < r.looked.till {
		return false, r.looked.till, nil
	}
	for _, row := range jobs.rows {
		j := row.value.(*commerce.Job)
		if j.State != commerce.JobWaiting {
			continue
		}
		at := j.RunAt
		if j.Due(now) {
			at = now
			if j.Leased(now) {
				at = j.LeasedUntil
			}
		}
		storage.AddNext(at, now, &due, &next)
	}
	if r.looked.till = next; due {
		r.looked.till = 0
	}
	r.looked.from, r.looked.writes = now, jobs.writes
	return due, next, nil
}
