package jobs

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// lane is the jobs of this process that share a commerce.JobLane. Its failures
// narrow no other lane.
type lane struct {
	key       commerce.JobLane
	pool      *pool
	most      int     // tries at a time
	width     int     // of them, so far: one more with each success, one after a failure
	queue     []*task // oldest first
	promised  int     // reserved, not yet handed over
	running   int     // tries under way
	recording int     // tries that ended, not yet on record
	listed    bool    // it stands in pool.ready
	short     bool    // storage may have jobs for which there was no room
}

// keptLanes is how many lanes are remembered although they have nothing to do.
const keptLanes = 1024

// idle tells whether nothing is lost when the lane is forgotten.
func (l *lane) idle() bool {
	return len(l.queue)+l.promised+l.running+l.recording == 0 && !l.listed && !l.short
}

// room is how many more jobs the lane's queue takes. One lane never fills its
// pool.
func (l *lane) room() int {
	return min(roomPerTry*l.width, l.pool.mostHeld()/4) - len(l.queue) - l.promised
}

// open tells whether the lane may begin another try. The more tries its pool has
// under way, the fewer each lane may have, so that lanes that hang leave room to
// the others.
func (l *lane) open() bool {
	width := l.width
	switch all := l.pool.running; {
	case all >= l.pool.most*3/4:
		width = 1
	case all >= l.pool.most/2:
		width = min(width, 4)
	}
	return len(l.queue) > 0 && l.running < width && l.running+l.recording < unrecorded*l.width
}

// laneOf is called with the lock held.
func (r *Runner) laneOf(job commerce.Job) *lane {
	kind, key := r.Kinds[job.Kind], job.Lane()
	if kind.Apart {
		key.Owner = job.Subject
	}
	l := r.lanes[key]
	if l == nil {
		l = &lane{key: key, pool: r.poolOf(key.JobClass), most: kind.Width, width: 1}
		r.lanes[key] = l
	}
	return l
}

// Reserve implements commit.Starter.
func (r *Runner) Reserve(job commerce.Job) (commit.Lease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.Kinds[job.Kind]; !known || r.stopping || job.RunAt > now()+soon {
		return commit.Lease{}, false
	}
	l := r.laneOf(job)
	if l.pool.held >= l.pool.mostHeld() {
		l.pool.short = true
		return commit.Lease{}, false
	}
	if !job.Awaited && l.room() <= 0 { // what is awaited stands in no queue
		l.short = true
		return commit.Lease{}, false
	}
	l.promised++
	l.pool.held++
	return commit.Lease{Worker: r.Worker, Until: now() + commerce.JobLease}, true
}

// Cancel implements commit.Starter.
func (r *Runner) Cancel(jobs []commerce.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		r.unpromise(job)
	}
}

// unpromise ends a reservation. The lock is held.
func (r *Runner) unpromise(job commerce.Job) {
	l := r.laneOf(job)
	l.promised--
	l.pool.held--
}

// Start implements commit.Starter.
func (r *Runner) Start(jobs []commerce.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		r.unpromise(job)
		r.dispatch(r.take(job).lane.pool)
	}
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
	t.lane.pool.held++
	if _, known := r.Kinds[job.Kind]; r.stopping || !known {
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
	if !l.listed && l.open() {
		l.listed = true
		l.pool.ready = append(l.pool.ready, l)
	}
}

// dispatch begins as many tries of a pool as may be. The lock is held.
func (r *Runner) dispatch(p *pool) {
	for t := r.next(p); t != nil; t = r.next(p) {
		r.begin(t)
	}
}

// next begins a try of a pool, a lane after the other; nil: none may begin. A
// lane that may not go on is listed again when a try of its own ends. The lock
// is held.
func (r *Runner) next(p *pool) *task {
	for len(p.ready) > 0 && p.running < p.most {
		l := p.ready[0]
		p.ready = p.ready[1:]
		l.listed = false
		if !l.open() {
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
		p.running++
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
		if t.held { // no claim and no caller finds it
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
	l.pool.running--
	if ok {
		l.width = min(l.width+1, l.most)
	} else {
		l.width = 1
	}
	r.list(l)
	next = r.next(l.pool)
	r.dispatch(l.pool)
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
	l := t.lane
	r.list(l)
	r.dispatch(l.pool)
	if l.short && len(l.queue) <= roomPerTry*l.width/2 {
		l.short = false
		r.Wake()
	}
	if len(r.lanes) > keptLanes && l.idle() && r.lanes[l.key] == l {
		delete(r.lanes, l.key)
	}
}

// forget is called with the lock held.
func (r *Runner) forget(t *task) {
	if r.tasks[t.job.Key()] == t {
		delete(r.tasks, t.job.Key())
		p := t.lane.pool
		p.held--
		if p.short && p.held <= p.mostHeld()/2 {
			p.short = false
			r.Wake()
		}
	}
	close(t.done)
}
