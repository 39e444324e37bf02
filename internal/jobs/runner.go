// Package jobs runs what leaves the process. Jobs stand in storage, written
// with the change that asked for them; a process leases them, makes one try at
// a time and has the outcome recorded. Whatever happens to the process, a job
// whose lease ran out is taken up by another.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Kind says how jobs of a kind are done.
type Kind struct {
	// Do makes one try. It ends soon after ctx does, which lasts for TryTime.
	Do func(ctx context.Context, job commerce.Job) Outcome
	// Width is how many tries of one lane may be under way at a time.
	Width int
	// Pool bounds the tries of all lanes of all kinds that name it.
	Pool Pool
	// Apart gives each job a lane of its own: no two of the kind fail for the same
	// reason.
	Apart bool
}

// Outcome is the result of a try.
type Outcome struct {
	// Err is why the try failed. It narrows the job's lane to one try at a time; nil
	// widens it.
	Err error
	// Record makes the outcome durable: the job done, put off, parked or dead. It
	// does not wait for that. It calls recorded once, with the job as it goes on (the
	// zero Job if it is done). Nil: there is no outcome, and the job comes up again
	// when its lease ends.
	Record Record
}

// Record makes an outcome durable and then calls recorded.
type Record func(ctx context.Context, recorded func(commerce.Job, error))

// Waiting makes a Record of a function that returns when the outcome is durable.
func Waiting(record func(context.Context) (commerce.Job, error)) Record {
	return func(ctx context.Context, recorded func(commerce.Job, error)) {
		go func() { recorded(record(ctx)) }()
	}
}

// Queue is where jobs come from.
type Queue interface {
	ClaimJobs(ctx context.Context, claim storage.JobClaim) ([]commerce.Job, error)
	// NextDue tells whether a job is due now that no worker has leased, and when
	// the next other one comes up (Unix ms); 0: there is none.
	NextDue(ctx context.Context, now int64) (due bool, next int64, err error)
}

// Ledger changes jobs in ways that are the same for all kinds.
type Ledger interface {
	// Take leases a job for this process, if no worker has it; there says that it is
	// not done yet.
	Take(ctx context.Context, key commerce.JobKey) (job commerce.Job, there, taken bool, err error)
	// Return gives leases back, so that the jobs can be claimed at once.
	Return(ctx context.Context, jobs []commerce.Job) error
	// Fail records a try that ended in a panic, and returns the job as it goes on.
	Fail(ctx context.Context, job commerce.Job, err error) (commerce.Job, error)
}

const (
	// TryTime is within what a try ends. A job whose lease would end before is
	// given back.
	TryTime = 16 * time.Second

	roomPerTry = 256 // of a lane's queue, for each try that it may make at a time
	// unrecorded is how many tries of a lane may be under way or wait for their
	// record, for each that may be under way: sending does not wait for the disk.
	unrecorded = 16

	claimSize   = 500
	idle        = 2 * time.Second // between looks at storage when nothing is known to be due
	recordPause = time.Second

	// soon is how far ahead a new job may be due to be begun at once: stamps of
	// batches run ahead of the clock a little.
	soon = 1000 // ms
)

// Runner runs jobs. Those of one owner, partner and mode have a lane of their
// own, so that no job waits for another lane's slow provider.
type Runner struct {
	Options

	tries    context.Context // ends with Stop
	cut      context.CancelFunc
	waits    context.Context // ends with EndWaits, or before tries
	endWaits context.CancelFunc
	polled   chan struct{}  // closed when the poll loop has ended
	work     sync.WaitGroup // tries and their records
	wake     chan struct{}

	mu       sync.Mutex
	stopping bool
	pools    map[poolKey]*pool
	lanes    map[commerce.JobLane]*lane
	tasks    map[commerce.JobKey]*task
	back     []*task // to be given back
	slot     int64   // where the next pass begins
	busy     int     // passes since one that found nothing
}

// task is a job that is leased to this process.
type task struct {
	job  commerce.Job
	lane *lane
	done chan struct{} // closed when the process is done with it
	held bool          // it is in no queue: the caller who awaits it begins it
	// hastened says that it was begun out of turn, and is not counted.
	hastened bool
}

