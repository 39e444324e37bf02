package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The ratios that the service is held to.
const (
	targetProduct = 0.5 // of net/http that writes the same bytes
	targetPage    = 0.2
	targetReports = 1.4 // of the engine without HTTP, a transaction each
	targetHot     = 1.0 // of reports that are spread
	targetLarge   = 0.8 // of the small database
)

var smallSize = size{Stores: 16, Products: 10_000, Orders: 5_000}

// stand is the small database, served twice: as it comes, and with a log that
// is silent.
type stand struct {
	*bench
	info, warn *service
	plain      *dataset // for the engine without HTTP
}

func (b *bench) small(wanted func(string) bool) (err error) {
	fmt.Fprintf(os.Stderr, "preparing %s\n", smallSize)
	base, err := b.prepare(b.work, smallSize)
	if err != nil {
		return err
	}
	s := &stand{bench: b}
	var copies [3]*dataset
	for i, name := range []string{"info.db", "warn.db", "plain.db"} {
		if copies[i], err = base.copyTo(filepath.Join(b.work, name)); err != nil {
			return err
		}
	}
	s.plain = copies[2]
	if s.info, _, err = b.serve("info", "info", copies[0]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.info.stop()) }()
	if s.warn, _, err = b.serve("warn", "warn", copies[1]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.warn.stop()) }()

	b.report.section(fmt.Sprintf("Small database: %s", smallSize))
	if err := s.reads(wanted); err != nil {
		return err
	}
	if wanted("reports") {
		if err := s.reports(); err != nil {
			return err
		}
	}
	return b.report.memory(s.info.process)
}

// reads compares each read with net/http that writes the same bytes.
func (s *stand) reads(wanted func(string) bool) error {
	pages, err := s.info.pages(200, true)
	if err != nil {
		return err
	}
	cases := []struct {
		name, title string
		target      float64
		paths       []string
	}{
		{"product", "one product", targetProduct, allProductPaths(s.plain.shops)},
		{"page", "page of 100 products", targetPage, pages},
		{"order", "one order", 0, orderPaths(s.plain.orders)},
	}
	for _, c := range cases {
		if !wanted(c.name) {
			continue
		}
		if err := s.read(c.title, c.target, c.paths); err != nil {
			return err
		}
	}
	return nil
}

func (s *stand) read(title string, target float64, paths []string) (err error) {
	bodies := make(map[string][]byte, len(paths))
	least := 1 << 30
	err = each(s.info.addr, s.info.data.Key, paths, func(i int, body []byte) error {
		bodies[paths[i]] = append([]byte(nil), body...)
		least = min(least, len(body))
		return nil
	})
	if err != nil {
		return err
	}
	bare, err := s.serveBare(bodies)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	requests := requestsOf(paths, s.info.data.Key)
	of := func(name string, p *process) *series {
		return &series{name: name, run: func() (measurement, error) {
			return load(p.addr, s.pace, readers(requests, least), p.cpu), nil
		}}
	}
	info, warn := of(title, s.info.process), of(title+", log at warn", s.warn.process)
	against := of("  bare net/http, the same bytes", bare)
	if err := alternate(s.pace, info, against, warn); err != nil {
		return err
	}
	s.report.compare(info, against, target, "")
	s.report.compare(warn, against, 0, "")
	s.report.show(against)
	return nil
}

func (s *stand) reports() error {
	shops, key := s.plain.shops, s.plain.Key
	sample := sampleOf(shops)
	before, err := stockOf(s.info.addr, key, sample)
	if err != nil {
		return err
	}
	kept, other := newBook(smallSize.Products), newBook(smallSize.Products)
	over := func(name string, to *service, hot bool, b *book) *series {
		return &series{name: name, run: func() (measurement, error) {
			return load(to.addr, s.pace, reporters(shops, key, hot, false, b), to.cpu), nil
		}}
	}
	direct := func(name string, batch int, hot bool) *series {
		return &series{name: name, run: func() (measurement, error) { return s.direct(s.plain, batch, hot) }}
	}
	spread, hot := over("reports, spread", s.info, false, kept), over("reports, two hot products", s.info, true, kept)
	warn := over("reports, spread, log at warn", s.warn, false, other)
	single := direct("  engine alone, a transaction each", 1, false)
	singleHot := direct("  engine alone, a transaction each, hot", 1, true)
	group := direct("  engine alone, group commit", 0, false)
	if err := alternate(s.pace, spread, single, hot, singleHot, warn, group); err != nil {
		return err
	}
	s.report.compare(spread, single, targetReports, "")
	s.report.compare(hot, singleHot, targetReports, "")
	s.report.compare(hot, spread, targetHot, "two hot products against spread")
	s.report.compare(warn, single, 0, "")
	s.report.compare(spread, group, 0, "reports, spread, against group commit")
	s.report.show(single, singleHot, group)
	checked, err := kept.verify(s.info.addr, key, sample, before)
	if err != nil {
		return fmt.Errorf("after the reports: %w", err)
	}
	s.report.note("Checked after the reports: %s.", checked)
	return nil
}
