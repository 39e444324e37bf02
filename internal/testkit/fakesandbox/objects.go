// Package fakesandbox keeps sandbox objects in memory, for tests.
package fakesandbox

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"purveyor/internal/outside/sandbox"
)

// Objects is an in-memory sandbox.Objects. The zero value is empty. It neither
// delivers callbacks nor moves objects by itself: tests take the callbacks, and call
// Step.
type Objects struct {
	// BeforePut and AfterPut, if set, can fail a change before it is stored, or after
	// it was stored. Set them before the first use.
	BeforePut, AfterPut func(sandbox.Object) error

	mu          sync.Mutex
	objects     map[string]sandbox.Object
	moving      map[string]bool // objects with a due step
	callbacks   []sandbox.Callback
	reads, puts int
}

// Object implements sandbox.Objects.
func (o *Objects) Object(ctx context.Context, id string) (sandbox.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return sandbox.Object{}, err
	}
	o.reads++
	object, ok := o.objects[id]
	if !ok {
		return sandbox.Object{}, sandbox.ErrNoObject
	}
	object.Data = bytes.Clone(object.Data)
	return object, nil
}

// PutObject implements sandbox.Objects.
func (o *Objects) PutObject(ctx context.Context, object sandbox.Object, callbacks ...sandbox.Callback) error {
	if err := call(o.BeforePut, object); err != nil {
		return err
	}
	if err := o.put(ctx, object, callbacks); err != nil {
		return err
	}
	return call(o.AfterPut, object)
}

func call(hook func(sandbox.Object) error, object sandbox.Object) error {
	if hook == nil {
		return nil
	}
	return hook(object)
}

func (o *Objects) put(ctx context.Context, object sandbox.Object, callbacks []sandbox.Callback) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	o.puts++
	if object.Version != o.objects[object.ID].Version {
		return sandbox.ErrChanged
	}
	if o.objects == nil {
		o.objects, o.moving = map[string]sandbox.Object{}, map[string]bool{}
	}
	if object.FirstStep > 0 {
		o.moving[object.ID] = true
	}
	object.FirstStep = 0 // it is not stored
	object.Version++
	object.Data = bytes.Clone(object.Data)
	o.objects[object.ID] = object
	o.callbacks = append(o.callbacks, callbacks...)
	return nil
}

// TakeCallbacks returns the callbacks that were stored since the last call, in the
// order in which they are due.
func (o *Objects) TakeCallbacks() []sandbox.Callback {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.callbacks
	o.callbacks = nil
	slices.SortStableFunc(taken, func(a, b sandbox.Callback) int { return cmp.Compare(a.After, b.After) })
	return taken
}

// Calls returns how often Object and PutObject were called, including refused calls.
func (o *Objects) Calls() (reads, puts int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reads, o.puts
}