// Options are what a runner works with.
type Options struct {
	Worker string // a name that no other process has
	Queue  Queue
	Ledger Ledger
	Kinds  map[commerce.JobKind]Kind
	Pools  map[Pool]int // tries of a pool under way at a time; 0: 256
	// Failed is called once for each failed try, after it was recorded. dead: no try
	// is left. It must not block. Nil: nothing is called.
	Failed func(job commerce.Job, err error, dead bool)
}

// New makes a runner.
func New(o Options) *Runner {
	r := &Runner{
		Options: o,
		polled:  make(chan struct{}), wake: make(chan struct{}, 1),
		pools: map[poolKey]*pool{}, lanes: map[commerce.JobLane]*lane{}, tasks: map[commerce.JobKey]*task{},
	}
	r.tries, r.cut = context.WithCancel(context.Background())
	r.waits, r.endWaits = context.WithCancel(r.tries)
	return r
}

// Run begins to take up jobs from storage.
func (r *Runner) Run() { go r.poll() }

// Stop ends what Run began: nothing is taken up any more, tries under way are
// cut, their outcomes recorded if they have any, and all other jobs given back
// before ctx ends.
func (r *Runner) Stop(ctx context.Context) {
	r.mu.Lock()
	r.stopping = true
	for _, l := range r.lanes {
		r.back = append(r.back, l.queue...)
		l.queue = nil
	}
	for _, t := range r.tasks {
		if t.held {
			t.held = false
			r.back = append(r.back, t)
		}
	}
	r.mu.Unlock()
	r.cut()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-r.polled
		r.work.Wait()
		r.giveBack(ctx)
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
	}
}

// Wake has the runner look for due jobs now.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func now() int64 { return time.Now().UnixMilli() }

// run makes the try of a task, and then others as long as there is one to be
// made: what was learned about the size of its stack is not forgotten.
func (r *Runner) run(t *task) {
	defer r.work.Done()
	for t != nil {
		outcome := r.try(t.job)
		next := r.tried(t, outcome.Err == nil)
		switch {
		case r.tries.Err() != nil && outcome.Err != nil: // it was cut, which says nothing
			r.release(t, true)
		case outcome.Record == nil:
			r.release(t, false)
		default:
			r.work.Add(1)
			r.record(t, outcome)
		}
		t = next
	}
}

// try turns a panic into a failed try.
func (r *Runner) try(job commerce.Job) (outcome Outcome) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("a job panicked", "kind", job.Kind, "job", job.ID, "panic", v, "stack", string(debug.Stack()))
			err := fmt.Errorf("panic: %v", v)
			outcome = Outcome{Err: err, Record: Waiting(func(ctx context.Context) (commerce.Job, error) { return r.Ledger.Fail(ctx, job, err) })}
		}
	}()
	ctx, cancel := context.WithTimeout(r.tries, TryTime)
	defer cancel()
	return r.Kinds[job.Kind].Do(ctx, job)
}

// record has an outcome recorded, again and again until the lease ends: after
// that somebody else has the job.
func (r *Runner) record(t *task, outcome Outcome) {
	outcome.Record(context.WithoutCancel(r.tries), func(job commerce.Job, err error) {
		if err == nil {
			if outcome.Err != nil {
				r.failed(t.job, outcome.Err, job.State == commerce.JobDead)
			}
			r.recorded(t)
			return
		}
		slog.Error("the outcome of a job was not recorded", "kind", t.job.Kind, "job", t.job.ID, "error", err)
		if now() >= t.job.LeasedUntil {
			r.recorded(t)
			return
		}
		go func() {
			select {
			case <-r.tries.Done():
				r.recorded(t)
			case <-time.After(recordPause):
				r.record(t, outcome)
			}
		}()
	})
}

// failed tells the process of a failed try that is on record.
func (r *Runner) failed(job commerce.Job, err error, dead bool) {
	if r.Failed != nil {
		r.Failed(job, err, dead)
	}
}

func (r *Runner) recorded(t *task) {
	r.release(t, false)
	r.work.Done()
}
