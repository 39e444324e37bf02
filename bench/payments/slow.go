package main

import (
	"time"

	"purveyor/bench/internal/load"
)

const (
	targetSlow = 2.0 // times the p99 beside a quick processor

	slowReports = 400 // a second: some tenth of what can be
	slowReads   = 2000

	slowTag  = "slow"  // of the sandbox
	quickTag = "quick" // is none
	slowness = 5 * time.Second
)

// paced is what is measured at once on a database: reports and reads at an even
// pace, and checkouts beside them.
type paced struct{ reports, reads, checkouts *load.Series }

// slow compares what others notice of checkouts that wait for the processor with
// what they notice of as many that need not.
func (p *payments) slow(c *contender) error {
	var open transactions
	slow := p.paced(c, "beside a slow processor", slowTag, func(f func()) error { return p.watch(c, &open, f) })
	notWatched := func(f func()) error { f(); return nil }
	quick := p.paced(c, "beside a quick one", quickTag, notWatched)
	alone := p.alone(c)
	if err := load.Alternate(p.Pace, alone.reports, quick.reports, slow.reports); err != nil {
		return err
	}
	p.Report.Slower(slow.reports, quick.reports, targetSlow)
	p.Report.Slower(slow.reads, quick.reads, targetSlow)
	p.Report.Show(quick.reports, quick.reads, alone.reports, alone.reads, slow.checkouts, quick.checkouts)
	if c.name == load.Postgres {
		p.Report.Limit("oldest open transaction beside a slow processor, "+c.name, float64(open.oldest.Milliseconds()), 1000, "ms")
		p.Report.Note("Open transactions on %s were looked for %d times while checkouts waited.", c.name, open.looks)
	}
	return nil
}

// alone is when nobody checks out.
func (p *payments) alone(c *contender) paced {
	reads := &load.Series{Name: "  one product, nobody checks out, " + c.name}
	return paced{reads: reads, reports: p.series("  reports, nobody checks out", c, func(s *load.Service) (load.Measurement, error) {
		return p.evenly(c, s, reads), nil
	})}
}

// paced measures beside checkouts of customers with this tag. The reads and
// the checkouts get their rounds with those of the reports.
func (p *payments) paced(c *contender, title, tag string, during func(func()) error) paced {
	indent := "  "
	if tag == slowTag {
		indent = ""
	}
	m := paced{reads: &load.Series{Name: indent + "one product " + title + ", " + c.name}, checkouts: &load.Series{Name: "  checkouts " + title + ", " + c.name}}
	m.reports = p.series(indent+"reports "+title, c, func(s *load.Service) (reports load.Measurement, err error) {
		done := make(chan load.Measurement)
		go func() { done <- p.checkOut(c, s, tag) }()
		if tag == slowTag {
			time.Sleep(slowness) // until all of them wait
		}
		err = during(func() { reports = p.evenly(c, s, m.reads) })
		m.checkouts.Rounds = append(m.checkouts.Rounds, <-done)
		return reports, err
	})
	return m
}

// unknown is how much of the service's time goes into each of several things
// that it does at once.
func unknown() time.Duration { return 0 }

// evenly reports and reads at an even pace.
func (p *payments) evenly(c *contender, s *load.Service, reads *load.Series) load.Measurement {
	requests := load.RequestsOf(load.AllProductPaths(c.data.Shops), c.data.Key)
	done := make(chan load.Measurement)
	const leastProduct = 200 // bytes
	go func() {
		done <- load.Run(s.Addr, p.Pace, load.Steadily(load.Readers(requests, leastProduct), slowReads), unknown)
	}()
	m := load.Run(s.Addr, p.Pace, load.Steadily(p.reporters(c), slowReports), unknown)
	reads.Rounds = append(reads.Rounds, <-done)
	return m
}

// checkOut checks out as long as evenly takes; if the processor is slow, from so
// long before that all wait, until each has been answered once. Customers
// begin one after another.
func (p *payments) checkOut(c *contender, s *load.Service, tag string) load.Measurement {
	shoppers := p.shoppers(c)
	shoppers.Tag = tag
	pace := load.Pace{Measured: p.Pace.Warm + p.Pace.Measured}
	if tag == slowTag {
		pace.Measured += 2 * slowness
	}
	each := p.waiting / int(slowness.Seconds())
	return load.Run(s.Addr, pace, load.Steadily(shoppers.Callers(p.waiting, &load.Checkouts{}), each), unknown)
}
