package sim

import (
	"context"
	"iter"
	"runtime"
	"time"

	"purveyor/internal/env"
)

// task is a function that runs when it is its turn.
type task struct {
	*coroutine
	of      *Process
	do      func()
	ended   bool
	signals env.Signals // it waits for one of them
	waits   uint64      // how often it has waited
	got     int         // what Wait returns
	at      [3]int      // its places in the lists
}

// signal takes a signal that the task waits for; -1: no signal is ready.
func (t *task) signal() int {
	for n, signal := range t.signals {
		if signal == nil {
			continue
		}
		select {
		case <-signal:
			return n
		default:
		}
	}
	return -1
}

// list holds tasks, each of which knows its place.
type list struct {
	in  int // the number of the list
	all []*task
}

const (
	ready = iota
	waiting
	alive
)

func (l *list) add(t *task) {
	l.all = append(l.all, t)
	t.at[l.in] = len(l.all)
}

// drop takes a task off the list, if it stands there.
func (l *list) drop(t *task) {
	at, last := t.at[l.in], len(l.all)-1
	if at == 0 {
		return
	}
	l.all[at-1] = l.all[last]
	l.all[at-1].at[l.in] = at
	t.at[l.in] = 0
	l.all[last] = nil
	l.all = l.all[:last]
}

// Now implements env.World.
func (p *Process) Now() time.Time { return start.Add(p.sim.now + p.skew) }

// Read implements env.World.
func (p *Process) Read(b []byte) { _, _ = p.sim.random.Read(b) }

// Go implements env.World.
func (p *Process) Go(f func()) {
	s := p.sim
	t := &task{of: p, do: f}
	if last := len(s.idle) - 1; last >= 0 {
		t.coroutine, s.idle = s.idle[last], s.idle[:last]
	} else {
		t.coroutine = newCoroutine()
	}
	t.coroutine.task = t
	s.tasks.add(t)
	s.ready.add(t)
}

// coroutine runs one task after another: its stack has grown already.
type coroutine struct {
	task  *task
	next  func() (struct{}, bool) // runs the task until it waits or ends
	yield func(struct{}) bool     // by which the task gives its turn back
	stop  func()                  // ends the coroutine while it has no task
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for c.run(); yield(struct{}{}); c.run() {
		}
	})
	return c
}

// run runs a task to its end, or not at all in a dead process.
func (c *coroutine) run() {
	t := c.task
	defer func() { t.ended = true }()
	if !t.of.dead {
		t.do()
	}
}

// Wait implements env.World.
func (p *Process) Wait(d time.Duration, signals env.Signals) int {
	s := p.sim
	t := s.current
	if t.of.dead {
		runtime.Goexit()
	}
	t.signals = signals
	switch {
	case d == 0:
		s.ready.add(t)
	case signals != env.Signals{}:
		s.waiting.add(t)
	}
	if d > 0 {
		s.alarms.push(alarm{at: s.now + d, task: t, wait: t.waits})
	}
	t.yield(struct{}{})
	if t.of.dead {
		runtime.Goexit()
	}
	return t.got
}

// WithDeadline implements env.World.
func (p *Process) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	ctx, end := Limited(parent, at)
	p.sim.alarms.push(alarm{at: end.At.Sub(start) - p.skew, fire: end.Reached})
	return ctx, end.Cancel
}
