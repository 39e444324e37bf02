// Package sandbox is what the sandboxes of all ports stand on: objects that
// outlive the process, and callbacks that reach the service as those of real
// providers do.
package sandbox

import (
	"context"
	"errors"
	"time"
)

// Object is the state of one thing in a sandbox.
type Object struct {
	ID      string
	Version int64  // 0: it is not stored yet; goes up with each change
	Data    []byte // a JSON object
	// FirstStep has PutObject, of a new object, ask its Mover for the first step
	// after this time; 0: it does not move. It is not read back.
	FirstStep time.Duration
}

// Errors of Objects. Any other says that storage is not available, or that
// nobody knows whether the change took place.
var (
	ErrNoObject = errors.New("there is no such sandbox object")
	ErrChanged  = errors.New("the sandbox object was changed meanwhile")
)

// Objects keeps the state of sandboxes, for all processes.
type Objects interface {
	// Object reads one.
	Object(ctx context.Context, id string) (Object, error)

	// PutObject stores an object that still has this version, or that does not
	// exist if the version is 0, and callbacks to be sent because of the change: all
	// or nothing. It waits a little for the callbacks that are due at once to have
	// been delivered; others are delivered later, whatever happens to the process.
	PutObject(ctx context.Context, o Object, callbacks ...Callback) error
}

// Callback is what a sandbox posts to the service: at least once, at or after its
// time.
type Callback struct {
	To    string // which inbound path takes it: "payments"
	After time.Duration
	Body  []byte // JSON; it is signed when it is sent
}

// Mover moves objects by itself, step by step: whenever an object is stored
// with a FirstStep, or a step has said when the next one is due, Step is called
// at or after that time, however often processes restart.
type Mover interface {
	// Step is the object one step on. It stores nothing: a step that was not stored,
	// because the process died or somebody else changed the object, is asked for
	// again, and tells the same callbacks under the same ids.
	Step(ctx context.Context, o Object) (Step, error)
}

// Step is what an object is after a step, and what it tells.
type Step struct {
	Data      []byte        // nil: the object stays as it is, and so does its version
	Callbacks []Callback    // posted in order before the step is stored; After is not looked at
	Next      time.Duration // until the next step; 0: there is none
}

// Change has f change an object, and stores that with the callbacks that f gives:
// all or nothing. When another change came in between, f is called again on what
// that one left. Without data, nothing is stored. Errors: ErrNoObject, that of f,
// or one that says that storage is not available.
func Change(ctx context.Context, objects Objects, id string, f func(data []byte) ([]byte, []Callback, error)) error {
	for range maxChanges {
		object, err := objects.Object(ctx, id)
		if err != nil {
			return err
		}
		data, callbacks, err := f(object.Data)
		if err != nil || data == nil {
			return err
		}
		err = objects.PutObject(ctx, Object{ID: id, Version: object.Version, Data: data}, callbacks...)
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return errors.New("the sandbox object is being changed by too many")
}

// maxChanges bounds how often a change gives way to others. One customer, one
// courier and one merchant do not come near it.
const maxChanges = 50
