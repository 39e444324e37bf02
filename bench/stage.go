package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"purveyor/internal/testkit/port"
)

// stage is the databases of one section on one engine, while its cases run. The
// engines come one after the other, so that the disk holds one large database.
type stage struct {
	*bench
	engine string
	report *report
	list   []*contender
	sink   *sink // of webhooks; nil: there is none
}

// contender is one database, and the service on it while that runs.
type contender struct {
	*bench
	name     string // "SQLite full"
	engine   string
	program  string
	database string   // its name, to drop it
	args     []string // of the service in every case
	data     *dataset
	filling  time.Duration
	empty    *contender // what a full database is compared with; else nil
	newer    *contender // what is compared with this one, of an older program; else nil

	service *process // nil: it does not run
	flags   []string // with which the service runs

	// What the book sold must be missing from the stock of the sample.
	book   *book
	sample []good
	stock  []int64 // of the sample, before
}

// add adds a contender, and makes its database.
func (s *stage) add(c contender, z size) *contender {
	c.bench, c.engine = s.bench, s.engine
	if c.program == "" {
		c.program = s.program
	}
	began := time.Now()
	c.data = s.fill(s.create(c.engine, c.database), c.program, z)
	c.filling = time.Since(began)
	fmt.Fprintf(os.Stderr, "%s: %s; %d MB, filled in %v\n", c.name, z, c.data.bytes()/1e6, c.filling.Round(100*time.Millisecond))
	s.list = append(s.list, &c)
	return &c
}

// open makes an empty database, with -orders a full one if there is a size for it,
// and with -old one of the older program.
func (s *stage) open(name string, empty size, full *size, args ...string) {
	c := s.add(contender{name: s.engine, database: name, args: args}, empty)
	if full != nil && s.orders > 0 {
		s.add(contender{name: s.engine + " full", database: name + "_full", args: args, empty: c}, *full)
	}
	if s.old != "" {
		s.add(contender{name: s.engine + " old", database: name + "_old", args: args, program: s.old, newer: c}, empty)
	}
}

func (s *stage) close() (err error) {
	for _, c := range s.list {
		err = errors.Join(err, c.stop(), s.drop(c.engine, c.database))
	}
	if s.sink != nil {
		err = errors.Join(err, s.sink.server.Shutdown())
	}
	return err
}

// serve returns the service with these flags, and starts it if it does not run
// with them already.
func (c *contender) serve(flags ...string) *process {
	flags = append(slices.Clone(c.args), flags...)
	if c.service != nil && slices.Equal(flags, c.flags) {
		return c.service
	}
	check(c.stop())
	addr := must(port.Address())
	healthy := func() error {
		return tryEach(addr, c.key(), []string{"/v1/health"}, func(int, []byte) error { return nil })
	}
	c.service = c.start(addr, healthy, c.program, append([]string{"serve", "--database", c.data.url, "--listen", addr}, flags...)...)
	c.flags = flags
	return c.service
}

func (c *contender) stop() error {
	p := c.service
	c.service = nil
	if p == nil {
		return nil
	}
	return p.stop()
}

// load measures callers, as fast as they can be answered.
func (c *contender) load(callers func() []caller, flags ...string) measurement {
	p := c.serve(flags...)
	return run(p.addr, c.pace, callers(), p.meter)
}

// side measures one thing on this database.
func (c *contender) side(title string, run func(*contender) measurement) *side {
	return &side{name: title + ", " + c.name, run: func() measurement { return run(c) }}
}

// test is one thing that is measured on every database of a stage, in turns with
// what it is compared with.
type test struct {
	title string
	run   func(*contender) measurement
	// against are baselines elsewhere, and beside is one on the same database, of
	// an empty one alone. The rate is compared with the latter, or with the first
	// of the former.
	against   []*side
	beside    *test
	targets   map[string]float64 // the least ratio, by the name of the database
	perSecond float64            // the least rate, in place of a ratio
	full      float64            // the least ratio of a full database to the empty one; 0: it is only shown
	within    []time.Duration    // what p50 (0: any) and p99 must stay below, in place of a ratio
	by        figure             // by which a full database is compared with the empty one; nil: the rate
	both      bool               // a full database has the targets of the empty one, too
	rounds    int                // for each round of other tests; 0: one
}

