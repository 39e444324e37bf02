package jobs

import (
	"slices"

	"purveyor/internal/commerce"
)

// lane is the jobs of this process that share a commerce.JobLane. The failures of
// one lane narrow no other lane.
type lane struct {
	key       commerce.JobLane
	pool      *pool
	most      int     // tries at a time
	width     int     // tries at a time, so far: one more after each success, 1 after a failure
	queue     []*task // oldest first
	promised  int     // reserved, not yet handed over
	running   int     // tries under way
	recording int     // tries that ended, not yet on record
	listed    bool    // it stands in pool.ready
	short     bool    // storage may have jobs that had no room here
	apart     bool    // no other job comes: it is forgotten with its job
}

// keptLanes is how many lanes are remembered although they have nothing to do.
const keptLanes = 1024

// idle reports whether nothing is lost when the lane is forgotten.
func (l *lane) idle() bool {
	return len(l.queue)+l.promised+l.running+l.recording == 0 && !l.listed && !l.short
}

// room is how many more jobs the lane's queue takes. No lane can fill its pool
// alone.
func (l *lane) room() int {
	return min(roomPerTry*l.width, l.pool.mostLeased()/4) - len(l.queue) - l.promised
}

// open reports whether the lane may begin another try. The more tries its pool has
// under way, the fewer each lane may have, so that hanging lanes leave room for
// other lanes.
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
		l = &lane{key: key, pool: r.poolOf(key.JobClass), most: kind.Width, width: 1, apart: kind.Apart}
		r.lanes[key] = l
	}
	return l
}

// Reserve implements commit.Starter.
func (r *Runner) Reserve(job commerce.Job) (commerce.Job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.Kinds[job.Kind]; !known || r.stopping || job.RunAt > r.now().Add(soon) {
		return job, false
	}
	l := r.laneOf(job)
	if l.pool.leased >= l.pool.mostLeased() {
		l.pool.short = true
		return job, false
	}
	if !job.Awaited && l.room() <= 0 { // an awaited job stands in no queue
		l.short = true
		return job, false
	}
	l.promised++
	l.pool.leased++
	return job.LeasedTo(r.Worker, r.now().Add(commerce.JobLease)), true
}

// EndReservation implements commit.Starter.
func (r *Runner) EndReservation(jobs []commerce.Job, saved bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		l := r.laneOf(job)
		l.promised--
		l.pool.leased--
		if saved {
			r.take(job)
			r.dispatch(l.pool)
		}
	}
}

// take puts a leased job into its lane. If an earlier try of the job is still under
// way here, beyond its lease, take returns the task of that try and lets the new
// lease run out. The lock is held.
func (r *Runner) take(job commerce.Job) *task {
	if t := r.tasks[job.Key()]; t != nil {
		return t
	}
	t := &task{job: job, lane: r.laneOf(job), done: make(chan struct{})}
	r.tasks[job.Key()] = t
	t.lane.pool.leased++
	if _, known := r.Kinds[job.Kind]; r.stopping || !known {
		r.back = append(r.back, t)
		return t
	}
	if t.dormant = job.Awaited; !t.dormant {
		t.lane.queue = append(t.lane.queue, t)
		r.list(t.lane)
	}
	return t
}

// list puts a lane in line for a try, if it may begin one. The lock is held.
func (r *Runner) list(l *lane) {
	if !l.listed && l.open() {
		l.listed = true
		l.pool.ready = append(l.pool.ready, l)
	}
}

// dispatch begins as many tries of a pool as may be. The lock is held.
func (r *Runner) dispatch(p *pool) {
	for t := r.next(p); t != nil; t = r.next(p) {
		r.begin(func() { r.run(t) })
	}
}

// next takes the task of a pool whose try may begin now; nil: there is none. Lanes
// take turns. A lane that may not go on is listed again when one of its tries ends.
// The lock is held.
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
		if r.stale(t) {
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

// startNow begins the try of a task out of turn, if the try has not begun. Such
// tries take no room from others; there are only as many as waiting callers. The
// lock is held.
func (r *Runner) startNow(t *task) {
	i := slices.Index(t.lane.queue, t)
	switch {
	case r.stopping:
		return
	case r.stale(t):
		if t.dormant { // no claim and no caller finds it
			t.dormant = false
			r.back = append(r.back, t)
			r.Wake()
		}
		return
	case t.dormant:
		t.dormant = false
	case i >= 0:
		t.lane.queue = slices.Delete(t.lane.queue, i, i+1)
	default:
		return
	}
	t.outOfTurn = true
	r.begin(func() { r.run(t) })
}

// stale reports whether the lease may end before a try does.
func (r *Runner) stale(t *task) bool {
	return t.job.LeasedUntil < r.now().Add(TryTime)
}

// tried makes room for the next tries, and begins them. It returns one of them for
// the caller's goroutine.
func (r *Runner) tried(t *task, ok bool) (next *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := t.lane
	l.recording++
	if t.outOfTurn {
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

// release ends a task whose outcome is on record, or that is to be given back. When
// half of a full queue is free again, the runner claims more.
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
	if (len(r.lanes) > keptLanes || l.apart) && l.idle() && r.lanes[l.key] == l {
		delete(r.lanes, l.key)
	}
}

// forget is called with the lock held.
func (r *Runner) forget(t *task) {
	if r.tasks[t.job.Key()] == t {
		delete(r.tasks, t.job.Key())
		p := t.lane.pool
		p.leased--
		if p.short && p.leased <= p.mostLeased()/2 {
			p.short = false
			r.Wake()
		}
	}
	close(t.done)
}

// Pool names the kinds of jobs that are bounded together. Each pool exists once
// for each mode, so that test orders take no room from live orders.
type Pool string

// poolTries is how many tries a pool has under way, unless Options.Pools says
// otherwise.
const poolTries = 256

// leasedPerTry is how many jobs are leased to this process for each try that their
// pool may have under way.
const leasedPerTry = 64

type poolKey struct {
	name Pool
	mode commerce.Mode
}

// pool bounds what this process does at a time for the lanes that share it.
type pool struct {
	most    int     // tries under way
	running int     // of them
	leased  int     // jobs that are leased to this process, or reserved
	ready   []*lane // lanes that may begin a try, each once, in turn
	short   bool    // storage may have jobs that had no room here
}

// full reports whether a claim may give more jobs than the pool has room for.
func (p *pool) full() bool { return p.leased > p.mostLeased()-claimSize }

func (p *pool) mostLeased() int { return max(leasedPerTry*p.most, 2*claimSize) }

// poolOf is called with the lock held.
func (r *Runner) poolOf(class commerce.JobClass) *pool {
	key := poolKey{r.Kinds[class.Kind].Pool, class.Mode}
	p := r.pools[key]
	if p == nil {
		most := r.Pools[key.name]
		if most == 0 {
			most = poolTries
		}
		p = &pool{most: most}
		r.pools[key] = p
	}
	return p
}
