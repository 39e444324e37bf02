package parallel

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/testkit/sim"
)

// Process is what has an Env and can die. It implements env.World.
type Process struct {
	Name      string
	world     *World
	isOutside bool
	skew      atomic.Int64
	stopped   atomic.Int64 // until this time of the world, in Unix nanoseconds
	died      chan struct{}
	gone      chan struct{}

	// Guarded by the world's mu.
	tasks int // that have not ended
	dead  bool
}

// Process makes a process that has no task yet.
func (w *World) Process(name string) *Process {
	return &Process{Name: name, world: w, died: make(chan struct{}), gone: make(chan struct{})}
}

// Env is the surroundings of the process.
func (p *Process) Env() env.Env { return env.In(p) }

// Kill ends each task of the process when it waits next, or where it waits: its deferred
// functions run, and nothing else.
func (p *Process) Kill() {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return
	}
	p.dead = true
	close(p.died)
	if p.tasks == 0 {
		close(p.gone)
	}
}

// Died is closed when the process is killed, and Gone when no task of it is left, either.
func (p *Process) Died() <-chan struct{} { return p.died }

// Gone says when a dead process has no task any more.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// EndIfDead ends the task that calls it if the process is dead.
func (p *Process) EndIfDead() {
	select {
	case <-p.died:
		runtime.Goexit()
	default:
	}
}

// Stop lets no task of the process go on for a while after it has waited, as a machine that
// is too busy does.
func (p *Process) Stop(d time.Duration) { p.stopped.Store(p.world.now().Add(d).UnixNano()) }

// Skew sets how far the clock of the process is ahead of the world's.
func (p *Process) Skew(ahead time.Duration) { p.skew.Store(int64(ahead)) }

// Now implements env.World.
func (p *Process) Now() time.Time { return p.world.now().Add(time.Duration(p.skew.Load())) }

// Read implements env.World.
func (p *Process) Read(b []byte) { p.world.random.Read(b) }

// Go implements env.World. A dead process begins nothing.
func (p *Process) Go(f func()) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return
	}
	p.tasks++
	w.running++
	go func() {
		defer p.ended()
		if p.isOutside {
			w.outside.Lock()
			defer w.outside.Unlock()
		}
		f()
	}()
}

func (p *Process) ended() {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if p.tasks--; p.tasks == 0 && p.dead {
		close(p.gone)
	}
	if w.running == 0 {
		w.wake()
	}
}

// waiter is a task that waits.
type waiter struct {
	signals [3]<-chan struct{}
	time    chan struct{} // closed by its alarm
	rung    atomic.Bool   // it is closed
	asked   chan struct{} // by which the clock asks whether it still waits
}

// still reports whether the task waits yet. A task that has taken its signal, and is not counted
// as running yet, does not receive.
func (t *waiter) still() bool {
	select {
	case t.asked <- struct{}{}:
		return true
	default:
		return false
	}
}

// signalled reports whether a signal is ready. It takes none: what is sent through these
// channels is kept in them.
func (t *waiter) signalled() bool {
	for _, s := range t.signals {
		if len(s) > 0 {
			return true
		}
		if s != nil && cap(s) == 0 {
			select {
			case <-s: // it is closed
				return true
			default:
			}
		}
	}
	return false
}

// take takes what is ready, and returns at once.
func (t *waiter) take() int {
	select {
	case <-t.signals[0]:
		return 0
	case <-t.signals[1]:
		return 1
	case <-t.signals[2]:
		return 2
	default:
		return -1
	}
}

// Wait implements env.World.
func (p *Process) Wait(d time.Duration, signals env.Signals) int {
	p.EndIfDead()
	t := &waiter{signals: signals}
	if d == 0 {
		return t.take()
	}
	if p.isOutside {
		p.world.outside.Unlock()
		defer p.world.outside.Lock() // also if the task ends: Go gives it back
	}
	got := p.await(d, t)
	for left := p.held(); left > 0; left = p.held() {
		p.await(left, &waiter{})
	}
	p.EndIfDead()
	return got
}

// held is how long the process is stopped yet.
func (p *Process) held() time.Duration {
	select {
	case <-p.died:
		return 0
	default:
		return time.Duration(p.stopped.Load() - p.world.now().UnixNano())
	}
}

// await waits for a signal, the time, or the death of the process.
func (p *Process) await(d time.Duration, t *waiter) (got int) {
	w := p.world
	t.asked = make(chan struct{})
	var rings *alarm
	if d > 0 {
		t.time = make(chan struct{})
		rings = &alarm{fire: func() { t.rung.Store(true); close(t.time) }}
	}
	w.mu.Lock()
	w.waiting[t] = true
	if rings != nil {
		rings.at = w.now().Add(d)
		w.set(rings)
	}
	if w.running--; w.running == 0 {
		w.wake()
	}
	w.mu.Unlock()
	got = p.receive(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	w.turns.Add(1)
	delete(w.waiting, t)
	if rings != nil {
		rings.void = true
	}
	return got
}

// receive returns the number of the signal that came, or -1.
func (p *Process) receive(t *waiter) int {
	for {
		select {
		case <-t.signals[0]:
			return 0
		case <-t.signals[1]:
			return 1
		case <-t.signals[2]:
			return 2
		case <-t.time:
			return -1
		case <-p.died:
			return -1
		case <-t.asked:
		}
	}
}

// WithDeadline implements env.World.
func (p *Process) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	ctx, end := sim.Limited(parent, at)
	w := p.world
	rings := &alarm{at: end.At.Add(-time.Duration(p.skew.Load())), fire: end.Reached}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set(rings)
	return ctx, func() {
		end.Cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		rings.void = true
	}
}