// both engines have the same target.
func both(target float64) map[string]float64 {
	return map[string]float64{sqliteEngine: target, postgresEngine: target}
}

// compete runs a test and writes its lines. It returns the sides of the databases.
func (s *stage) compete(t test) map[*contender]*side {
	own, beside := map[*contender]*side{}, map[*contender]*side{}
	var turns []*side
	for _, c := range s.list {
		if t.beside != nil && c.newer == nil && c.empty == nil {
			beside[c] = c.side(t.beside.title, t.beside.run)
			turns = append(turns, beside[c])
		}
		own[c] = c.side(t.title, t.run)
		turns = append(turns, own[c])
	}
	p := s.pace
	p.Rounds *= max(t.rounds, 1)
	alternate(p, append(turns, t.against...)...)
	for _, c := range s.list {
		s.judge(t, c, own, beside[c])
		if beside[c] != nil {
			s.report.show(beside[c])
		}
	}
	s.report.show(t.against...)
	return own
}

const (
	targetFull  = 0.85 // of the empty database, if only the record of webhooks is longer
	targetLarge = 0.9  // of the empty database, if there are more products as well
	targetOld   = 0.95 // of an older program
)

// judge writes the lines of one database.
func (s *stage) judge(t test, c *contender, own map[*contender]*side, beside *side) {
	mine, by, base, target := own[c], t.by, beside, t.targets[c.name]
	if by == nil {
		by = rateOf
	}
	if base == nil && len(t.against) > 0 {
		base = t.against[0]
	}
	if c.empty != nil {
		target = t.targets[c.engine]
	}
	switch {
	case c.newer != nil:
		s.report.show(mine)
		s.report.compare(own[c.newer], mine, targetOld, t.title+", "+c.newer.name+" against the older program")
		return
	case c.empty != nil && !t.both:
		s.report.compareBy(by, mine, own[c.empty], t.full, "")
		return
	case t.perSecond > 0:
		s.report.atLeast(mine, t.perSecond)
	case t.within != nil:
		s.report.within(mine, t.within[0], t.within[1])
	case base != nil:
		s.report.compare(mine, base, target, "")
	default:
		s.report.show(mine)
	}
	if c.empty != nil {
		s.report.compareBy(by, mine, own[c.empty], t.full, mine.name+" against empty")
	}
}

// keepBooks reads the stock of some products of every store, before anything is
// sold, and begins to note what is.
func (s *stage) keepBooks() {
	for _, c := range s.list {
		c.sample, c.book = allGoods(c.busy()), newBook(c.data.Size.Products)
		c.stock = stockOf(c.serve().addr, c.key(), c.sample)
	}
}

// settle ends a section: how much memory the services held at most, and whether
// the books are right.
func (s *stage) settle() {
	for _, c := range s.list {
		most := 200.0
		if c.engine == sqliteEngine && c.empty == nil {
			most = 150
		}
		s.report.limit("most memory of the service (VmHWM), "+c.name, c.serve().memory("VmHWM"), most, "MiB")
	}
	for _, c := range s.list {
		s.report.note("Checked at the end on %s: %s.", c.name, c.book.verify(c.service.addr, c.key(), c.sample, c.stock))
	}
}

// key is that of the partner that gets no webhooks.
func (c *contender) key() string { return c.data.Partners[0].Key }

func (c *contender) testKey() string { return c.data.Partners[0].TestKey }

func (c *contender) newBook() *book { return newBook(c.data.Size.Products) }

// products reads single products as fast as they can be answered.
func (c *contender) products() []caller {
	const least = 200 // bytes of an answer
	return getters(anyOf(pathsOf(allGoods(c.busy()))), c.key(), least)
}

// reporters report spread orders as fast as they can be answered.
func (c *contender) reporters() []caller {
	noted := c.book
	if noted == nil {
		noted = c.newBook()
	}
	return reports(c.busy(), c.key(), false, noted).fully()
}

// evenly reads products and reports orders at the same time, so many per second.
func (c *contender) evenly(p *process, length pace, readsPerSecond, reportsPerSecond int) (reads, reports measurement) {
	wait := background(func() { reads = run(p.addr, length, steadily(c.products(), readsPerSecond), unmetered) })
	reports = run(p.addr, length, steadily(c.reporters(), reportsPerSecond), unmetered)
	wait()
	return reads, reports
}
