// Package env has all that a process takes from its surroundings besides data: the clock,
// randomness, timers and goroutines. Other packages below internal/ take them from an Env,
// so that a simulator can replace all of them, and one seed gives one history.
package env

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
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
	Wait(d time.Duration, signals ...<-chan struct{}) int
	// WithDeadline does the work of Env.WithDeadline.
	WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc)
}

// In returns the surroundings of a simulator.
func In(w World) Env { return Env{w} }

func (e Env) world() World {
	if e.of == nil {
		return machine{}
	}
	return e.of
}

// machine is the real surroundings. Wait is in wait.go.
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
