// Package jobs runs everything that leaves the process. Jobs are stored with the
// change that asked for them. A process leases a job, makes one try at a time and
// has the outcome recorded. If the process dies, another process claims the job
// when the lease has run out.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/tracing"
)

// Kind says how jobs of a kind are done.
type Kind struct {
	// Do makes one try. It ends soon after ctx does, which lasts for TryTime.
	Do func(ctx context.Context, job commerce.Job) Outcome
	// Width is how many tries of one lane may be under way at a time.
	Width int
	// Pool bounds the tries of all lanes of all kinds that name it.
	Pool Pool
	// Apart gives each job a lane of its own, because no two jobs of the kind fail
	// for the same reason.
	Apart bool
}

// Outcome is the result of a try.
type Outcome struct {
	// Err is why the try failed. It narrows the job's lane to one try at a time; nil
	// widens it.
	Err error
	// Record makes the outcome durable: the job is done, put off, parked or dead. It
	// returns the job as it goes on, or the zero Job if the job is done. Nil: there is no
	// outcome, and the job becomes due again when its lease ends.
	Record func(ctx context.Context) (commerce.Job, error)
	took   time.Duration // by the try
	traced context.Context
	span   *tracing.Span // until the outcome is on record
}

// Queue is where jobs come from.
type Queue interface {
	ClaimJobs(ctx context.Context, claim storage.JobClaim) ([]commerce.Job, error)
	// NextDue reports whether a job is due now that no worker has leased, and when
	// the next other job becomes due (Unix ms); 0: there is none.
	NextDue(ctx context.Context, now commerce.Millis) (due bool, next commerce.Millis, err error)
}

// Ledger leases jobs, and ends leases.
type Ledger interface {
	// TakeJob leases a job to a worker, if no worker has it; there means that the job is
	// not done yet.
	TakeJob(ctx context.Context, key commerce.JobKey, worker string) (job commerce.Job, there, taken bool, err error)
	// ReturnJobs gives leases back, so that other workers can claim the jobs at once.
	ReturnJobs(ctx context.Context, jobs []commerce.Job) error
}

const (
	// TryTime is how long a try may take. A job whose lease would end earlier is
	// given back.
	TryTime = 16 * time.Second

	roomPerTry = 256 // jobs in a lane's queue, for each try that the lane may make at a time
	// unrecorded is how many tries of a lane may be under way or wait for their
	// record, for each try that may be under way: sending does not wait for the disk.
	unrecorded = 16

	claimSize   = 500
	idlePause   = 2 * time.Second // between looks at storage when nothing is known to be due
	recordPause = time.Second

	// soon is how far ahead a new job may be due and still begin at once, because
	// the stamps of batches run a little ahead of the clock.
	soon = time.Second
)

// Runner runs jobs. The jobs of one owner, partner and mode have a lane of their
// own, so that no job waits for another lane's slow provider. A Runner is made
// first, because the committer hands new jobs to it and others wait for jobs by
// Finish; Handle then says how jobs are done, and Run begins to claim them.
type Runner struct {
	Options
	env env.Env
	// Worker is the owner of this runner's leases: a name that no other process has.
	Worker string

	tries    context.Context // ends with Stop
	cut      context.CancelFunc
	waits    context.Context // ends with EndWaits, or before tries
	endWaits context.CancelFunc
	wake     chan struct{}

	mu       sync.Mutex
	stopping bool
	running  int           // goroutines: the driver, tries, and records under way
	ended    bool          // idle is closed
	idle     chan struct{} // closed when the runner is stopping and nothing is running
	pools    map[poolKey]*pool
	lanes    map[commerce.JobLane]*lane
	tasks    map[commerce.JobKey]*task
	back     []*task         // to be given back
	slot     int64           // where the next pass begins
	busy     int             // passes since the last pass that found nothing
	looked   commerce.Millis // for stale jobs
}

// task is a job that is leased to this process.
type task struct {
	job  commerce.Job
	lane *lane
	done chan struct{} // closed when this process is done with the job
	// dormant means that the task is in no queue: the caller that awaits the job
	// starts it.
	dormant bool
	// outOfTurn means that the task was started before others, and does not count
	// against the width of its lane and pool.
	outOfTurn bool
}

