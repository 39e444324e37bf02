package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"purveyor/bench/internal/load"
)

// Pages while the stock changes. What was sold by an order that was
// acknowledged before a page was asked for must be missing on that page.

const (
	ordersBeside = 500 // a second
	watchedPages = 8   // one of so many is looked at, for the machine is shared
)

func (l *limits) changing() error {
	paths := l.pagePaths()
	beside := map[*contender]*load.Series{}
	var w watch
	err := l.withBare(paths, func(bare *load.Series, least int) error {
		return l.compete("page of 100 products, stock changes", targetPage, func(c *contender) func() (load.Measurement, error) {
			beside[c] = &load.Series{Name: "  orders beside the pages, " + c.name}
			requests := load.RequestsOf(paths, c.Data.Key)
			return func() (load.Measurement, error) {
				orders := make(chan load.Measurement)
				go func() { orders <- load.Run(c.Addr, l.Pace, steadily(c), c.CPU) }()
				m := load.Run(c.Addr, l.Pace, w.watchers(c, requests, least), c.CPU)
				beside[c].Rounds = append(beside[c].Rounds, <-orders)
				return m, nil
			}
		}, bare)
	})
	if err != nil {
		return err
	}
	for _, c := range l.list {
		l.Report.AtLeast(beside[c], ordersBeside*0.95)
	}
	l.Report.Note("Checked while the stock changed: of %d pages, with all their quantities, %d were older than an order that was acknowledged before.",
		w.pages.Load(), w.stale.Load())
	return nil
}

func steadily(c *contender) []load.Caller {
	return load.Steadily(load.Reporters(c.Data.Shops, c.Data.Key, false, false, c.book), ordersBeside)
}

// watch counts what all watchers saw.
type watch struct {
	pages, stale atomic.Int64
}

// watchers read the pages of the stores, each in its place among the requests.
func (w *watch) watchers(c *contender, requests [][]byte, least int) []load.Caller {
	byID := make(map[string]load.Good, len(c.goods))
	for _, g := range c.goods {
		byID[g.ID] = g
	}
	list := make([]load.Caller, load.Callers)
	for i := range list {
		list[i] = &watcher{watch: w, of: c, byID: byID, requests: requests, least: least, rng: load.NewRand(), most: make([]int64, len(c.goods))}
	}
	return list
}

// watcher reads pages, and looks at some of them.
type watcher struct {
	*watch
	of       *contender
	byID     map[string]load.Good
	requests [][]byte // one a store
	least    int
	rng      *rand.Rand

	looks bool
	most  []int64 // what may be left, by product: set for those of the page asked for
}

func (w *watcher) Next() []byte {
	store := w.rng.IntN(len(w.requests))
	w.looks = w.rng.IntN(watchedPages) == 0
	if w.looks {
		for _, g := range w.of.Data.Shops[store].Goods {
			w.most[g.Index] = w.of.start[g.Index] - w.of.book.Sold(g)
		}
	}
	return w.requests[store]
}

func (w *watcher) Answered(status int, body []byte) error {
	if err := load.CheckRead(status, body, w.least); err != nil || !w.looks {
		return err
	}
	w.pages.Add(1)
	err := w.look(body)
	if err != nil {
		w.stale.Add(1)
	}
	return err
}

var (
	idField       = []byte(`"id":"`)
	quantityField = []byte(`"available_quantity":`)
)

// look compares each quantity of a page with what may be left.
func (w *watcher) look(body []byte) error {
	count := 0
	for _, rest, ok := bytes.Cut(body, idField); ok; _, rest, ok = bytes.Cut(rest, idField) {
		id, more, _ := bytes.Cut(rest, []byte{'"'})
		_, more, _ = bytes.Cut(more, quantityField)
		digits, _, _ := bytes.Cut(more, []byte{','})
		left, err := strconv.ParseInt(string(digits), 10, 64)
		g, known := w.byID[string(id)]
		if err != nil || !known {
			return fmt.Errorf("product %q with quantity %q", id, digits)
		}
		if left > w.most[g.Index] {
			return fmt.Errorf("stale page: product %s has %d left, of which acknowledged orders left at most %d", id, left, w.most[g.Index])
		}
		rest = more
		count++
	}
	if count != goods {
		return fmt.Errorf("%d products on the page, want %d", count, goods)
	}
	return nil
}
