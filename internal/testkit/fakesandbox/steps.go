package fakesandbox

import (
	"context"
	"errors"

	"purveyor/internal/outside/sandbox"
)

// Step takes the due step of an object as a job does: it posts the callbacks, so that
// TakeCallbacks returns them, and then stores the object. It returns false if no step
// was due.
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

// Post adds the callbacks of a step to those of TakeCallbacks.
func (o *Objects) Post(callbacks ...sandbox.Callback) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range callbacks {
		n.After = 0 // the delay is ignored
		o.callbacks = append(o.callbacks, n)
	}
}
