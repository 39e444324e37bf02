package main

import (
	"fmt"
	"slices"
	"strings"

	"purveyor/bench/internal/load"
)

const (
	targetNearby    = 0.1 // of the rate of reads of one product
	mostNearby      = 50  // ms, at an even pace
	evenSearches    = 200 // a second
	targetPreflight = 0.1
	targetNotices   = 0.6 // of the rate of reports
)

// run measures the wanted cases.
func (c *couriers) run(cases []string) error {
	wanted := func(name string) bool { return slices.Contains(cases, name) }
	for _, part := range []struct {
		wanted bool
		title  string
		size   load.Size
		run    func([]*load.Contender) error
	}{
		{wanted("nearby"), "Nearby stores", c.near, c.nearby},
		{wanted("preflight") || wanted("notices"), "Deliveries", c.small, func(list []*load.Contender) error {
			return c.rates(list, wanted("preflight"), wanted("notices"))
		}},
		{wanted("moving"), "Couriers who move", c.small, c.allMove},
	} {
		if !part.wanted {
			continue
		}
		list, err := c.databases.Both(strings.ToLower(strings.ReplaceAll(part.title, " ", "_")), part.size)
		if err != nil {
			return err
		}
		c.Report.Section(part.title + ": " + part.size.String())
		if err := part.run(list); err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
	}
	c.Report.Note("Both engines are durable; PostgreSQL runs with `%s`. The server CPU of a request is that of the service alone, "+
		"without PostgreSQL's.", strings.Join(load.Settings, " "))
	return nil
}

// nearby compares searches among many stores with reads.
func (c *couriers) nearby(list []*load.Contender) error {
	var all []*load.Series
	for _, of := range list {
		fast, even := c.searches(of)
		all = append(all, c.reads(of), fast, even)
	}
	if err := load.Alternate(c.Pace, all...); err != nil {
		return err
	}
	for of := range slices.Chunk(all, 3) {
		reads, fast, even := of[0], of[1], of[2]
		c.Report.Compare(fast, reads, targetNearby, "")
		c.Report.Show(reads, even)
		c.Report.Limit(even.Name+", p99", float64(even.P99().Milliseconds()), mostNearby, "ms")
	}
	c.Report.Note("Nearby: the 50 nearest stores within 10 miles of the middles of %d cities, where stores are densest, in order of their distance. "+
		"Addresses are placed offline. At an even pace there are %d searches/s; as fast as they can, %d at once wait for each other.", len(cities), evenSearches, load.Callers)
	return nil
}

// rates compares preflights with reads, and notices with reports.
func (c *couriers) rates(list []*load.Contender, preflights, notices bool) error {
	var all []*load.Series
	var compare []func()
	for _, of := range list {
		if preflights {
			asked, reads := c.preflights(of), c.reads(of)
			all = append(all, reads, asked)
			compare = append(compare, func() { c.Report.Compare(asked, reads, targetPreflight, ""); c.Report.Show(reads) })
		}
		if notices {
			told := c.Series("courier notices", of, func(s *load.Service) (load.Measurement, error) { return c.tell(of, s) }, still...)
			reports := c.Series("  reports", of, func(s *load.Service) (load.Measurement, error) {
				return load.Run(s.Addr, c.Pace, of.OrderReporters(), s.CPU), nil
			})
			all = append(all, reports, told)
			compare = append(compare, func() { c.Report.Compare(told, reports, targetNotices, ""); c.Report.Show(reports) })
		}
	}
	if err := load.Alternate(c.Pace, all...); err != nil {
		return err
	}
	for _, f := range compare {
		f()
	}
	if preflights {
		c.Report.Note("Preflights are of two products and a delivery in test mode, so that the sandbox makes the offer; addresses are placed by their ZIP codes.")
	}
	if notices {
		c.Report.Note("Courier notices: %d deliveries are reported before, and then all that the sandbox's couriers tell of them is posted as it would be, signed: "+
			"of each delivery four changes of its status and eight of where the courier is, in order, those of all deliveries in turn. A quarter of the "+
			"deliveries does not count. Reports are of two products for pickup, by a partner that is told nothing. Checked: each order is delivered.", c.tracked)
	}
	return nil
}

func (c *couriers) reads(of *load.Contender) *load.Series {
	return c.Series("  one product", of, func(s *load.Service) (load.Measurement, error) {
		return load.Run(s.Addr, c.Pace, of.ProductReaders(), s.CPU), nil
	})
}

// asking measures requests whose answers have this in them.
func (c *couriers) asking(title string, of *load.Contender, requests [][]byte, has string) *load.Series {
	return c.Series(title, of, func(s *load.Service) (load.Measurement, error) {
		return load.Run(s.Addr, c.Pace, askers(requests, []byte(has)), s.CPU), nil
	})
}
