// Package env has all that a process takes from its surroundings besides data: the clock,
// randomness, timers and goroutines. Other packages below internal/ take them from an Env,
// so that a simulator can replace all of them, and one seed gives one history.
package env

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"sync"
	"time"
)

// Env is the surroundings of a process. The zero Env is the real one: the
// machine's clock and randomness, and goroutines of Go.
type Env struct{ of World }

// World is the interface of the surroundings: the real ones, or a simulator.
type World interface {
	Now() time.Time
	// Read fills b with random bytes.
	Read(b []byte)
	// Go runs f beside its caller.
	Go(f func())
	// Wait does the work of Env.Wait.
	Wait(d time.Duration, signals Signals) int
	// WithDeadline does the work of Env.WithDeadline.
	WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc)
}

// Signals are what Wait waits for.
type Signals [3]<-chan struct{}

// In returns the surroundings of a simulator.
func In(w World) Env { return Env{w} }

func (e Env) world() World {
	if e.of == nil {
		return machine{}
	}
	return e.of
}

// machine is the real surroundings. Wait is below.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) Read(b []byte) { _, _ = rand.Read(b) } // never fails (crypto/rand)

func (machine) Go(f func()) { go f() }

func (machine) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(parent, at)
}

// Now is the time.
func (e Env) Now() time.Time { return e.world().Now() }

// Since is the time that has passed since t.
func (e Env) Since(t time.Time) time.Duration { return e.Now().Sub(t) }

// Until is the time that is left until t.
func (e Env) Until(t time.Time) time.Duration { return t.Sub(e.Now()) }

// Read fills b with random bytes that cannot be guessed.
func (e Env) Read(b []byte) { e.world().Read(b) }

// Entropy is the random part of an id (commerce.NewID).
func (e Env) Entropy() (b [10]byte) {
	e.Read(b[:])
	return b
}

// Text is 26 random letters and digits: a name that no other process draws.
func (e Env) Text() string {
	var b [16]byte
	e.Read(b[:])
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])
}

// Jitter is a number of [0, 1), to spread what would come all at once.
func (e Env) Jitter() float64 {
	var b [8]byte
	e.Read(b[:])
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// WithTimeout is context.WithTimeout by the clock of e.
func (e Env) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return e.WithDeadline(parent, e.Now().Add(d))
}

// WithDeadline is context.WithDeadline by the clock of e.
func (e Env) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	return e.world().WithDeadline(parent, at)
}

// Go runs f beside its caller.
func (e Env) Go(f func()) { e.world().Go(f) }

// Together runs all of fs beside each other, and returns when all have returned.
func (e Env) Together(fs ...func()) {
	ended := make(chan struct{}, len(fs))
	for _, f := range fs {
		e.Go(func() {
			defer func() { ended <- struct{}{} }()
			f()
		})
	}
	for range fs {
		e.Await(ended)
	}
}

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
	var s Signals
	if copy(s[:], signals) < len(signals) {
		panic("env: Wait takes three signals")
	}
	return e.world().Wait(d, s)
}

func (machine) Wait(d time.Duration, s Signals) int {
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

// Flights makes concurrent callers of one key share one call. The zero
// value is ready.
type Flights[V any] struct {
	mu      sync.Mutex
	flights map[string]*flight[V]
}

type flight[V any] struct {
	landed chan struct{} // closed when the rest may be read
	value  V
	err    error
}

// Do returns what call returns, which runs beside its callers: it goes on when
// one of them leaves because its ctx has ended.
func (f *Flights[V]) Do(ctx context.Context, e Env, key string, call func() (V, error)) (V, error) {
	f.mu.Lock()
	under, shared := f.flights[key]
	if !shared {
		under = &flight[V]{landed: make(chan struct{})}
		if f.flights == nil {
			f.flights = map[string]*flight[V]{}
		}
		f.flights[key] = under
	}
	f.mu.Unlock()
	if !shared {
		e.Go(func() {
			under.value, under.err = call()
			f.mu.Lock()
			delete(f.flights, key)
			f.mu.Unlock()
			close(under.landed)
		})
	}
	if err := e.AwaitIn(ctx, under.landed); err != nil {
		return *new(V), err
	}
	return under.value, under.err
}