// Options say what a runner does.
type Options struct {
	Queue  Queue
	Ledger Ledger
	Kinds  map[commerce.JobKind]Kind
	Pools  map[Pool]int // tries of a pool under way at a time; 0: 256
	// Panicked is the outcome of a try that ended in a panic.
	Panicked func(job commerce.Job, err error) Outcome
	// Failed is called once for each failed try, after it was recorded. dead: no try
	// is left. It must not block. Nil: nothing is called.
	Failed func(job commerce.Job, err error, dead bool)
	// Tried is told of each try once it is on record, and how long it took; nil: it is not called.
	Tried func(kind commerce.JobKind, result Result, took time.Duration)
	// Tracer makes spans of tries; nil: it makes none.
	Tracer *tracing.Tracer
}

// Result is what became of a try.
type Result string

// The results.
const (
	Done      Result = "done"
	FailedTry Result = "failed"
	GaveUp    Result = "gave_up"
	LeaseLost Result = "lease_lost" // it was not recorded in time
)

func (r *Runner) tell(kind commerce.JobKind, result Result, took time.Duration) {
	if r.Tried != nil {
		r.Tried(kind, result, took)
	}
}

// New makes a runner that does nothing yet. worker is a name that no other process
// has.
func New(e env.Env, worker string) *Runner {
	r := &Runner{
		env: e, Worker: worker, idle: make(chan struct{}), wake: make(chan struct{}, 1),
		pools: map[poolKey]*pool{}, lanes: map[commerce.JobLane]*lane{}, tasks: map[commerce.JobKey]*task{},
	}
	r.tries, r.cut = context.WithCancel(context.Background())
	r.waits, r.endWaits = context.WithCancel(r.tries)
	return r
}

// Handle says how jobs are done. It is called once, before Run. Until then Reserve
// accepts no job.
func (r *Runner) Handle(o Options) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Options = o
}

// Run begins to claim jobs from storage. Until Stop, it also drives the step machines
// beside, whose ctx ends then.
func (r *Runner) Run(beside ...func(ctx context.Context) env.Next) {
	r.drive(func(context.Context) env.Next { return r.Step() }, r.wake)
	for _, step := range beside {
		r.drive(step, nil)
	}
}

// drive calls step until Stop, also when woken is ready.
func (r *Runner) drive(step func(ctx context.Context) env.Next, woken <-chan struct{}) {
	r.goOn(func() {
		r.env.Drive(func() env.Next { return step(r.tries) }, r.tries.Done(), woken)
	})
}

// Stop ends what Run began: the runner claims nothing more, cuts the tries under
// way, has their outcomes recorded if they have any, and gives all other jobs back.
// It returns when ctx ends at the latest.
func (r *Runner) Stop(ctx context.Context) {
	r.mu.Lock()
	r.stopping = true
	for _, l := range r.lanes {
		r.back = append(r.back, l.queue...)
		l.queue = nil
	}
	for _, t := range r.tasks {
		if t.dormant {
			t.dormant = false
			r.back = append(r.back, t)
		}
	}
	r.endIfIdle()
	r.mu.Unlock()
	r.cut()
	returned := make(chan struct{})
	r.env.Go(func() {
		defer close(returned)
		r.env.Await(r.idle)
		r.giveBack(ctx)
	})
	_ = r.env.AwaitIn(ctx, returned) // the leases of jobs that were not given back run out
}

// goOn starts a goroutine that Stop waits for.
func (r *Runner) goOn(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(f)
}

// begin is goOn with the lock held.
func (r *Runner) begin(f func()) {
	r.running++
	r.env.Go(func() {
		defer r.leave()
		f()
	})
}

func (r *Runner) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.endIfIdle()
}

// endIfIdle lets Stop go on when nothing is running. The lock is held.
func (r *Runner) endIfIdle() {
	if r.stopping && r.running == 0 && !r.ended {
		r.ended = true
		close(r.idle)
	}
}

// Wake makes the runner look for due jobs now.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// now is the time in Unix ms.
func (r *Runner) now() commerce.Millis { return commerce.MillisOf(r.env.Now()) }

// run executes t and then keeps taking ready tasks. Reusing the goroutine keeps its
// grown stack.
func (r *Runner) run(t *task) {
	for t != nil {
		began := r.env.Now()
		traced, span := r.span(t.job)
		outcome := r.try(traced, t.job)
		outcome.took, outcome.traced, outcome.span = r.env.Since(began), traced, span
		next := r.tried(t, outcome.Err == nil)
		r.conclude(t, outcome)
		t = next
	}
}

