package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

var (
	largeSize = size{Stores: 200, Products: 200_000, Orders: 1_000_000}
	emptySize = size{Stores: 200, Products: 10_000, Orders: 1_000}
)

const (
	mostMemory = 150 // MiB
	mostStart  = 500 // ms
)

// large shows that cost does not grow: the same load on a large database and
// on a nearly empty one.
func (b *bench) large(wanted func(string) bool) (err error) {
	fmt.Fprintf(os.Stderr, "preparing %s\n", largeSize)
	much, err := b.cached("large", largeSize)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.work, "empty")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	little, err := b.prepare(folder, emptySize)
	if err != nil {
		return err
	}
	starts, err := b.starts(much)
	if err != nil {
		return err
	}
	full, _, err := b.serve("large", "info", much)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, full.stop()) }()
	empty, _, err := b.serve("empty", "info", little)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty.stop()) }()

	info, err := os.Stat(much.path)
	if err != nil {
		return err
	}
	b.report.section(fmt.Sprintf("Large database: %s (%.1f GB), against %s", largeSize, float64(info.Size())/1e9, emptySize))
	b.report.limit(fmt.Sprintf("process start to first answer, median of %d", len(starts)), medianOf(starts), mostStart, "ms")
	if err := b.largeReads(wanted, full, empty); err != nil {
		return err
	}
	if wanted("reports") {
		if err := b.largeReports(full, empty); err != nil {
			return err
		}
	}
	return b.report.memory(full.process)
}

// starts times how long a start takes until the first answer, in ms.
func (b *bench) starts(d *dataset) ([]float64, error) {
	var list []float64
	for range 5 {
		s, took, err := b.serve("start", "info", d)
		if err != nil {
			return nil, err
		}
		list = append(list, float64(took.Microseconds())/1000)
		if err := s.stop(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *bench) largeReads(wanted func(string) bool, full, empty *service) error {
	for _, c := range []struct {
		name, title string
		paths       func(*service) ([]string, error)
	}{
		{"product", "one product", func(s *service) ([]string, error) { return allProductPaths(s.data.shops), nil }},
		{"page", "page of 100 products", func(s *service) ([]string, error) { return s.pages(2000, false) }},
		{"order", "one order", func(s *service) ([]string, error) { return orderPaths(s.data.orders), nil }},
	} {
		if !wanted(c.name) {
			continue
		}
		of := func(name string, s *service) (*series, error) {
			paths, err := c.paths(s)
			if err != nil {
				return nil, err
			}
			requests := requestsOf(paths, s.data.Key)
			return &series{name: name, run: func() (measurement, error) {
				return load(s.addr, b.pace, readers(requests, 100), s.cpu), nil
			}}, nil
		}
		much, err := of(c.title+", large", full)
		if err != nil {
			return err
		}
		little, err := of("  nearly empty", empty)
		if err != nil {
			return err
		}
		if err := alternate(b.pace, much, little); err != nil {
			return err
		}
		b.report.compare(much, little, targetLarge, "")
		b.report.show(little)
	}
	return nil
}

func (b *bench) largeReports(full, empty *service) error {
	sample := sampleOf(full.data.shops)
	before, err := stockOf(full.addr, full.data.Key, sample)
	if err != nil {
		return err
	}
	kept := newBook(largeSize.Products)
	of := func(name string, s *service, k *book) *series {
		return &series{name: name, run: func() (measurement, error) {
			return load(s.addr, b.pace, reporters(s.data.shops, s.data.Key, false, k), s.cpu), nil
		}}
	}
	much, little := of("reports, spread, large", full, kept), of("  nearly empty", empty, newBook(emptySize.Products))
	if err := alternate(b.pace, much, little); err != nil {
		return err
	}
	b.report.compare(much, little, targetLarge, "")
	b.report.show(little)
	checked, err := kept.verify(full.addr, full.data.Key, sample, before)
	if err != nil {
		return fmt.Errorf("after the reports: %w", err)
	}
	b.report.note("Checked after the reports: %s.", checked)
	return nil
}
