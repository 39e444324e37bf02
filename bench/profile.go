package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"

	"purveyor/internal/api"
	"purveyor/internal/commit"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/web"
)

// serveProfiled is the hidden command "profiled ADDRESS DATABASE PROFILE":
// the parts of the service put together as cmd/purveyor does it, with a CPU
// profile of all that it serves.
func serveProfiled(ctx context.Context, addr, database, profile string) (err error) {
	engine, err := sqlite.Open(database, sqlite.Options{})
	if err != nil {
		return err
	}
	committer := commit.New(engine, 0)
	defer func() { committer.Close(); err = errors.Join(err, engine.Close()) }()
	out := bufio.NewWriterSize(os.Stderr, 64<<10) // the handler of slog takes turns by itself
	defer func() { _ = out.Flush() }()
	log := slog.New(slog.NewTextHandler(out, nil))
	f, err := os.Create(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return serveUntilDone(ctx, addr, web.Trace(log, api.New(engine, committer, api.Options{}).Handler()))
}

// profile writes one CPU profile for each of the cases that are wanted.
func (b *bench) profile(wanted func(string) bool, large bool) error {
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return err
	}
	prepare := func() (*dataset, error) { return b.prepare(b.work, smallSize) }
	if large {
		prepare = func() (*dataset, error) { return b.cached("large", largeSize) }
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

func (b *bench) profileCase(name, path string, d *dataset) (err error) {
	p, err := b.serveHidden("profiled", d.path, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	list, err := callersOf(name, &service{p, d})
	if err != nil {
		return err
	}
	m := load(p.addr, b.pace, list, p.cpu)
	if m.Errors > 0 {
		return fmt.Errorf("%s: %d errors, first: %s", name, m.Errors, m.FirstError)
	}
	return nil
}

func callersOf(name string, s *service) ([]caller, error) {
	switch name {
	case "product":
		return readers(requestsOf(allProductPaths(s.data.shops), s.data.Key), 1), nil
	case "page":
		pages, err := s.pages(200, true)
		return readers(requestsOf(pages, s.data.Key), 1), err
	case "order":
		return readers(requestsOf(orderPaths(s.data.orders), s.data.Key), 1), nil
	}
	return reporters(s.data.shops, s.data.Key, false, false, newBook(s.data.Size.Products)), nil
}
