package fakesandbox

import (
	"context"
	"errors"

	"purveyor/internal/outside/sandbox"
)

// Step does the step of an object that is due next, as a job does: its notices
// are posted, so that TakeNotices has them, and then it is stored. It tells
// whether there was one; without it nothing moves.
func (o *Objects) Step(ctx context.Context, mover sandbox.Mover, id string) (bool, error) {
	o.mu.Lock()
	object, moves := o.objects[id], o.moving[id]
	o.mu.Unlock()
	if !moves {
		return false, nil
	}
	step, err := mover.Step(ctx, object)
	if err != nil {
		return true, err
	}
	o.Post(step.Notices...)
	if step.Data != nil {
		err := o.PutObject(ctx, sandbox.Object{ID: id, Version: object.Version, Data: step.Data})
		if errors.Is(err, sandbox.ErrChanged) {
			return true, nil // the step is still due
		}
		if err != nil {
			return true, err
		}
	}
	o.mu.Lock()
	o.moving[id] = step.Next > 0
	o.mu.Unlock()
	return true, nil
}

// Post has TakeNotices give notices of a step.
func (o *Objects) Post(notices ...sandbox.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range notices {
		n.After = 0 // is not looked at
		o.notices = append(o.notices, n)
	}
}
