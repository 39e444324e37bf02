package fakesandbox

import (
	"context"
	"errors"

	"purveyor/internal/outside/sandbox"
)

// Step does the step of an object that is due next, as a job does: its callbacks
// are posted, so that TakeCallbacks has them, and then it is stored. It tells
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
	o.Post(step.Callbacks...)
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

// Post has TakeCallbacks give callbacks of a step.
func (o *Objects) Post(callbacks ...sandbox.Callback) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range callbacks {
		n.After = 0 // is not looked at
		o.callbacks = append(o.callbacks, n)
	}
}
