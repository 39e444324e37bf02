package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purveyor/bench/internal/load"
)

var (
	largeSize = load.Size{Stores: 200, Products: 200_000, Orders: 1_000_000}
	emptySize = load.Size{Stores: 200, Products: 10_000, Orders: 1_000}
)

const (
	mostMemory = 150 // MiB
	mostStart  = 500 // ms
)

// large shows that cost does not grow: the same load on a large database and
// on a nearly empty one.
func (b *bench) large(wanted func(string) bool) (err error) {
	fmt.Fprintf(os.Stderr, "preparing %s\n", largeSize)
	kept, err := b.Cached("large", largeSize)
	if err != nil {
		return err
	}
	much, err := kept.CopyTo(filepath.Join(b.Work, "large.db")) // so that each run begins with the same
	if err != nil {
		return err
	}
	folder := filepath.Join(b.Work, "empty")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	little, err := b.Prepare("sqlite:"+filepath.Join(folder, "purveyor.db"), emptySize)
	if err != nil {
		return err
	}
	starts, err := b.starts(much)
	if err != nil {
		return err
	}
	full, _, err := b.Serve("large", "info", much)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, full.Stop()) }()
	empty, _, err := b.Serve("empty", "info", little)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty.Stop()) }()

	info, err := os.Stat(much.Path())
	if err != nil {
		return err
	}
	b.Report.Section(fmt.Sprintf("Large database: %s (%.1f GB), against %s", largeSize, float64(info.Size())/1e9, emptySize))
	b.Report.Limit(fmt.Sprintf("process start to first answer, median of %d", len(starts)), load.MedianOf(starts), mostStart, "ms")
	if err := b.largeReads(wanted, full, empty); err != nil {
		return err
	}
	if wanted("reports") {
		if err := b.largeReports(full, empty); err != nil {
			return err
		}
	}
	return b.Report.Memory("the server process", full.Process, mostMemory)
}

// starts times how long a start takes until the first answer, in ms.
func (b *bench) starts(d *load.Dataset) ([]float64, error) {
	var list []float64
	for range 5 {
		s, took, err := b.Serve("start", "info", d)
		if err != nil {
			return nil, err
		}
		list = append(list, float64(took.Microseconds())/1000)
		if err := s.Stop(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// The load on the large database is the one on the nearly empty database: as
// many products, pages and orders are asked for. How it fares when everything
// in it is wanted alike, which no cache of this size can hold, and external ids
// come in no order, is shown beside it.

func (b *bench) largeReads(wanted func(string) bool, full, empty *load.Service) error {
	pages := func(most int) func(*load.Service) ([]string, error) {
		return func(s *load.Service) ([]string, error) { return s.Pages(most, false) }
	}
	products := func(most int) func(*load.Service) ([]string, error) {
		return func(s *load.Service) ([]string, error) { return load.AllProductPaths(partOf(s.Data.Shops, most)), nil }
	}
	orders := func(most int) func(*load.Service) ([]string, error) {
		return func(s *load.Service) ([]string, error) {
			var some []string
			for i := 0; i < len(s.Data.Orders); i += max(1, len(s.Data.Orders)/most) {
				some = append(some, s.Data.Orders[i])
			}
			return load.OrderPaths(some), nil
		}
	}
	for _, c := range []struct {
		Name, title string
		same, all   func(*load.Service) ([]string, error)
	}{
		{"product", "one product", products(emptySize.Products), products(largeSize.Products)},
		{"page", "page of 100 products", pages(emptySize.Products / 100), pages(largeSize.Products / 100)},
		{"order", "one order", orders(emptySize.Orders), orders(largeSize.Orders)},
	} {
		if !wanted(c.Name) {
			continue
		}
		of := func(name string, s *load.Service, paths func(*load.Service) ([]string, error)) (*load.Series, error) {
			list, err := paths(s)
			if err != nil {
				return nil, err
			}
			requests := load.RequestsOf(list, s.Data.Key)
			return &load.Series{Name: name, Run: func() (load.Measurement, error) {
				return load.Run(s.Addr, b.Pace, load.Readers(requests, 100), s.CPU), nil
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
func (b *bench) largeCompare(same, all, little *load.Series) error {
	if err := load.Alternate(b.Pace, same, little); err != nil {
		return err
	}
	b.Report.Compare(same, little, targetLarge, "")
	b.Report.Show(little)
	again := &load.Series{Name: little.Name, Run: little.Run}
	if err := load.Alternate(b.Pace, all, again); err != nil {
		return err
	}
	b.Report.Compare(all, again, 0, "")
	return nil
}

func (b *bench) largeReports(full, empty *load.Service) error {
	sample := load.SampleOf(full.Data.Shops)
	before, err := load.StockOf(full.Addr, full.Data.Key, sample)
	if err != nil {
		return err
	}
	kept := load.NewBook(largeSize.Products)
	of := func(name string, s *load.Service, shops []load.Shop, scattered bool, k *load.Book) *load.Series {
		return &load.Series{Name: name, Run: func() (load.Measurement, error) {
			return load.Run(s.Addr, b.Pace, load.Reporters(shops, s.Data.Key, false, scattered, k), s.CPU), nil
		}}
	}
	err = b.largeCompare(
		of("reports, spread, large", full, partOf(full.Data.Shops, emptySize.Products), false, kept),
		of("reports, large, over everything, scattered ids", full, full.Data.Shops, true, kept),
		of("  nearly empty", empty, empty.Data.Shops, false, load.NewBook(emptySize.Products)))
	if err != nil {
		return err
	}
	checked, err := kept.Verify(full.Addr, full.Data.Key, sample, before)
	if err != nil {
		return fmt.Errorf("after the reports: %w", err)
	}
	b.Report.Note("Checked after the reports: %s.", checked)
	return nil
}

// partOf is the shops with their first products alone, so many in all.
func partOf(shops []load.Shop, most int) []load.Shop {
	each := most / len(shops)
	part := make([]load.Shop, len(shops))
	for i, s := range shops {
		part[i] = load.Shop{ID: s.ID, Goods: s.Goods[:min(each, len(s.Goods))]}
	}
	return part
}
