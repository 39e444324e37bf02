// Package sim runs processes in a world of its own: one seed gives one history.
// Time passes only while every task waits, tasks take turns that are drawn by
// lot, and a process can be killed wherever one of its tasks waits.
package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"purveyor/internal/env"
)

// Sim is a world. Only one task of it runs at a time, so tasks need no locks
// against each other.
type Sim struct {
	random  *rand.ChaCha8
	lots    *rand.Rand
	now     time.Time
	tasks   []*task // that have not ended
	timers  []*timer
	current *task
	turns   atomic.Int64
	trace   strings.Builder
}

// task is a goroutine that runs when it is its turn.
type task struct {
	of      *Process
	resume  chan struct{}
	yielded chan struct{} // by which it gives its turn back
	ended   bool
	signals []<-chan struct{} // it waits for one of them
	until   time.Time         // zero: however long it takes
	got     int               // what Wait returns
}

type timer struct {
	at   time.Time
	fire func()
}

// start is when every world begins.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// New makes a world.
func New(seed uint64) *Sim {
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	return &Sim{random: random, lots: rand.New(random), now: start}
}

// Run runs main, as a task of a process of its own, until it returns. Then it ends
// all processes.
func (s *Sim) Run(main func(e env.Env)) {
	stop := s.watch()
	defer stop()
	root := s.Process("main")
	root.Go(func() { main(root.Env()) })
	first := s.tasks[0]
	for !first.ended {
		s.turn()
	}
	for len(s.tasks) > 0 {
		s.tasks[0].of.dead = true
		s.resume(s.tasks[0], -1)
	}
}

// turn runs a task that can go on, until it waits again; if none can, time passes.
func (s *Sim) turn() {
	if t, got := s.draw(); t != nil {
		s.resume(t, got)
		return
	}
	next := time.Time{}
	for _, t := range s.tasks {
		next = earlier(next, t.until)
	}
	for _, t := range s.timers {
		next = earlier(next, t.at)
	}
	if next.IsZero() {
		panic("sim: every task waits, and for nothing that time brings" + s.stacks())
	}
	s.now = next
}

// draw picks a task that can go on, and what it goes on with. It begins to look at
// a place that is drawn by lot.
func (s *Sim) draw() (t *task, got int) {
	s.fire()
	first := s.lots.IntN(len(s.tasks))
	for i := range s.tasks {
		t := s.tasks[(first+i)%len(s.tasks)]
		for n, signal := range t.signals {
			select {
			case <-signal:
				return t, n
			default:
			}
		}
		if !t.until.IsZero() && !t.until.After(s.now) {
			return t, -1
		}
	}
	return nil, 0
}

// fire calls the timers that are due, in the order of their times.
func (s *Sim) fire() {
	for {
		due := -1
		for i, t := range s.timers {
			if !t.at.After(s.now) && (due < 0 || t.at.Before(s.timers[due].at)) {
				due = i
			}
		}
		if due < 0 {
			return
		}
		fire := s.timers[due].fire
		s.timers = slices.Delete(s.timers, due, due+1)
		fire()
	}
}

