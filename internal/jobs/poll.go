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
	due, next, err := r.Queue.NextDue(r.tries, at)
	wait, least := idle, time.Duration(0)
	if err == nil && due {
		wait, err = r.pass(at)
		least = gatherTime
	}
	if err == nil && next != 0 { // also after a pass: what it left is of lanes that have no room
		wait = min(wait, max(time.Duration(next-at)*time.Millisecond, least))
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
		classes, full := r.wanted()
		if len(classes) == 0 {
			return wait, nil
		}
		jobs, err := r.Queue.ClaimJobs(r.tries, storage.JobClaim{
			Slot: slot, Worker: r.Worker, Now: at, Until: at + commerce.JobLease, Limit: claimSize, Classes: classes, Except: full, Ahead: ahead,
		})
		if err != nil {
			return idle, err
		}
		switch taken := r.accept(jobs); {
		case taken > 0 && len(jobs) == claimSize:
			wait = 0
		case taken > 0:
			wait = min(wait, gatherTime)
		}
	}
	return wait, nil
}

// wanted says which jobs to claim: those of known kinds whose pool has room for
// a whole claim, but not those of lanes that take no more.
func (r *Runner) wanted() (classes []commerce.JobClass, full []commerce.JobLane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind := range r.Kinds {
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			class := commerce.JobClass{Kind: kind, Mode: mode}
			if p := r.poolOf(class); p.full() {
				p.short = true
			} else {
				classes = append(classes, class)
			}
		}
	}
	for key, l := range r.lanes {
		if l.room() <= 0 && !l.pool.full() {
			l.short = true
			full = append(full, key)
		}
	}
	return classes, full
}

// accept puts claimed jobs into their lanes; what has no room there is given
// back. It returns how many had.
func (r *Runner) accept(jobs []commerce.Job) (taken int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		l := r.laneOf(job)
		if l.room() > 0 {
			r.take(job)
			r.dispatch(l.pool)
			taken++
			continue
		}
		l.short = true
		r.back = append(r.back, &task{job: job, done: make(chan struct{})})
	}
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
