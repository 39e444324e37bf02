package jobs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// Step gives jobs back that this process does not get to, and claims due jobs. It
// asks to be called again when the next job may be due, and ends when the runner
// stops.
func (r *Runner) Step() env.Next {
	if r.tries.Err() != nil {
		return env.Ended
	}
	r.setBack()
	r.giveBack(r.tries)
	return env.Next(r.look())
}

// look claims what is due, and returns how long nothing will be.
func (r *Runner) look() time.Duration {
	at := r.now()
	due, next, err := r.Queue.NextDue(r.tries, at)
	wait, least := idlePause, time.Duration(0)
	if err == nil && due {
		wait, err = r.pass(at)
		least = passPause
	}
	if err == nil && next != 0 { // also after a pass: what it left is of lanes that have no room
		wait = min(wait, max(next.Sub(at), least))
	}
	if err != nil && r.tries.Err() == nil {
		slog.Warn("due jobs could not be read", "error", err)
	}
	return wait
}

// passPause is the time between passes that leave nothing behind, while jobs
// become due all the time.
const passPause = 50 * time.Millisecond

// aheadEvery is how many passes that find jobs go by without a look at jobs that
// lie too far ahead to be believed.
const aheadEvery = 32

// pass claims from each slot once, and returns how long to wait before the next
// look. A pass costs about the same however little it finds, so after a pass that
// left nothing behind the runner lets some jobs become due. Jobs that had no room
// wake the runner once there is room.
func (r *Runner) pass(at commerce.Millis) (wait time.Duration, err error) {
	wait = idlePause
	r.busy++
	ahead := r.busy%aheadEvery == 1
	defer func() {
		if wait == idlePause {
			r.busy = 0 // the next pass looks at all jobs
		}
	}()
	var classes []commerce.JobClass
	var full []commerce.JobLane
	for n, changed := 0, true; n < commerce.JobSlots; n++ {
		slot := r.slot
		r.slot = (r.slot + 1) % commerce.JobSlots
		if changed { // most slots of a pass have nothing, and there are a thousand lanes
			classes, full = r.wanted()
		}
		if len(classes) == 0 {
			return wait, nil
		}
		jobs, err := r.Queue.ClaimJobs(r.tries, storage.JobClaim{
			Slot: slot, Worker: r.Worker, Now: at, Until: at.Add(commerce.JobLease), Limit: claimSize, Classes: classes, Except: full, Ahead: ahead,
		})
		if errors.Is(err, storage.ErrNode) { // other slots may be on other nodes
			slog.Warn("jobs of a slot could not be claimed", "slot", slot, "error", err)
			continue
		}
		if err != nil {
			return idlePause, err
		}
		changed = len(jobs) > 0
		switch taken := r.accept(jobs); {
		case taken > 0 && len(jobs) == claimSize:
			wait = 0
		case taken > 0:
			wait = min(wait, passPause)
		}
	}
	return wait, nil
}

// wanted returns the jobs to claim: jobs of known kinds whose pool has room for a whole
// claim, except the jobs of full lanes.
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

// accept puts claimed jobs into their lanes, and gives those back that have no room
// there. It returns how many had room.
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
		r.back = append(r.back, &task{job: job, done: make(chan struct{})})
	}
	if len(r.back) > 0 { // the next pass notes which lanes are full
		r.Wake()
	}
	return taken
}

// staleEvery is how often all lanes are looked through for stale jobs. A try looks again at
// its own.
const staleEvery = time.Second

// setBack takes stale jobs out of their lanes, to be given back.
func (r *Runner) setBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.now()
	if at >= r.looked && at < r.looked.Add(staleEvery) {
		return
	}
	r.looked = at
	for _, l := range r.lanes {
		for len(l.queue) > 0 && r.stale(l.queue[0]) {
			r.back = append(r.back, l.queue[0])
			l.queue = l.queue[1:]
		}
	}
}

// giveBack returns the jobs that this process does not get to.
func (r *Runner) giveBack(ctx context.Context) {
	r.mu.Lock()
	tasks := r.back
	r.back = nil
	r.mu.Unlock()
	// They come out of maps, whose order is random.
	slices.SortFunc(tasks, func(a, b *task) int { return cmp.Compare(a.job.ID, b.job.ID) })
	var jobs []commerce.Job
	for _, t := range tasks {
		if t.job.Leased(r.now()) { // else another worker may have it by now
			jobs = append(jobs, t.job)
		}
	}
	if len(jobs) > 0 {
		if err := r.Ledger.ReturnJobs(ctx, jobs); err != nil {
			slog.Warn("jobs were not given back; their leases will end", "jobs", len(jobs), "error", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tasks {
		r.forget(t)
	}
}
