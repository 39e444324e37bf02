package jobs

import (
	"cmp"
	"context"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

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
