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

	"purveyor/internal/commerce"
	"purveyor/internal/env"
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
	// Luck draws other faults and turns for the same customers.
	Luck uint64
	// Only are the numbers of the stories that are played; empty: all.
	Only []int
	// Without are the kinds of trouble that do not happen, of Troubles.
	Without []string
	// History gets the history, line by line; nil: only its digest is made.
	History io.Writer
	// Rows adds every row that a batch changes to the history.
	Rows bool
	// tale gets the history in sentences; nil: they are not made.
	tale *tale
	// spoil changes answers, as a fault of the service does: for tests.
	spoil func(r request, process, answer string) string
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
	Broken  []Break        // what must not be, oldest first; at most mostBroken
	Breaks  int            // how many there were
	// Ends is what became of each story about a product that there is enough of. If
	// nothing fails, it follows from the seed alone, whatever the engine.
	Ends map[string]string
}

// Break is something that must not be.
type Break struct {
	At   time.Time
	Kind string // the same for breaks of the same sort
	What string
	// Stories are the numbers of those that What names.
	Stories []int
}

// String is the time and the text.
func (b Break) String() string { return b.At.Format("02 15:04:05.000 ") + b.What }

const (
	mostBroken = 20   // breaks of a report
	mostText   = 2000 // bytes of one
	tooBroken  = 300  // breaks that end a history, which might go on for ever
)

// Run plays the history of a seed.
func Run(o Options) Report { return play(o).report }

func play(o Options) *world {
	o.Processes, o.Hours, o.Orders = cmp.Or(o.Processes, 3), cmp.Or(o.Hours, 24), cmp.Or(o.Orders, 10_000)
	if OneProcess(o.Database) {
		o.Processes = 1
	}
	s, h := o.stage(), newHistory(o.History)
	s.TraceTo(h)
	w := &world{Options: o, sim: s, report: Report{Faults: map[string]int{}, Ends: map[string]string{}}, stories: map[string]*story{}, external: map[string]*story{}, added: map[string]int64{}, called: map[string]bool{}, taken: map[string]time.Time{}, calledOff: map[string]time.Time{}, callingOff: map[string]time.Time{}, denied: map[string]int{}, letters: map[string]letter{}, ruined: make(chan struct{}), jobs: map[commerce.JobKey]held{}, events: map[string]time.Time{}, shelves: map[string]*shelf{}, shown: map[string]shown{}}
	s.Run(func(e env.Env) {
		w.began = e.Now()
		w.env = e
		if err := w.openShop(); err != nil {
			w.broke("the shop could not be opened: %v", err)
			return
		}
		w.play()
		w.closeShop()
		w.report.Lasted = e.Since(w.began)
	})
	w.report.Digest, w.report.Turns, w.report.Orders = h.digest(), s.Turns(), len(w.stories)
	return w
}

// play runs the world until everything has come to rest, and then looks for what is wrong.
func (w *world) play() {
	for range w.Processes {
		w.serve()
	}
	w.faulty = !w.Calm
	w.open = true
	w.env.Go(w.crashes)
	w.disturb()
	w.trouble(suspensions, w.operate)
	w.trouble(endpoints, w.sicken)
	w.trouble(rotations, w.rotate)
	w.trouble(keyChanges, w.changeKeys)
	w.trouble(credentials, w.lockOut)
	w.trouble(staffWork, w.attend)
	w.trouble(forgeries, w.intrude)
	w.trouble(haste, w.hurry)
	w.trouble(mistakesBy, w.blunder)
	for _, p := range w.partners {
		w.env.Go(p.follow)
		w.trouble(restocks, p.restock)
	}
	if !w.street() {
		return
	}
	w.calm()
	w.sayToAll("The last customer has gone, and nothing fails any more.")
	for w.sleep(mostLate); w.overdue > 0 || slices.ContainsFunc(w.partners, func(p *partner) bool { return p.asks > 0 }); {
		w.sleep(10 * time.Second)
	}
	if !w.Calm && !w.parallel() {
		w.finishUpgrade() // one is enough from here on; a process that stops cuts its tries, which are made again
	}
	if w.finishJobs(); w.report.Breaks >= tooBroken {
		return
	}
	w.sayToAll("Everything is at rest. The partners repeat their calls under their keys.")
	for _, p := range w.partners {
		p.catchUp()
		p.repeat()
	}
	w.check()
}

// street lets customers come, and returns when the stories of all orders are over. It reports false
// when too much is broken before.
func (w *world) street() bool {
	began, list := w.env.Now(), w.customers()
	w.cast = list
	over := make(chan struct{}, len(list))
	for _, s := range list {
		if w.env.Wait(max(0, w.paced(w.env.Until(began.Add(s.comes)))), w.ruined) == 0 {
			return false
		}
		w.env.Go(func() {
			s.run()
			over <- struct{}{}
		})
	}
	for range list {
		if w.env.Wait(env.Forever, over, w.ruined) != 0 {
			return false
		}
	}
	return true
}

// hot is how many products of a store customers want at true speed, so that processes meet at
// their rows.
const hot = 3

// customers are the stories that are played, in the order in which they begin.
func (w *world) customers() (list []*story) {
	for n := range w.Orders {
		if len(w.Only) == 0 || slices.Contains(w.Only, n) {
			s := newStory(w, n)
			if w.parallel() && !w.Calm {
				s.item %= hot
			}
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *story) int { return cmp.Compare(a.comes, b.comes) })
	return list
}

// broke records that something is as it must not be.
func (w *world) broke(format string, args ...any) {
	w.record(format, fmt.Sprintf(format, args...))
}

func (w *world) record(kind, what string) {
	b := Break{At: w.env.Now(), Kind: kind, What: what[:min(len(what), mostText)]}
	for _, s := range w.cast {
		if s.isIn(b.What) {
			b.Stories = append(b.Stories, s.n)
		}
	}
	w.sim.Tracef("BROKEN: %s", b.What)
	w.tale.broke(b)
	if w.report.Breaks++; len(w.report.Broken) < mostBroken {
		w.report.Broken = append(w.report.Broken, b)
	}
	if w.report.Breaks == tooBroken {
		close(w.ruined)
	}
}
