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
			return fmt.Errorf("slow: %s: %w", c.Name, err)
		}
	}
	p.Report.Note("Slow: %d checkouts wait at the same time for a processor that takes 5 s (the sandbox's tag `slow`), each in a request of its own, "+
		"while %d orders/s are reported and %d products/s are read at an even pace; against the same when nobody checks out. Checked: none was answered before "+
		"the end of what was measured.", p.waiting, slowReports, slowReads)
	return nil
}

// rates compares checkouts and notices with reports.
func (p *payments) rates(checkouts, notices bool) error {
	if !checkouts && !notices {
		return nil
	}
	var longest time.Duration
	of := map[*load.Contender][]*load.Series{} // reports, checkouts, notices
	var list []*load.Series
	for _, c := range p.list {
		reports := p.Series("  reports", c, func(s *load.Service) (load.Measurement, error) {
			return load.Run(s.Addr, p.Pace, c.OrderReporters(), s.CPU), nil
		})
		opened := p.Series("checkouts", c, func(s *load.Service) (load.Measurement, error) {
			return load.Run(s.Addr, p.Pace, p.shoppers(c).Callers(load.Callers, &load.Checkouts{}), s.CPU), nil
		})
		paid := p.Series("payment notices", c, func(s *load.Service) (load.Measurement, error) {
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

func (p *payments) shoppers(c *load.Contender) load.Shoppers {
	return load.Shoppers{Shops: c.Data.Shops, Key: c.Data.TestKey}
}
