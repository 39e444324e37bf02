package jobs

import (
	"context"
	"time"

	"purveyor/internal/commerce"
)

// Take begins a job that its caller has leased for this process, out of turn.
// The channel is closed when the process is done with it.
func (r *Runner) Take(job commerce.Job) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.take(job)
	r.hasten(t)
	return t.done
}

// Pauses between looks at a job that another process has.
const (
	firstLook  = 20 * time.Millisecond
	lookPauses = 250 * time.Millisecond // at most
)

// Finish has a job done before others and waits until a try of it is on
// record, whatever came of it; nil if there is nothing left to do. A job that
// no worker has is taken; one of another process is waited for. The job goes on
// when ctx ends first, or EndWaits is called, which is context.Canceled.
func (r *Runner) Finish(ctx context.Context, key commerce.JobKey) error {
	for pause := firstLook; ; pause = min(2*pause, lookPauses) {
		if t := r.hastened(key); t != nil {
			return r.wait(ctx, t.done)
		}
		job, there, taken, err := r.Ledger.Take(ctx, key)
		switch {
		case err != nil || !there:
			return err
		case taken:
			return r.wait(ctx, r.Take(job))
		}
		over := make(chan struct{})
		timer := time.AfterFunc(pause, func() { close(over) })
		err = r.wait(ctx, over)
		timer.Stop()
		if err != nil {
			return err
		}
	}
}

// EndWaits has all who wait in Finish, and will, go on at once: the process
// stops, and what they wait for may take longer than it has.
func (r *Runner) EndWaits() { r.endWaits() }

func (r *Runner) wait(ctx context.Context, over <-chan struct{}) error {
	select {
	case <-over:
		return nil
	case <-r.waits.Done():
		return r.waits.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hastened is the task of a job, begun; nil if this process has none.
func (r *Runner) hastened(key commerce.JobKey) *task {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tasks[key]
	if t != nil {
		r.hasten(t)
	}
	return t
}
