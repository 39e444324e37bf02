package reads

import (
	"context"
	"errors"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// slots are the slots of jobs. Each is queried by itself.
var slots = func() (list []int64) {
	for slot := range int64(commerce.JobSlots) {
		list = append(list, slot)
	}
	return list
}()

// inState has the conditions for jobs of an owner. The index of parked jobs begins with it.
var inState = map[commerce.JobState]string{
	commerce.JobWaiting: "state = 'waiting' AND ($1 = '' OR owner = $1)",
	commerce.JobParked:  "state = 'parked' AND owner = $1",
	commerce.JobHeld:    "state = 'held' AND ($1 = '' OR owner = $1)",
	commerce.JobDead:    "state = 'dead' AND ($1 = '' OR owner = $1)",
	commerce.JobGivenUp: "state = 'given_up' AND ($1 = '' OR owner = $1)",
}

// Job reads a job.
func (r Reader) Job(ctx context.Context, key commerce.JobKey) (commerce.Job, error) {
	return one(ctx, r, &schema.Jobs, key)
}

// Jobs reads jobs in one state. Those that wait are found slot by slot.
func (r Reader) Jobs(ctx context.Context, f storage.JobFilter) (jobs []commerce.Job, err error) {
	sql := "SELECT " + schema.Jobs.Columns() + " FROM jobs WHERE " + inState[f.State] + " AND (run_at, slot, id) > ($2, $3, $4)"
	args := []any{f.Owner, f.After.RunAt, f.After.Slot, f.After.ID}
	const order = " ORDER BY run_at, slot, id LIMIT "
	if f.State != commerce.JobWaiting {
		return list(ctx, r, schema.ScanJob, sql+order+"$5", append(args, f.Limit)...)
	}
	err = each(ctx, r, slots, sql+" AND slot = "+r.number("$5")+order+"$6", func(slot int64) []any { return append(slices.Clip(args), slot, f.Limit) },
		func(_ int64, s schema.Scanner) { jobs = append(jobs, schema.ScanJob(s)) })
	return storage.FirstJobs(jobs, f.Limit), err
}

// FirstWebhookJobs finds the jobs by the time that their ids share with that of the event.
func (r Reader) FirstWebhookJobs(ctx context.Context, eventID string) (jobs []commerce.Job, err error) {
	at := commerce.TimeOfEvent(eventID)
	sql := "SELECT " + schema.Jobs.Columns() + " FROM jobs WHERE slot = " + r.number("$1") + " AND id >= " + r.text("$2") + " AND id < " + r.text("$3") + " AND subject = $4"
	err = each(ctx, r, slots, sql, func(slot int64) []any {
		return []any{slot, commerce.JobIDsFrom(at), commerce.JobIDsFrom(at + 1), eventID}
	},
		func(_ int64, s schema.Scanner) { jobs = append(jobs, schema.ScanJob(s)) })
	return jobs, err
}

// NextDue reports whether a job is due, and when the next one becomes due. It selects three
// times of a slot, each -1 if there is none: the first lease end of
// the jobs that are due, the time at which the next job is due, and the first lease end of
// the jobs whose time lies too far ahead. A lease that ends too late to be true counts as
// ended. A lease end is 0 if one of the jobs has no lease.
func (r Reader) NextDue(ctx context.Context, now commerce.Millis) (due bool, next commerce.Millis, err error) {
	sql := strings.NewReplacer("{jobs}", r.WaitingJobs+" WHERE slot = "+r.number("$1")+" AND state = 'waiting' AND run_at",
		"{now}", r.number("$2"), "{untrue}", r.number("$3"), "{horizon}", r.number("$4")).Replace(`SELECT
	CASE WHEN EXISTS (SELECT 1 FROM {jobs} <= {now} AND (leased_until <= {now} OR leased_until > {untrue}))
	THEN 0 ELSE coalesce((SELECT min(leased_until) FROM {jobs} <= {now}), -1) END,
	coalesce((SELECT run_at FROM {jobs} > {now} AND run_at <= {horizon} ORDER BY run_at LIMIT 1), -1),
	coalesce((SELECT min(CASE WHEN leased_until > {untrue} THEN 0 ELSE leased_until END) FROM {jobs} > {horizon}), -1)`)
	err = each(ctx, r, slots, sql, func(slot int64) []any {
		return []any{slot, now, now.Add(commerce.LongestLease), now.Add(commerce.JobHorizon)}
	}, func(_ int64, s schema.Scanner) {
		for range 3 {
			storage.AddNext(commerce.Millis(s.Int()), now, &due, &next)
		}
	})
	if errors.Is(err, storage.ErrNode) && (due || next != 0) {
		err = nil // the jobs of other nodes go on
	}
	return due, next, err
}