// conclude has the outcome of a try recorded, if there is one.
func (r *Runner) conclude(t *task, outcome Outcome) {
	switch {
	case r.tries.Err() != nil && outcome.Err != nil: // Stop cut the try, so its failure means nothing
		outcome.span.End(outcome.Err)
		r.release(t, true)
	case outcome.Record == nil:
		outcome.span.End(outcome.Err)
		r.release(t, false)
	default:
		r.goOn(func() { r.record(t, outcome) })
	}
}

// span begins the span of a try, below the request that asked for the job.
func (r *Runner) span(job commerce.Job) (context.Context, *tracing.Span) {
	ctx, span := r.Tracer.Begin(tracing.WithParent(r.tries, job.TraceParent), "job "+string(job.Kind), tracing.Internal)
	span.Text("purveyor.job", job.ID)
	span.Text("purveyor.owner", job.Owner)
	span.Text("purveyor.subject", job.Subject)
	return ctx, span
}

// try turns a panic into a failed try.
func (r *Runner) try(ctx context.Context, job commerce.Job) (outcome Outcome) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("a job panicked", "kind", job.Kind, "job", job.ID, "panic", v, "stack", string(debug.Stack()))
			outcome = r.Panicked(job, fmt.Errorf("panic: %v", v))
		}
	}()
	ctx, cancel := r.env.WithTimeout(ctx, TryTime)
	defer cancel()
	return r.Kinds[job.Kind].Do(ctx, job)
}

// record has an outcome recorded. It repeats a failed record until the lease ends:
// from then on another worker may have the job.
func (r *Runner) record(t *task, outcome Outcome) {
	defer r.release(t, false)
	defer func() { outcome.span.End(outcome.Err) }()
	for {
		job, err := outcome.Record(context.WithoutCancel(outcome.traced))
		if err == nil {
			result := Done
			if outcome.Err != nil {
				result = FailedTry
			}
			if outcome.Err != nil && job.State == commerce.JobDead {
				result = GaveUp
			}
			r.tell(t.job.Kind, result, outcome.took)
			if outcome.Err != nil && r.Failed != nil {
				r.Failed(t.job, outcome.Err, result == GaveUp)
			}
			return
		}
		slog.Warn("the outcome of a job was not recorded", "kind", t.job.Kind, "job", t.job.ID, "error", err)
		if r.now() >= t.job.LeasedUntil || r.env.Sleep(r.tries, recordPause) != nil { // the runner stops
			r.tell(t.job.Kind, LeaseLost, outcome.took)
			return
		}
	}
}

// Take starts a job out of turn that its caller has leased for this process. The
// channel is closed when the process is done with the job.
func (r *Runner) Take(job commerce.Job) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.take(job)
	r.startNow(t)
	return t.done
}

// Pauses between looks at a job that another process has.
const (
	firstLook  = 20 * time.Millisecond
	lookPauses = 250 * time.Millisecond // at most
)

// Finish starts a job before others and waits until the outcome of one try is on record. It
// returns nil even if the try failed. It leases a job without a worker, and waits for the
// worker of another process. When ctx ends first, or EndWaits is called
// (context.Canceled), the job goes on without the caller.
func (r *Runner) Finish(ctx context.Context, key commerce.JobKey) error {
	for pause := firstLook; ; pause = min(2*pause, lookPauses) {
		if t := r.started(key); t != nil {
			return r.wait(ctx, t.done)
		}
		job, there, taken, err := r.Ledger.TakeJob(ctx, key, r.Worker)
		switch {
		case err != nil || !there:
			return err
		case taken:
			return r.wait(ctx, r.Take(job))
		}
		if r.env.Wait(pause, r.waits.Done(), ctx.Done()) >= 0 {
			return cmp.Or(r.waits.Err(), ctx.Err())
		}
	}
}

// EndWaits makes every call of Finish return at once, also later ones: the process
// stops, and the jobs may take longer than it has.
func (r *Runner) EndWaits() { r.endWaits() }

func (r *Runner) wait(ctx context.Context, done <-chan struct{}) error {
	if r.env.Wait(env.Forever, done, r.waits.Done(), ctx.Done()) == 0 {
		return nil
	}
	return cmp.Or(r.waits.Err(), ctx.Err())
}

// started is the task of a job, whose try has begun; nil if this process has none.
func (r *Runner) started(key commerce.JobKey) *task {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tasks[key]
	if t != nil {
		r.startNow(t)
	}
	return t
}
