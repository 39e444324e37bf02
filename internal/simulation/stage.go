package simulation

import (
	"io"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/testkit/parallel"
	"purveyor/internal/testkit/sim"
)

// stage is where a history is played: in a simulated world, or at true speed.
type stage interface {
	Run(main func(env.Env))
	TraceTo(io.Writer)
	Tracef(format string, args ...any)
	Turns() int64
	Lots() lots
	Process(name string) process
	// Enter and Leave are around what a task of a process does outside of it: all that are
	// outside take turns, and use no locks.
	Enter()
	Leave()
}

// lots are what choices are drawn from.
type lots interface {
	IntN(n int) int
	Int64N(n int64) int64
	Float64() float64
}

// process is what has surroundings and can die.
type process interface {
	Env() env.Env
	Go(f func())
	Kill()
	Died() <-chan struct{} // closed by Kill
	Gone() <-chan struct{} // closed when no task is left, either
	EndIfDead()            // ends the task that calls it
	Stop(d time.Duration)
	Skew(ahead time.Duration)
}

// simulated is a stage on which one task runs at a time, wherever it is.
type simulated struct{ *sim.Sim }

func (s simulated) Lots() lots                  { return s.Sim.Lots() }
func (s simulated) Process(name string) process { return simulatedProcess{s.Sim.Process(name)} }
func (s simulated) Enter()                      {}
func (s simulated) Leave()                      {}

type simulatedProcess struct{ *sim.Process }

func (p simulatedProcess) Gone() <-chan struct{} { return p.Died() }
func (p simulatedProcess) EndIfDead()            {}

// true speed: tasks of processes run beside each other.
type atTrueSpeed struct{ *parallel.World }

func (s atTrueSpeed) Lots() lots                  { return s.World.Lots() }
func (s atTrueSpeed) Process(name string) process { return s.World.Process(name) }

// parallel reports whether processes run beside each other, on an engine that the program has.
func (o Options) parallel() bool { return o.Database != "" }

func (o Options) stage() stage {
	if o.parallel() {
		return atTrueSpeed{parallel.New(o.Seed + o.Luck<<32)}
	}
	return simulated{sim.New(o.Seed + o.Luck<<32)}
}

// outside runs f as one of those that are outside does, for a task of a process. f does not
// wait.
func (w *world) outside(f func()) {
	w.sim.Enter()
	defer w.sim.Leave()
	f()
}
