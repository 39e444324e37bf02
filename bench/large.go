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
	kept, err := b.cached("large", largeSize)
	if err != nil {
		return err
	}
	much, err := kept.copyTo(filepath.Join(b.work, "large.db")) // so that each run begins with the same
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

// The load on the large database is the one on the nearly empty database: as
// many products, pages and orders are asked for. How it fares when everything
// in it is wanted alike, which no cache of this size can hold, and external ids
// come in no order, is shown beside it.

func (b *bench) largeReads(wanted func(string) bool, full, empty *service) error {
	pages := func(most int) func(*service) ([]string, error) {
		return func(s *service) ([]string, error) { return s.pages(most, false) }
	}
	products := func(most int) func(*service) ([]string, error) {
		return func(s *service) ([]string, error) { return allProductPaths(partOf(s.data.shops, most)), nil }
	}
	orders := func(most int) func(*service) ([]string, error) {
		return func(s *service) ([]string, error) {
			var some []string
			for i := 0; i < len(s.data.orders); i += max(1, len(s.data.orders)/most) {
				some = append(some, s.data.orders[i])
			}
			return orderPaths(some), nil
		}
	}
	for _, c := range []struct {
		name, title string
		same, all   func(*service) ([]string, error)
	}{
		{"product", "one product", products(emptySize.Products), products(largeSize.Products)},
		{"page", "page of 100 products", pages(emptySize.Products / 100), pages(largeSize.Products / 100)},
		{"order", "one order", orders(emptySize.Orders), orders(largeSize.Orders)},
	} {
		if !wanted(c.name) {
			continue
		}
		of := func(name string, s *service, paths func(*service) ([]string, error)) (*series, error) {
			list, err := paths(s)
			if err != nil {
				return nil, err
			}
			requests := requestsOf(list, s.data.Key)
			return &series{name: name, run: func() (measurement, error) {
				return load(s.addr, b.pace, readers(requests, 100), s.cpu), nil
			}}, nil
		}
		little, err := of("  nearly empty", empty, c.same)
		if err != nil {
			return err
		}
		same, err := of(c.title+", large", full, c.same)
		if err != nil {
			return err
		}
		all, err := of(c.title+", large, over everything", full, c.all)
		if err != nil {
			return err
		}
		if err := b.largeCompare(same, all, little); err != nil {
			return err
		}
	}
	return nil
}

// largeCompare runs the same load on both, then all on the large one beside
// the same; only the first has a target.
func (b *bench) largeCompare(same, all, little *series) error {
	if err := alternate(b.pace, same, little); err != nil {
		return err
	}
	b.report.compare(same, little, targetLarge, "")
	b.report.show(little)
	again := &series{name: little.name, run: little.run}
	if err := alternate(b.pace, all, again); err != nil {
		return err
	}
	b.report.compare(all, again, 0, "")
	return nil
}

func (b *bench) largeReports(full, empty *service) error {
	sample := sampleOf(full.data.shops)
	before, err := stockOf(full.addr, full.data.Key, sample)
	if err != nil {
		return err
	}
	kept := newBook(largeSize.Products)
	of := func(name string, s *service, shops []shop, scattered bool, k *book) *series {
		return &series{name: name, run: func() (measurement, error) {
			return load(s.addr, b.pace, reporters(shops, s.data.Key, false, scattered, k), s.cpu), nil
		}}
	}
	err = b.largeCompare(
		of("reports, spread, large", full, partOf(full.data.shops, emptySize.Products), false, kept),
		of("reports, large, over everything, scattered ids", full, full.data.shops, true, kept),
		of("  nearly empty", empty, empty.data.shops, false, newBook(emptySize.Products)))
	if err != nil {
		return err
	}
	checked, err := kept.verify(full.addr, full.data.Key, sample, before)
	if err != nil {
		return fmt.Errorf("after the reports: %w", err)
	}
	b.report.note("Checked after the reports: %s.", checked)
	return nil
}

// partOf is the shops with their first products alone, so many in all.
func partOf(shops []shop, most int) []shop {
	each := most / len(shops)
	part := make([]shop, len(shops))
	for i, s := range shops {
		part[i] = shop{id: s.id, goods: s.goods[:min(each, len(s.goods))]}
	}
	return part
}
