package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purveyor/bench/internal/load"
)

// The ratios that the service is held to.
const (
	targetProduct = 0.5 // of net/http that writes the same bytes
	targetPage    = 0.2
	targetReports = 1.4 // of the engine without HTTP, a transaction each
	targetHot     = 1.0 // of reports that are spread
	targetLarge   = 0.8 // of the small database
)

var smallSize = load.Size{Stores: 16, Products: 10_000, Orders: 5_000}

// stand is the small database, served twice: as it comes, and with a log that
// is silent.
type stand struct {
	*bench
	info, warn *load.Service
	plain      *load.Dataset // for the engine without HTTP
}

func (b *bench) small(wanted func(string) bool) (err error) {
	fmt.Fprintf(os.Stderr, "preparing %s\n", smallSize)
	base, err := b.Prepare("sqlite:"+filepath.Join(b.Work, "purveyor.db"), smallSize)
	if err != nil {
		return err
	}
	s := &stand{bench: b}
	var copies [3]*load.Dataset
	for i, name := range []string{"info.db", "warn.db", "plain.db"} {
		if copies[i], err = base.CopyTo(filepath.Join(b.Work, name)); err != nil {
			return err
		}
	}
	s.plain = copies[2]
	if s.info, _, err = b.Serve("info", "info", copies[0]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.info.Stop()) }()
	if s.warn, _, err = b.Serve("warn", "warn", copies[1]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.warn.Stop()) }()

	b.Report.Section(fmt.Sprintf("Small database: %s", smallSize))
	if err := s.reads(wanted); err != nil {
		return err
	}
	if wanted("reports") {
		if err := s.reports(); err != nil {
			return err
		}
	}
	return b.Report.Memory("the server process", s.info.Process, mostMemory)
}

// reads compares each read with net/http that writes the same bytes.
func (s *stand) reads(wanted func(string) bool) error {
	pages, err := s.info.Pages(200, true)
	if err != nil {
		return err
	}
	cases := []struct {
		Name, title string
		target      float64
		paths       []string
	}{
		{"product", "one product", targetProduct, load.AllProductPaths(s.plain.Shops)},
		{"page", "page of 100 products", targetPage, pages},
		{"order", "one order", 0, load.OrderPaths(s.plain.Orders)},
	}
	for _, c := range cases {
		if !wanted(c.Name) {
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
	err = load.Each(s.info.Addr, s.info.Data.Key, paths, func(i int, body []byte) error {
		bodies[paths[i]] = append([]byte(nil), body...)
		least = min(least, len(body))
		return nil
	})
	if err != nil {
		return err
	}
	bare, err := s.StartBare(bodies)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	requests := load.RequestsOf(paths, s.info.Data.Key)
	of := func(name string, p *load.Process) *load.Series {
		return &load.Series{Name: name, Run: func() (load.Measurement, error) {
			return load.Run(p.Addr, s.Pace, load.Readers(requests, least), p.CPU), nil
		}}
	}
	info, warn := of(title, s.info.Process), of(title+", log at warn", s.warn.Process)
	against := of("  bare net/http, the same bytes", bare)
	if err := load.Alternate(s.Pace, info, against, warn); err != nil {
		return err
	}
	s.Report.Compare(info, against, target, "")
	s.Report.Compare(warn, against, 0, "")
	s.Report.Show(against)
	return nil
}

func (s *stand) reports() error {
	shops, key := s.plain.Shops, s.plain.Key
	sample := load.SampleOf(shops)
	before, err := load.StockOf(s.info.Addr, key, sample)
	if err != nil {
		return err
	}
	kept, other := load.NewBook(smallSize.Products), load.NewBook(smallSize.Products)
	over := func(name string, to *load.Service, hot bool, b *load.Book) *load.Series {
		return &load.Series{Name: name, Run: func() (load.Measurement, error) {
			return load.Run(to.Addr, s.Pace, load.Reporters(shops, key, hot, false, b), to.CPU), nil
		}}
	}
	direct := func(name string, batch int, hot bool) *load.Series {
		return &load.Series{Name: name, Run: func() (load.Measurement, error) { return s.direct(s.plain, batch, hot) }}
	}
	spread, hot := over("reports, spread", s.info, false, kept), over("reports, two hot products", s.info, true, kept)
	warn := over("reports, spread, log at warn", s.warn, false, other)
	single := direct("  engine alone, a transaction each", 1, false)
	singleHot := direct("  engine alone, a transaction each, hot", 1, true)
	group := direct("  engine alone, group commit", 0, false)
	if err := load.Alternate(s.Pace, spread, single, hot, singleHot, warn, group); err != nil {
		return err
	}
	s.Report.Compare(spread, single, targetReports, "")
	s.Report.Compare(hot, singleHot, targetReports, "")
	s.Report.Compare(hot, spread, targetHot, "two hot products against spread")
	s.Report.Compare(warn, single, 0, "")
	s.Report.Compare(spread, group, 0, "reports, spread, against group commit")
	s.Report.Show(single, singleHot, group)
	checked, err := kept.Verify(s.info.Addr, key, sample, before)
	if err != nil {
		return fmt.Errorf("after the reports: %w", err)
	}
	s.Report.Note("Checked after the reports: %s.", checked)
	return nil
}
