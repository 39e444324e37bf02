package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"purveyor/internal/storage/schema"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, stop: make(chan struct{})}
	after := func(seconds int) time.Time { return p.began.Add(time.Duration(seconds) * time.Second) }
	p.phase("reading shop.json", 40_000_000, "bytes")
	p.show(after(1))
	p.set(10_000_000)
	p.show(after(2))
	p.phase("saving 7 products", 0, "")
	p.show(after(3))
	p.phase("exporting", 0, "products")
	p.set(2000)
	p.show(after(4))
	const want = "reading shop.json: 0 %, 0.0 of 40.0 MB\nreading shop.json: 25 %, 10.0 of 40.0 MB, 6 s left\nsaving 7 products: 3 s\nexporting: 2000 products, 4 s\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}

	b.Reset()
	p.terminal = true
	p.phase("exporting", 4, "products")
	p.set(9) // more than were counted
	p.show(after(5))
	p.phase("x", 0, "")
	p.show(after(6))
	p.end()
	p.end()
	const full = "exporting [====================] 100 %, 4 of 4 products, 0 s left"
	bars := "\r" + full + "\r" + full + "\rx: 6 s" + strings.Repeat(" ", len(full)-len("x: 6 s")) + "\rx: 6 s\r      \r"
	if b.String() != bars {
		t.Errorf("%q\nwant\n%q", &b, bars)
	}
}

// manyRows is a snapshot with 4000 rows in each table.
type manyRows struct{ schema.Snapshot }

func (manyRows) Sums(*schema.Plain) ([]int64, error) { return []int64{4000}, nil }

func (manyRows) Each(_ *schema.Plain, row func(schema.Scanner) error) error {
	for range 3000 {
		if err := row(nil); err != nil {
			return err
		}
	}
	return nil
}

// A copy shows for each table how many of its rows have passed. What is printed meanwhile stands
// above the bar.
func TestProgressOfCopy(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, stop: make(chan struct{}), terminal: true}
	w := watchedSnapshot{manyRows{}, p}
	table := schema.Plains[0]
	rows := 0
	_, err := w.Sums(table)
	if err == nil {
		err = w.Each(table, func(schema.Scanner) error { rows++; return nil })
	}
	if err != nil || rows != 3000 {
		t.Errorf("%d rows, %v", rows, err)
	}
	p.show(p.began.Add(3 * time.Second))
	bar := "copying " + table.Name + " [===============     ] 75 %, 3000 of 4000 rows, 1 s left"
	p.above(func() { b.WriteString("a fault\n") })
	if want := "\r" + bar + "\r" + bar + "\r" + strings.Repeat(" ", len(bar)) + "\ra fault\n"; b.String() != want {
		t.Errorf("%q\nwant\n%q", &b, want)
	}
}

// A command that ends soon shows nothing, wherever its progress goes.
func TestShortProgress(t *testing.T) {
	p := startProgress()
	p.phase("reading", 10, "bytes")
	p.end()
	if p.shown != 0 {
		t.Errorf("%d characters are on the screen", p.shown)
	}
}
