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
	next, err := r.Queue.NextDue(r.tries, at)
	wait := idle
	switch {
	case err != nil || next == 0:
	case next <= at:
		wait, err = r.pass(at)
	default:
		wait = min(time.Duration(next-at)*time.Millisecond, idle)
	}
	if err != nil && r.tries.Err() == nil {
		slog.Error("the database was not asked for due jobs", "error", err)
	}
	return wait
}

// gatherTime is between passes that leave nothing behind, while jobs come up all
// the time.
const gatherTime = 50 * time.Millisecond

// aheadEvery is how many passes that find jobs go by without a look at those
// that lie too far ahead to be believed.
const aheadEvery = 32

// pass claims from each slot once, and says how long to wait before the next
// look. A pass costs about as much however little it finds, so that after one
// that left nothing behind some may gather. What there was no room for wakes the
// runner once there is.
func (r *Runner) pass(at int64) (wait time.Duration, err error) {
	wait = idle
	r.busy++
	ahead := r.busy%aheadEvery == 1
	defer func() {
		if wait == idle {
			r.busy = 0 // the next one looks at all
		}
	}()
	for range commerce.JobSlots {
		slot := r.slot
		r.slot = (r.slot + 1) % commerce.JobSlots
		full, limit := r.fullness()
		if limit == 0 {
			return wait, nil
		}
		jobs, err := r.Queue.ClaimJobs(r.tries, storage.JobClaim{
			Slot: slot, Worker: r.Worker, Now: at, Until: at + commerce.JobLease, Limit: limit, Except: full, Ahead: ahead,
		})
		if err != nil {
			return idle, err
		}
		switch taken := r.accept(jobs); {
		case taken > 0 && len(jobs) == limit:
			wait = 0
		case taken > 0:
			wait = min(wait, gatherTime)
		}
	}
	return wait, nil
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
		if err := r.Ledger.Return(ctx, jobs); err != nil {
			slog.Warn("jobs were not given back; their leases will end", "jobs", len(jobs), "error", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tasks {
		r.forget(t)
	}
}
