// Package parallel is the counterpart of package sim at true speed: tasks are goroutines that
// run beside each other, whatever they call. The clock is the machine's, but leaps over the
// time in which every task waits: then nothing happens before the next one has waited long
// enough.
package parallel

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/testkit/sim"
)

// World is where processes run. What is outside of them runs as in a sim.Sim: one task at a
// time, until it waits. So such tasks need no locks against each other, and processes Enter
// before they use what belongs to the outside.
type World struct {
	lots    *rand.Rand
	random  *drawn
	began   time.Time
	leapt   atomic.Int64 // how far the clock is ahead of the machine's, in nanoseconds
	outside sync.Mutex   // the turn of what is outside
	turns   atomic.Int64 // how often tasks have gone on after they waited
	kick    chan struct{}

	mu      sync.Mutex // guards what follows
	running int        // tasks that do not wait
	waiting map[*waiter]bool
	alarms  alarms

	tracing sync.Mutex // guards what follows
	trace   io.Writer
}

// drawn is a source of random numbers for several goroutines.
type drawn struct {
	mu sync.Mutex
	of *rand.ChaCha8
}

func (d *drawn) Uint64() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of.Uint64()
}

func (d *drawn) Read(b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = d.of.Read(b) // never fails
}

// New makes a world. Its choices are drawn from the seed, but which task draws which of them
// differs from run to run.
func New(seed uint64) *World {
	random := &drawn{of: sim.Random(seed)}
	return &World{lots: rand.New(random), random: random, began: time.Now(), kick: make(chan struct{}, 1), waiting: map[*waiter]bool{}, trace: io.Discard}
}

// Run runs main, as the first task of what is outside, until it returns. The other tasks of the
// outside end when they wait next. Processes have to be killed before main returns.
func (w *World) Run(main func(e env.Env)) {
	root, over := w.Process("outside"), make(chan struct{})
	root.isOutside = true
	root.Go(func() {
		defer close(over)
		main(root.Env())
	})
	w.keepTime(over)
	root.Kill()
	<-root.gone
}

// Enter waits for the turn of the outside, for a task of a process. The task must not wait
// before it leaves.
func (w *World) Enter() { w.outside.Lock() }

// Leave ends the turn.
func (w *World) Leave() { w.outside.Unlock() }

// TraceTo has the history written to a writer.
func (w *World) TraceTo(to io.Writer) { w.trace = to }

// Tracef adds a line to the history of the world.
func (w *World) Tracef(format string, args ...any) {
	w.tracing.Lock()
	defer w.tracing.Unlock()
	_, _ = fmt.Fprintf(w.trace, "%s "+format+"\n", append([]any{w.now().Format("02 15:04:05.000000")}, args...)...)
}

// Lots are where choices are drawn from.
func (w *World) Lots() *rand.Rand { return w.lots }

// Turns is how often tasks have gone on after they waited.
func (w *World) Turns() int64 { return w.turns.Load() }

func (w *World) now() time.Time {
	return w.began.Add(time.Since(w.began) + time.Duration(w.leapt.Load())).UTC().Round(0)
}

// keepTime rings alarms, and lets the clock leap while every task waits, until over is closed.
func (w *World) keepTime(over <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		w.ring()
		wait, idle, turns := w.look()
		if idle {
			runtime.Gosched()
			w.leap(turns)
			continue
		}
		timer.Reset(wait)
		select {
		case <-over:
			return
		case <-w.kick:
		case <-timer.C:
		}
	}
}

// ring lets the alarms that are due go off.
func (w *World) ring() {
	for {
		w.mu.Lock()
		a := w.alarms.due(w.now())
		w.mu.Unlock()
		if a == nil {
			return
		}
		a.fire()
	}
}

// look returns the time until the next alarm, and whether every task waits for it.
func (w *World) look() (wait time.Duration, idle bool, turns int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next, some := w.alarms.first()
	wait = time.Hour
	if some {
		wait = max(0, next.Sub(w.now()))
	}
	return wait, some && w.idle(), w.turns.Load()
}

// idle reports whether every task waits, and no signal is ready.
func (w *World) idle() bool {
	if w.running > 0 {
		return false
	}
	for t := range w.waiting {
		if t.rung.Load() || t.signalled() {
			return false
		}
	}
	return true
}

// leap sets the clock to the next alarm, if no task has gone on since the look, nor is about to.
func (w *World) leap(turns int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.waiting {
		if !t.still() {
			return
		}
	}
	if !w.idle() || w.turns.Load() != turns {
		return
	}
	if next, some := w.alarms.first(); some {
		w.leapt.Add(int64(max(0, next.Sub(w.now()))))
	}
}

// set adds an alarm.
func (w *World) set(a *alarm) {
	if w.alarms.add(a); w.alarms[0] == a {
		w.wake()
	}
}

// wake has keepTime look again.
func (w *World) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// Stacks shows what all goroutines do.
func Stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}
