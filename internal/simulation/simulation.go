// Package simulation plays days of a merchant in a simulated world (testkit/sim): processes
// that are put together as cmd/purveyor does, over an engine in memory, with partners,
// customers, couriers, processors, staff and operators outside of them. Time is virtual, and
// every choice and fault is drawn from a seed, so one seed gives one history. Invariants are
// checked after each commit and each answer, and again when everything has come to rest.
package simulation

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/testkit/sim"
)

// Options of a run. Zero values of numbers are defaults.
type Options struct {
	Seed      uint64
	Processes int  // that serve at a time; 3
	Hours     int  // in which orders come; 24
	Orders    int  // 10,000
	Calm      bool // nothing fails, and no process dies
	// Database is where the rows are, as --database takes it, and empty at first. Then
	// processes run at true speed, and a seed has many histories. Empty: in memory, in a
	// simulated world.
	Database string
	// History gets the history, line by line; nil: only its digest is made.
	History io.Writer
	// Rows adds every row that a batch changes to the history.
	Rows bool
}

// Report tells what happened in a run.
type Report struct {
	Digest  string        // SHA-256 of the history, in hexadecimal
	Lasted  time.Duration // by the clock of the world
	Orders  int           // that were made
	Calls   int           // of the API and its pages
	Batches int           // that were saved
	Turns   int64
	Kills   int
	Faults  map[string]int // by what happened
	Broken  []string       // what must not be, oldest first; at most mostBroken
	Breaks  int            // how many there were
}

const (
	mostBroken = 20   // breaks of a report
	mostText   = 2000 // bytes of one
)

// Run plays the history of a seed.
func Run(o Options) Report {
	o.Processes, o.Hours, o.Orders = cmp.Or(o.Processes, 3), cmp.Or(o.Hours, 24), cmp.Or(o.Orders, 10_000)
	if OneProcess(o.Database) {
		o.Processes = 1
	}
	s, h := o.stage(), newHistory(o.History)
	s.TraceTo(h)
	w := &world{Options: o, sim: s, report: Report{Faults: map[string]int{}}, stories: map[string]*story{}, added: map[string]int64{}, called: map[string]bool{}}
	s.Run(func(e env.Env) {
		began := e.Now()
		w.env = e
		if err := w.openShop(); err != nil {
			w.broke("the shop could not be opened: %v", err)
			return
		}
		w.play()
		w.closeShop()
		w.report.Lasted = e.Since(began)
	})
	w.report.Digest, w.report.Turns, w.report.Orders = h.digest(), s.Turns(), len(w.stories)
	return w.report
}

// play runs the world until everything has come to rest, and then looks for what is wrong.
func (w *world) play() {
	for range w.Processes {
		w.serve()
	}
	w.faulty = !w.Calm
	w.open = true
	w.env.Go(w.crashes)
	w.env.Go(w.operate)
	w.env.Go(w.attend)
	w.env.Go(w.intrude)
	w.env.Go(w.hurry)
	w.env.Go(w.blunder)
	for _, p := range w.partners {
		w.env.Go(p.follow)
		w.env.Go(p.restock)
	}
	w.street()
	w.faulty, w.open = false, false
	w.finishJobs()
	for _, p := range w.partners {
		p.catchUp()
		p.repeat()
	}
	w.check()
}

// street lets customers come, and returns when the stories of all orders are over.
func (w *world) street() {
	began, over := w.env.Now(), make(chan struct{}, w.Orders)
	for n, after := range w.arrivals() {
		w.sleep(w.env.Until(began.Add(after)))
		w.env.Go(func() {
			newStory(w, n).run()
			over <- struct{}{}
		})
	}
	for range w.Orders {
		w.env.Await(over)
	}
}

// arrivals are the times at which customers come: half of them around the middle of the day.
func (w *world) arrivals() (list []time.Duration) {
	lots := sim.LotsOf(w.Seed, uint64(w.Orders))
	for range w.Orders {
		at := lots.Float64()
		if lots.IntN(2) == 0 {
			at = (at + lots.Float64() + lots.Float64()) / 3
		}
		list = append(list, time.Duration(at*float64(w.Hours)*float64(time.Hour)))
	}
	slices.Sort(list)
	return list
}

// broke records that something is as it must not be.
func (w *world) broke(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	what = what[:min(len(what), mostText)]
	w.sim.Tracef("BROKEN: %s", what)
	if w.report.Breaks++; len(w.report.Broken) < mostBroken {
		w.report.Broken = append(w.report.Broken, w.env.Now().Format("02 15:04:05.000 ")+what)
	}
}
