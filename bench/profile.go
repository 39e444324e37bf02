package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purveyor/bench/internal/load"
)

// profile writes one CPU profile for each of the cases that are wanted.
func (b *bench) profile(wanted func(string) bool, large bool) error {
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return err
	}
	prepare := func() (*load.Dataset, error) {
		return b.Prepare("sqlite:"+filepath.Join(b.Work, "purveyor.db"), smallSize)
	}
	if large {
		prepare = func() (*load.Dataset, error) { return b.Cached("large", largeSize) }
	}
	base, err := prepare()
	if err != nil {
		return err
	}
	for _, name := range caseNames {
		if !wanted(name) {
			continue
		}
		path := filepath.Join(b.profiles, name+".pprof")
		if err := b.profileCase(name, path, base); err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}

func (b *bench) profileCase(name, path string, d *load.Dataset) (err error) {
	p, err := b.StartSelf("profiled", d.URL, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	list, err := callersOf(name, &load.Service{Process: p, Data: d})
	if err != nil {
		return err
	}
	m := load.Run(p.Addr, b.Pace, list, p.CPU)
	if m.Errors > 0 {
		return fmt.Errorf("%s: %d errors, first: %s", name, m.Errors, m.FirstError)
	}
	return nil
}

func callersOf(name string, s *load.Service) ([]load.Caller, error) {
	switch name {
	case "product":
		return load.Readers(load.RequestsOf(load.AllProductPaths(s.Data.Shops), s.Data.Key), 1), nil
	case "page":
		pages, err := s.Pages(200, true)
		return load.Readers(load.RequestsOf(pages, s.Data.Key), 1), err
	case "order":
		return load.Readers(load.RequestsOf(load.OrderPaths(s.Data.Orders), s.Data.Key), 1), nil
	}
	return load.Reporters(s.Data.Shops, s.Data.Key, false, false, load.NewBook(s.Data.Size.Products)), nil
}
