package sim

import (
	"context"
	"time"
)

// End is how a limited context ends.
type End struct {
	At      time.Time // its deadline
	Reached func()    // is to be called then
	Cancel  func()
}

// Limited makes a context with a deadline of another clock than the machine's. An earlier
// deadline of its parent holds.
func Limited(parent context.Context, at time.Time) (context.Context, End) {
	inner, cancel := context.WithCancelCause(parent)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(at) {
		at = earlier
	}
	return &limited{inner, at}, End{at, func() { cancel(context.DeadlineExceeded) }, func() { cancel(context.Canceled) }}
}

type limited struct {
	context.Context
	at time.Time
}

func (l *limited) Deadline() (time.Time, bool) { return l.at, true }

func (l *limited) Err() error {
	if context.Cause(l.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return l.Context.Err()
}
