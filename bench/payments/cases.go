package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"purveyor/bench/internal/load"
)

const (
	targetCheckout = 0.3 // of the rate of reports
	targetNotices  = 0.6
	targetSlow     = 2.0 // times the p99 when nobody waits

	slowReports = 400 // a second, while others wait: some tenth of what can be
	slowReads   = 2000
)

// run measures the wanted cases.
func (p *payments) run(cases []string) error {
	p.Report.Section("Card payments: " + p.Size.String())
	p.Report.Note("Both engines are durable; PostgreSQL runs with `%s`. The server CPU of a request is that of the service alone, "+
		"without PostgreSQL's.", strings.Join(load.Settings, " "))
	if err := p.rates(slices.Contains(cases, "checkout"), slices.Contains(cases, "notices")); err != nil {
		return err
	}
	if !slices.Contains(cases, "slow") {
		return nil
	}
	for _, c := range p.list {
		if err := p.slow(c); err != nil {
			return fmt.Errorf("slow: %s: %w", c.name, err)
		}
	}
	p.Report.Note("Slow: %d checkouts wait all the time for a processor that takes 5 s (the sandbox's tag `slow`), each in a request of its own, "+
		"while %d orders/s are reported and %d products/s are read at an even pace.", p.waiting, slowReports, slowReads)
	return nil
}

// rates compares checkouts and notices with reports.
func (p *payments) rates(checkouts, notices bool) error {
	if !checkouts && !notices {
		return nil
	}
	var longest time.Duration
	of := map[*contender][]*load.Series{} // reports, checkouts, notices
	var list []*load.Series
	for _, c := range p.list {
		reports := p.series("  reports", c, func(s *load.Service) (load.Measurement, error) {
			return load.Run(s.Addr, p.Pace, p.reporters(c), s.CPU), nil
		})
		opened := p.series("checkouts", c, func(s *load.Service) (load.Measurement, error) {
			return load.Run(s.Addr, p.Pace, p.shoppers(c).Callers(load.Callers, &load.Checkouts{}), s.CPU), nil
		})
		paid := p.series("payment notices", c, func(s *load.Service) (load.Measurement, error) {
			m, after, err := p.pay(c, s)
			longest = max(longest, after)
			return m, err
		})
		of[c] = []*load.Series{reports, opened, paid}
		list = append(list, reports)
		if checkouts {
			list = append(list, opened)
		}
		if notices {
			list = append(list, paid)
		}
	}
	if err := load.Alternate(p.Pace, list...); err != nil {
		return err
	}
	for _, c := range p.list {
		if checkouts {
			p.Report.Compare(of[c][1], of[c][0], targetCheckout, "")
		}
		if notices {
			p.Report.Compare(of[c][2], of[c][0], targetNotices, "")
		}
		p.Report.Show(of[c][0])
	}
	p.Report.Note("Reports and checkouts are of the same baskets: two products for pickup, each request with an idempotency key of its own, " +
		"by a partner that is told nothing. Checkouts are of test mode, with sessions in the payment sandbox, which are durable, too.")
	if notices {
		p.Report.Note("Notices: %d orders are checked out over HTTP before, and then one signed notice each says that it is paid, of which the first "+
			"quarter does not count. The sandbox's signer made them, over the same database: Stripe's are larger. Meanwhile an e-mail and a text to the "+
			"store are written for each order, into the outbox: the last of them %v after the last notice, at most. Checked: each order is paid.",
			p.paid, longest.Round(time.Millisecond))
	}
	return nil
}

// series measures one thing on a database, each time beside a new service.
func (p *payments) series(title string, c *contender, run func(*load.Service) (load.Measurement, error)) *load.Series {
	return &load.Series{Name: title + ", " + c.name, Run: func() (load.Measurement, error) {
		return p.with(c, strings.TrimSpace(title), run)
	}}
}

func (p *payments) shoppers(c *contender) load.Shoppers {
	return load.Shoppers{Shops: c.data.Shops, Key: c.data.TestKey}
}

// slow compares what others notice while checkouts wait for the processor with
// what they notice when none does.
func (p *payments) slow(c *contender) error {
	reads := &load.Series{Name: "  one product, " + c.name}
	reports := p.series("  reports, at that pace", c, func(s *load.Service) (load.Measurement, error) {
		return p.beside(c, s, reads), nil
	})
	waitingReads := &load.Series{Name: "one product while checkouts wait, " + c.name}
	waiters := &load.Series{Name: "  the checkouts that wait, " + c.name}
	var open transactions
	waitingReports := p.series("reports while checkouts wait", c, func(s *load.Service) (m load.Measurement, err error) {
		done := make(chan load.Measurement)
		go func() { done <- p.wait(c, s) }()
		time.Sleep(slowness) // until all of them wait
		stop, err := p.watch(c, &open)
		if err == nil {
			m = p.beside(c, s, waitingReads)
			err = stop()
		}
		waiters.Rounds = append(waiters.Rounds, <-done)
		return m, err
	})
	if err := load.Alternate(p.Pace, reports, waitingReports); err != nil {
		return err
	}
	p.Report.Slower(waitingReports, reports, targetSlow)
	p.Report.Slower(waitingReads, reads, targetSlow)
	p.Report.Show(reports, reads, waiters)
	if c.name == load.Postgres {
		p.Report.Limit("oldest open transaction meanwhile, "+c.name, float64(open.oldest.Milliseconds()), 1000, "ms")
		p.Report.Note("Open transactions on %s were looked for %d times while checkouts waited.", c.name, open.looks)
	}
	return nil
}

// slowness is how long the first of the waiting checkouts take to be under way,
// which is as long as one of them takes.
const slowness = 5 * time.Second

// unknown is how much of the service's time goes into each of several things
// that it does at once.
func unknown() time.Duration { return 0 }

// beside reports and reads at an even pace.
func (p *payments) beside(c *contender, s *load.Service, reads *load.Series) load.Measurement {
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

// wait keeps checkouts waiting as long as beside takes, and before. They begin
// one after another, as customers do.
func (p *payments) wait(c *contender, s *load.Service) load.Measurement {
	shoppers := p.shoppers(c)
	shoppers.Tag = "slow"
	pace := load.Pace{Measured: 2*slowness + p.Pace.Warm + p.Pace.Measured}
	each := p.waiting / int(slowness.Seconds())
	return load.Run(s.Addr, pace, load.Steadily(shoppers.Callers(p.waiting, &load.Checkouts{}), each), unknown)
}
