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
func (p *payments) slow(c *contender) error {
	var open transactions
	reads := &load.Series{Name: "one product beside a slow processor, " + c.name}
	checkouts := &load.Series{Name: "  checkouts that wait, " + c.name}
	reports := p.series("reports beside a slow processor", c, func(s *load.Service) (m load.Measurement, err error) {
		done := make(chan load.Measurement)
		began := time.Now()
		go func() { done <- load.RunOut(s.Addr, p.waiters(c), unknown) }()
		time.Sleep(settling)
		err = p.watch(c, &open, func() { m = p.evenly(c, s, reads) })
		if took := time.Since(began); took > slowness {
			err = errors.Join(err, fmt.Errorf("the processor answered before all was measured, which took %v", took))
		}
		checkouts.Rounds = append(checkouts.Rounds, <-done)
		return m, err
	})
	readsAlone := &load.Series{Name: "  one product, nobody checks out, " + c.name}
	reportsAlone := p.series("  reports, nobody checks out", c, func(s *load.Service) (load.Measurement, error) {
		return p.evenly(c, s, readsAlone), nil
	})
	if err := load.Alternate(p.Pace, reportsAlone, reports); err != nil {
		return err
	}
	p.Report.Slower(reports, reportsAlone, targetSlow)
	p.Report.Slower(reads, readsAlone, targetSlow)
	p.Report.Show(reportsAlone, readsAlone, checkouts)
	if c.name == load.Postgres {
		p.Report.Limit("oldest open transaction beside a slow processor, "+c.name, float64(open.oldest.Milliseconds()), 1000, "ms")
		p.Report.Note("Open transactions on %s were looked for %d times while checkouts waited.", c.name, open.looks)
	}
	return nil
}

// waiters are customers of a slow processor, who check out once, all of them at
// the same time.
func (p *payments) waiters(c *contender) []load.Caller {
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

// unknown is how much of the service's time goes into each of several things
// that it does at once.
func unknown() time.Duration { return 0 }

// slowPace is within the time for which the processor keeps all waiting.
func (p *payments) slowPace() load.Pace {
	pace := p.Pace
	pace.Warm = min(pace.Warm, slowRun/4)
	pace.Measured = min(pace.Measured, slowRun)
	return pace
}

// evenly reports and reads at an even pace.
func (p *payments) evenly(c *contender, s *load.Service, reads *load.Series) load.Measurement {
	requests := load.RequestsOf(load.AllProductPaths(c.data.Shops), c.data.Key)
	done := make(chan load.Measurement)
	const leastProduct = 200 // bytes
	go func() {
		done <- load.Run(s.Addr, p.slowPace(), load.Steadily(load.Readers(requests, leastProduct), slowReads), unknown)
	}()
	m := load.Run(s.Addr, p.slowPace(), load.Steadily(p.reporters(c), slowReports), unknown)
	reads.Rounds = append(reads.Rounds, <-done)
	return m
}
