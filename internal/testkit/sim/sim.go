// Package sim runs processes in a world of its own: one seed gives one history.
// Time passes only while every task waits, tasks take turns that are drawn by
// lot, and a process can be killed wherever one of its tasks waits.
package sim

import (
	"fmt"
	"io"
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
	now     time.Duration // since start
	current *task
	turns   atomic.Int64
	alarms  alarms
	// Each task that does not run stands in one of these: it can go on, or waits for a
	// signal. Tasks that wait for a time alone stand in neither.
	ready, waiting list
	tasks          list // that have not ended
	quiet          bool // no signal is ready, and nothing has happened since that was found
	idle           []*coroutine

	text  strings.Builder
	trace io.Writer
	line  []byte // the memory of the line that is made
}

// start is when every world begins.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// New makes a world.
func New(seed uint64) *Sim {
	random := Random(seed)
	s := &Sim{random: random, lots: rand.New(random), ready: list{in: ready}, waiting: list{in: waiting}, tasks: list{in: alive}}
	s.trace = &s.text
	return s
}

// Run runs main, as a task of a process of its own, until it returns. Then it ends
// all processes.
func (s *Sim) Run(main func(e env.Env)) {
	stop := s.watch()
	defer stop()
	root := s.Process("main")
	root.Go(func() { main(root.Env()) })
	for first := s.tasks.all[0]; !first.ended; {
		s.turn()
		s.tidy()
	}
	for len(s.tasks.all) > 0 {
		s.end(s.tasks.all[0])
	}
	for _, c := range s.idle {
		c.stop()
	}
}

// turn runs a task that can go on, until it waits again; if none can, time passes.
func (s *Sim) turn() {
	s.ring()
	if t, got := s.draw(); t != nil {
		s.resume(t, got)
		return
	}
	next, ok := s.alarms.first()
	if !ok {
		panic("sim: every task waits, and for nothing that time brings" + s.stacks())
	}
	s.now = next
}

// ring lets the alarms that are due go off, in the order of their times.
func (s *Sim) ring() {
	for {
		a, due := s.alarms.pop(s.now)
		if !due {
			return
		}
		if a.fire != nil {
			s.quiet = false
			a.fire()
			continue
		}
		s.waiting.drop(a.task)
		s.ready.add(a.task)
	}
}

// draw picks a task that can go on, and what it goes on with. It begins to look at
// a place that is drawn by lot.
func (s *Sim) draw() (t *task, got int) {
	n := len(s.ready.all) + len(s.waiting.all)
	if n == 0 {
		return nil, 0
	}
	first := s.lots.IntN(n)
	if first >= len(s.ready.all) {
		first -= len(s.ready.all)
		for i := 0; i < len(s.waiting.all) && !s.quiet; i++ {
			t := s.waiting.all[(first+i)%len(s.waiting.all)]
			if t.of.stoppedTill > s.now {
				continue
			}
			if got = t.signal(); got >= 0 {
				return t, got
			}
		}
		s.quiet = true
		if len(s.ready.all) == 0 {
			return nil, 0
		}
		first %= len(s.ready.all)
	}
	t = s.ready.all[first]
	if till := t.of.stoppedTill; till > s.now {
		s.ready.drop(t)
		s.alarms.push(alarm{at: till, task: t, wait: t.waits})
		return s.draw()
	}
	return t, t.signal()
}

// resume lets a task run until it waits or ends. Work takes some time.
func (s *Sim) resume(t *task, got int) {
	s.now += time.Duration(1+s.lots.IntN(50)) * time.Microsecond
	s.turns.Add(1)
	s.quiet = false
	s.ready.drop(t)
	s.waiting.drop(t)
	t.waits++ // an alarm of this wait means nothing any more
	before := s.current
	s.current, t.got = t, got
	t.next()
	s.current = before
	if t.ended {
		s.tasks.drop(t)
		s.idle = append(s.idle, t.coroutine)
	}
}

// end has a task of a dead process run its deferred functions, while another task has its
// turn.
func (s *Sim) end(t *task) {
	t.of.dead = true
	s.ready.drop(t)
	s.waiting.drop(t)
	s.tasks.drop(t)
	before := s.current
	s.current = t
	over, usable := make(chan struct{}), false
	go func() { // which ends with the task if the task waits
		defer close(over)
		t.next()
		usable = true
	}()
	if <-over; usable {
		s.idle = append(s.idle, t.coroutine)
	}
	s.current = before
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

// TraceTo has the history written to w, instead of kept.
func (s *Sim) TraceTo(w io.Writer) { s.trace = w }

// Tracef adds a line to the history of the world.
func (s *Sim) Tracef(format string, args ...any) {
	s.line = start.Add(s.now).AppendFormat(s.line[:0], "02 15:04:05.000000 ")
	s.line = fmt.Appendf(s.line, format, args...)
	s.line = append(s.line, '\n')
	_, _ = s.trace.Write(s.line)
}

// Trace is the history so far, if it is kept.
func (s *Sim) Trace() string { return s.text.String() }

// Turns is how many turns tasks have had.
func (s *Sim) Turns() int64 { return s.turns.Load() }

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
	skew time.Duration

	stoppedTill time.Duration
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
	for _, t := range slices.Clone(p.sim.tasks.all) {
		if t.of == p && t != p.sim.current {
			p.sim.end(t)
		}
	}
}

// Died is closed when the process is killed.
func (p *Process) Died() <-chan struct{} { return p.died }

// Stop lets no task of the process go on for a while, as a machine that is too busy does.
func (p *Process) Stop(d time.Duration) {
	p.stoppedTill = p.sim.now + d
	p.sim.alarms.push(alarm{at: p.stoppedTill, fire: func() {}}) // its tasks are looked at then
}

// Skew sets how far the clock of the process is ahead of the world's.
func (p *Process) Skew(ahead time.Duration) { p.skew = ahead }
