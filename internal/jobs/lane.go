package jobs

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

type laneKey struct {
	kind  commerce.JobKind
	owner string
}

// lane is what this process has of one owner's jobs of one kind. Owners bound
// the number of lanes.
type lane struct {
	key       laneKey
	most      int     // tries at a time
	width     int     // of them, so far: one more with each success, one after a failure
	queue     []*task // oldest first
	promised  int     // reserved, not yet handed over
	running   int     // tries under way
	recording int     // tries that ended, not yet on record
	listed    bool    // it stands in Runner.ready
	short     bool    // storage may have jobs for which there was no room
}

// room is how many more jobs the lane's queue takes.
func (l *lane) room() int { return roomPerTry*l.width - len(l.queue) - l.promised }

// open tells whether the lane may make another try while so many of all lanes
// are under way. The fuller it gets, the fewer has each, so that lanes that
// hang leave some to the others.
func (l *lane) open(all int) bool {
	width := l.width
	switch {
	case all >= maxRunning*3/4:
		width = 1
	case all >= maxRunning/2:
		width = min(width, 4)
	}
	return len(l.queue) > 0 && l.running < width && l.running+l.recording < unrecorded*l.width
}

// laneOf is called with the lock held.
func (r *Runner) laneOf(job commerce.Job) *lane {
	key := laneKey{job.Kind, job.Owner}
	if r.Kinds[job.Kind].Together {
		key.owner = ""
	}
	l := r.lanes[key]
	if l == nil {
		l = &lane{key: key, most: r.Kinds[job.Kind].Width, width: 1}
		r.lanes[key] = l
	}
	return l
}

// Reserve implements commit.Starter.
func (r *Runner) Reserve(job commerce.Job) (commit.Lease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.Kinds[job.Kind]; !known || r.stopping || job.RunAt > now()+soon || len(r.tasks)+r.promised >= maxHeld {
		return commit.Lease{}, false
	}
	l := r.laneOf(job)
	if !job.Awaited && l.room() <= 0 { // what is awaited stands in no queue
		l.short = true
		return commit.Lease{}, false
	}
	l.promised++
	r.promised++
	return commit.Lease{Worker: r.Worker, Until: now() + commerce.JobLease}, true
}

// Cancel implements commit.Starter.
func (r *Runner) Cancel(jobs []commerce.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		r.laneOf(job).promised--
		r.promised--
	}
}

// Start implements commit.Starter.
func (r *Runner) Start(jobs []commerce.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		r.laneOf(job).promised--
		r.promised--
		r.take(job)
	}
	r.dispatch()
}

// take puts a leased job into its lane. A job whose earlier try is still under
// way here, beyond its lease, gets no second one: its task is returned, and the
// new lease is left to end. The lock is held.
func (r *Runner) take(job commerce.Job) *task {
	if t := r.tasks[job.Key()]; t != nil {
		return t
	}
	t := &task{job: job, lane: r.laneOf(job), done: make(chan struct{})}
	r.tasks[job.Key()] = t
	if r.stopping {
		r.back = append(r.back, t)
		return t
	}
	if t.held = job.Awaited; !t.held {
		t.lane.queue = append(t.lane.queue, t)
		r.list(t.lane)
	}
	return t
}

// list has a lane take its turn, if it has one. The lock is held.
func (r *Runner) list(l *lane) {
	if !l.listed && l.open(r.running) {
		l.listed = true
		r.ready = append(r.ready, l)
	}
}

// dispatch begins as many tries as may be. The lock is held.
func (r *Runner) dispatch() {
	for t := r.next(); t != nil; t = r.next() {
		r.begin(t)
	}
}

// next begins a try, a lane after the other; nil: none may begin. A lane that
// may not go on is listed again when a try of its own ends. The lock is held.
func (r *Runner) next() *task {
	for len(r.ready) > 0 && r.running < maxRunning {
		l := r.ready[0]
		r.ready = r.ready[1:]
		l.listed = false
		if !l.open(r.running) {
			continue
		}
		t := l.queue[0]
		l.queue = l.queue[1:]
		if t.stale() {
			r.back = append(r.back, t)
			r.Wake()
			r.list(l)
			continue
		}
		l.running++
		r.running++
		r.list(l)
		return t
	}
	return nil
}

// begin has a worker make a try. The lock is held.
func (r *Runner) begin(t *task) {
	r.work.Add(1)
	go r.run(t)
}

// hasten begins the try of a task out of turn, if it has not begun. It takes
// nothing from the others: there are as many as callers who wait. The lock is
// held.
func (r *Runner) hasten(t *task) {
	i := slices.Index(t.lane.queue, t)
	switch {
	case r.stopping:
		return
	case t.stale():
		if t.held { // nobody else looks for it
			t.held = false
			r.back = append(r.back, t)
			r.Wake()
		}
		return
	case t.held:
		t.held = false
	case i >= 0:
		t.lane.queue = slices.Delete(t.lane.queue, i, i+1)
	default:
		return
	}
	t.hastened = true
	r.begin(t)
}

// stale tells that the lease may end before a try does.
func (t *task) stale() bool { return t.job.LeasedUntil-now() < TryTime.Milliseconds() }

// tried makes place for the next try, which it begins if one may.
func (r *Runner) tried(t *task, ok bool) (next *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := t.lane
	l.recording++
	if t.hastened {
		return nil
	}
	l.running--
	r.running--
	if ok {
		l.width = min(l.width+1, l.most)
	} else {
		l.width = 1
	}
	r.list(l)
	next = r.next()
	r.dispatch()
	return next
}

// release is the end of a task: its outcome is on record, or it is to be given
// back. Half a queue that is free again may be filled from storage.
func (r *Runner) release(t *task, back bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.lane.recording--
	if back {
		r.back = append(r.back, t)
	} else {
		r.forget(t)
	}
	r.list(t.lane)
	r.dispatch()
	if t.lane.short && len(t.lane.queue) <= roomPerTry*t.lane.width/2 {
		t.lane.short = false
		r.Wake()
	}
}

// forget is called with the lock held.
func (r *Runner) forget(t *task) {
	if r.tasks[t.job.Key()] == t {
		delete(r.tasks, t.job.Key())
	}
	close(t.done)
}
