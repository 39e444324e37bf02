package jobs

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
)

// ErrElsewhere says that another process has the job, or nobody any more.
var ErrElsewhere = errors.New("the job is not with this process")

// Take begins a job that its caller has leased for this process, out of turn.
func (r *Runner) Take(job commerce.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasten(r.take(job))
}

// Finish has a job of this process done before others and waits until its try
// is on record, whatever came of it. The job goes on when ctx ends first.
func (r *Runner) Finish(ctx context.Context, key commerce.JobKey) error {
	r.mu.Lock()
	t := r.tasks[key]
	if t != nil {
		r.hasten(t)
	}
	r.mu.Unlock()
	if t == nil {
		return ErrElsewhere
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
