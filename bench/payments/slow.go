package main

import (
	"errors"
	"fmt"
	"time"

	"purveyor/bench/internal/load"
)

const (
	targetSlow = 2.0 // times the p99 without it

	slowReports = 400 // a second: some tenth of what can be
	slowReads   = 2000

	slowTag  = "slow" // of the sandbox
	slowness = 5 * time.Second
	settling = slowness / 4 // after which all checkouts wait for the processor
	slowRun  = slowness / 2 // and what is measured until the first of them goes on
)

// slow compares what others notice of checkouts that wait for the processor with
// what they notice when nobody checks out.
func (p *payments) slow(c *load.Contender) error {
	var open transactions
	reads := &load.Series{Name: "one product beside a slow processor, " + c.Name}
	checkouts := &load.Series{Name: "  checkouts that wait, " + c.Name}
	reports := p.Series("reports beside a slow processor", c, func(s *load.Service) (m load.Measurement, err error) {
		done := make(chan load.Measurement)
		began := time.Now()
		go func() { done <- load.RunOut(s.Addr, p.waiters(c), load.UnknownCPU) }()
		time.Sleep(settling)
		err = p.watch(c, &open, func() { m = p.evenly(c, s, reads) })
		if took := time.Since(began); took > slowness {
			err = errors.Join(err, fmt.Errorf("the processor answered before all was measured, which took %v", took))
		}
		checkouts.Rounds = append(checkouts.Rounds, <-done)
		return m, err
	})
	readsAlone := &load.Series{Name: "  one product, nobody checks out, " + c.Name}
	reportsAlone := p.Series("  reports, nobody checks out", c, func(s *load.Service) (load.Measurement, error) {
		return p.evenly(c, s, readsAlone), nil
	})
	if err := load.Alternate(p.Pace, reportsAlone, reports); err != nil {
		return err
	}
	p.Report.Slower(reports, reportsAlone, targetSlow)
	p.Report.Slower(reads, readsAlone, targetSlow)
	p.Report.Show(reportsAlone, readsAlone, checkouts)
	if c.Name == load.Postgres {
		p.Report.Limit("oldest open transaction beside a slow processor, "+c.Name, float64(open.oldest.Milliseconds()), 1000, "ms")
		p.Report.Note("Open transactions on %s were looked for %d times while checkouts waited.", c.Name, open.looks)
	}
	return nil
}

// waiters are customers of a slow processor, who check out once, all of them at
// the same time.
func (p *payments) waiters(c *load.Contender) []load.Caller {
	shoppers := p.shoppers(c)
	shoppers.Tag = slowTag
	list := shoppers.Callers(p.waiting, &load.Checkouts{})
	for i := range list {
		list[i] = &once{Caller: list[i]}
	}
	return list
}

// once makes one request.
type once struct {
	load.Caller
	asked bool
}

func (o *once) Next() []byte {
	if o.asked {
		return nil
	}
	o.asked = true
	return o.Caller.Next()
}

// slowPace is within the time for which the processor keeps all waiting.
func (p *payments) slowPace() load.Pace {
	pace := p.Pace
	pace.Warm = min(pace.Warm, slowRun/4)
	pace.Measured = min(pace.Measured, slowRun)
	return pace
}

// evenly reports and reads at an even pace.
func (p *payments) evenly(c *load.Contender, s *load.Service, into *load.Series) load.Measurement {
	reads, reports := c.Evenly(s, p.slowPace(), slowReads, slowReports)
	into.Rounds = append(into.Rounds, reads)
	return reports
}
