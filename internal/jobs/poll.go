package jobs

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// poll looks for due jobs when there may be some, until the runner stops.
func (r *Runner) poll() {
	defer close(r.polled)
	for {
		r.giveBack(r.tries)
		wait := r.look()
		select {
		case <-r.tries.Done():
			return
		case <-r.wake:
		case <-time.After(wait):
		}
	}
}

// look claims what is due, and says how long nothing will be.
func (r *Runner) look() time.Duration {
	at := now()
	next, err := r.queue.NextDue(r.tries, at)
	if err == nil && next != 0 && next <= at {
		var more bool
		if more, err = r.pass(at); more && err == nil {
			return 0
		}
		return idle
	}
	if err != nil && r.tries.Err() == nil {
		slog.Error("the database was not asked for due jobs", "error", err)
	}
	if err != nil || next == 0 {
		return idle
	}
	return min(time.Duration(next-at)*time.Millisecond, idle)
}

// pass claims from each slot once, and tells whether another pass is likely to
// find more that there is room for.
func (r *Runner) pass(at int64) (more bool, err error) {
	for range commerce.JobSlots {
		slot := r.slot
		r.slot = (r.slot + 1) % commerce.JobSlots
		full, limit := r.fullness()
		if limit == 0 {
			return false, nil
		}
		jobs, err := r.queue.ClaimJobs(r.tries, storage.JobClaim{
			Slot: slot, Worker: r.worker, Now: at, Until: at + commerce.JobLease, Limit: limit, Except: full,
		})
		if err != nil {
			return false, err
		}
		more = r.accept(jobs) > 0 || more
	}
	return more, nil
}

// fullness says which lanes take no more, and how many jobs can be claimed.
func (r *Runner) fullness() (full []storage.JobLane, limit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, l := range r.lanes {
		if l.room() <= 0 {
			l.short = true
			full = append(full, storage.JobLane{Kind: key.kind, Owner: key.owner})
		}
	}
	return full, max(0, min(claimSize, maxHeld-len(r.tasks)-r.promised))
}

// accept puts claimed jobs into their lanes; what has no room there is given
// back. It returns how many had.
func (r *Runner) accept(jobs []commerce.Job) (taken int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		if r.laneOf(job).room() > 0 {
			r.take(job)
			taken++
			continue
		}
		r.laneOf(job).short = true
		r.back = append(r.back, &task{job: job, done: make(chan struct{})})
	}
	r.dispatch()
	if len(r.back) > 0 {
		r.Wake()
	}
	return taken
}

// giveBack returns what this process does not get to, and what is about to be
// too late for a try.
func (r *Runner) giveBack(ctx context.Context) {
	r.mu.Lock()
	for _, l := range r.lanes {
		for len(l.queue) > 0 && l.queue[0].stale() {
			r.back = append(r.back, l.queue[0])
			l.queue = l.queue[1:]
		}
	}
	tasks := r.back
	r.back = nil
	r.mu.Unlock()
	var jobs []commerce.Job
	for _, t := range tasks {
		if t.job.Leased(now()) { // else it may be another's by now
			jobs = append(jobs, t.job)
		}
	}
	if len(jobs) > 0 {
		if err := r.ledger.Return(ctx, jobs); err != nil {
			slog.Warn("jobs were not given back; their leases will end", "jobs", len(jobs), "error", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tasks {
		r.forget(t)
	}
}