// resume lets a task run until it waits or ends. Work takes some time.
func (s *Sim) resume(t *task, got int) {
	s.now = s.now.Add(time.Duration(1+s.lots.IntN(50)) * time.Microsecond)
	s.turns.Add(1)
	before := s.current
	s.current, t.got, t.signals, t.until = t, got, nil, time.Time{}
	t.resume <- struct{}{}
	<-t.yielded
	s.current = before
	if t.ended {
		s.tasks = slices.DeleteFunc(s.tasks, func(o *task) bool { return o == t })
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// watch panics when a task blocks for a minute other than by its Env.
func (s *Sim) watch() (stop func()) {
	over := make(chan struct{})
	go func() {
		for last := int64(-1); ; {
			select {
			case <-over:
				return
			case <-time.After(time.Minute):
			}
			now := s.turns.Load()
			if now == last {
				panic("sim: a task waits for something that is not of its Env" + s.stacks())
			}
			last = now
		}
	}()
	return func() { close(over) }
}

func (s *Sim) stacks() string {
	b := make([]byte, 1<<20)
	return "\n\n" + string(b[:runtime.Stack(b, true)])
}

// Tracef adds a line to the history of the world.
func (s *Sim) Tracef(format string, args ...any) {
	fmt.Fprintf(&s.trace, "%s "+format+"\n", append([]any{s.now.Format("15:04:05.000000")}, args...)...)
}

// Trace is the history so far.
func (s *Sim) Trace() string { return s.trace.String() }

// Chance is true once in n times.
func (s *Sim) Chance(n int) bool { return s.lots.IntN(n) == 0 }

// Lots are where tests draw from.
func (s *Sim) Lots() *rand.Rand { return s.lots }

// Process is what has an Env and can die.
type Process struct {
	Name string
	sim  *Sim
	dead bool
	died chan struct{}
}

// Process makes a process that has no task yet.
func (s *Sim) Process(name string) *Process {
	return &Process{Name: name, sim: s, died: make(chan struct{})}
}

// Env is the surroundings of the process.
func (p *Process) Env() env.Env { return env.In(p) }

// Kill ends all tasks of the process where they wait: their deferred functions run,
// as an operating system closes files, and nothing else. A task of the process
// that calls Kill itself ends when it waits next.
func (p *Process) Kill() {
	if p.dead {
		return
	}
	p.dead = true
	close(p.died)
	for _, t := range slices.Clone(p.sim.tasks) {
		if t.of == p && t != p.sim.current {
			p.sim.resumeDead(t)
		}
	}
}

// resumeDead lets a task of a dead process run its deferred functions, while
// another task has its turn.
func (s *Sim) resumeDead(t *task) {
	before := s.current
	s.current = t
	t.resume <- struct{}{}
	<-t.yielded
	s.current = before
	s.tasks = slices.DeleteFunc(s.tasks, func(o *task) bool { return o == t })
}

// Died is closed when the process is killed.
func (p *Process) Died() <-chan struct{} { return p.died }

// Now implements env.World.
func (p *Process) Now() time.Time { return p.sim.now }

// Read implements env.World.
func (p *Process) Read(b []byte) { _, _ = p.sim.random.Read(b) }

// Go implements env.World.
func (p *Process) Go(f func()) {
	s := p.sim
	ready := make(chan struct{})
	close(ready)
	t := &task{of: p, resume: make(chan struct{}), yielded: make(chan struct{}), signals: []<-chan struct{}{ready}}
	s.tasks = append(s.tasks, t)
	go func() {
		<-t.resume
		defer func() {
			t.ended = true
			t.yielded <- struct{}{}
		}()
		if !p.dead {
			f()
		}
	}()
}

// Wait implements env.World.
func (p *Process) Wait(d time.Duration, signals ...<-chan struct{}) int {
	s := p.sim
	t := s.current
	if t.of.dead {
		runtime.Goexit()
	}
	t.signals = slices.Clone(signals)
	if d >= 0 {
		t.until = s.now.Add(d)
	}
	t.yielded <- struct{}{}
	<-t.resume
	if t.of.dead {
		runtime.Goexit()
	}
	return t.got
}

// WithDeadline implements env.World.
func (p *Process) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	s := p.sim
	inner, cancel := context.WithCancelCause(parent)
	ctx := &limited{inner, at}
	if earlier, ok := parent.Deadline(); ok && earlier.Before(at) {
		ctx.at = earlier
	}
	end := &timer{ctx.at, func() { cancel(context.DeadlineExceeded) }}
	s.timers = append(s.timers, end)
	return ctx, func() {
		cancel(context.Canceled)
		s.timers = slices.DeleteFunc(s.timers, func(t *timer) bool { return t == end })
	}
}

// limited is a context with a deadline of the world's clock.
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
