package env

import (
	"context"
	"time"
)

// A simulator runs one goroutine at a time, and picks the next goroutine when the running
// one waits. So a goroutine must wait for another one by these functions alone, and never
// while it holds a lock.

// Forever is a time for Wait that does not end.
const Forever time.Duration = -1

// Wait returns when one of at most three signals is ready, or d has passed: the
// index of the signal, or -1 for the time. A signal is ready when something can be
// received, which Wait takes, or when it is closed; nil never is. With d = 0 Wait
// takes what is ready and returns at once.
func (e Env) Wait(d time.Duration, signals ...<-chan struct{}) int {
	return e.world().Wait(d, signals...)
}

func (machine) Wait(d time.Duration, signals ...<-chan struct{}) int {
	var s [3]<-chan struct{}
	if copy(s[:], signals) < len(signals) {
		panic("env: Wait takes three signals")
	}
	if d == 0 {
		select {
		case <-s[0]:
			return 0
		case <-s[1]:
			return 1
		case <-s[2]:
			return 2
		default:
			return -1
		}
	}
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-s[0]:
		return 0
	case <-s[1]:
		return 1
	case <-s[2]:
		return 2
	case <-over:
		return -1
	}
}

// Await waits for one signal, however long it takes.
func (e Env) Await(signal <-chan struct{}) { e.Wait(Forever, signal) }

// AwaitIn waits for a signal until ctx ends, whose error it returns then.
func (e Env) AwaitIn(ctx context.Context, signal <-chan struct{}) error {
	if e.Wait(Forever, signal, ctx.Done()) == 1 {
		return ctx.Err()
	}
	return nil
}

// Sleep returns after d, or when ctx ends, with its error then.
func (e Env) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || e.Wait(d, ctx.Done()) == 0 {
		return ctx.Err()
	}
	return nil
}

// Next is the answer of a step machine after a step: the time for which it has nothing to
// do, unless it is woken.
type Next time.Duration

// Special values of Next.
const (
	AtOnce   Next = 0
	OnSignal Next = -1 // nothing to do until a signal wakes it
	Ended    Next = -2 // it is not to be called again
)

// Drive calls step until it has Ended, each time when the time has passed that
// the call before asked for, or when a signal is ready.
func (e Env) Drive(step func() Next, signals ...<-chan struct{}) {
	for {
		next := step()
		if next == Ended {
			return
		}
		e.Wait(time.Duration(next), signals...)
	}
}
