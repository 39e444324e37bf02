package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purveyor/bench/internal/load"
)

var caseNames = []string{"product", "page", "changing", "reports", "hot"}

// targets are the ratios that the service is held to, by engine.
type targets map[string]float64

var (
	targetProduct = targets{sqlite: 0.6, postgres: 0.25} // of net/http writing the same bytes
	targetPage    = targets{sqlite: 0.4, postgres: 0.15}
	targetReports = targets{sqlite: 1.2, postgres: 1.5} // of pgbench with the same transaction
	targetHot     = targets{sqlite: 5, postgres: 8}
)

const (
	targetFull = 0.85 // of the empty database
	targetOld  = 0.95 // of an older program
	mostMemory = 200  // MiB
)

func (l *limits) run(cases []string) error {
	title := "The limits: " + l.size.String()
	if l.orders > 0 {
		full := l.size
		full.Orders = l.orders
		title += ", and full: " + full.String()
	}
	l.Report.Section(title)
	l.Report.Note("Every answer is durable on both engines. PostgreSQL runs with `%s`; the server CPU of a request is that of the service alone, without PostgreSQL's.",
		strings.Join(load.Settings, " "))
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"product", l.product}, {"page", l.page}, {"changing", l.changing},
		{"reports", func() error { return l.reports("reports, spread", "spread", false, targetReports) }},
		{"hot", func() error { return l.reports("reports, two hot products", "hot", true, targetHot) }},
	} {
		if !slices.Contains(cases, c.name) {
			continue
		}
		if err := c.run(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return l.settle()
}

// settle ends a run: memory, and what was acknowledged.
func (l *limits) settle() error {
	for _, c := range l.list {
		if err := l.Report.Memory("the service on "+c.name, c.Process, mostMemory); err != nil {
			return err
		}
	}
	for _, c := range l.list {
		checked, err := c.verify()
		if err != nil {
			return fmt.Errorf("%s: after the reports: %w", c.name, err)
		}
		l.Report.Note("Checked at the end on %s: %s.", c.name, checked)
	}
	return nil
}

// compete runs the same on every contender and beside it the baselines, of
// which the first is the one to compare with.
func (l *limits) compete(title string, t targets, of func(*contender) func() (load.Measurement, error), baselines ...*load.Series) error {
	own := map[*contender]*load.Series{}
	turns := slices.Clone(baselines)
	for _, c := range l.list {
		own[c] = &load.Series{Name: title + ", " + c.name, Run: of(c)}
		turns = append(turns, own[c])
	}
	if err := load.Alternate(l.Pace, turns...); err != nil {
		return err
	}
	for _, c := range l.list {
		switch {
		case c.newer != nil:
			l.Report.Show(own[c])
			l.Report.Compare(own[c.newer], own[c], targetOld, title+", "+c.engine+" against the older program")
		case c.empty != nil:
			l.Report.Compare(own[c], own[c.empty], targetFull, "")
		default:
			l.Report.Compare(own[c], baselines[0], t[c.engine], "")
		}
	}
	l.Report.Show(baselines...)
	return nil
}

func (l *limits) product() error {
	paths := load.AllProductPaths(l.list[0].Data.Shops)
	return l.read("one product", targetProduct, paths, l.pgbench("  pgbench reading one product", "product"))
}

func (l *limits) page() error { return l.read("page of 100 products", targetPage, l.pagePaths()) }

// pagePaths is one page a store, which holds all its products.
func (l *limits) pagePaths() []string {
	var paths []string
	for _, s := range l.list[0].Data.Shops {
		paths = append(paths, fmt.Sprintf("/v1/products?limit=%d&store_id=%s", goods, s.ID))
	}
	return paths
}

// read compares reads with net/http that writes the same bytes.
func (l *limits) read(title string, t targets, paths []string, also ...*load.Series) error {
	return l.withBare(paths, func(bare *load.Series, least int) error {
		return l.compete(title, t, func(c *contender) func() (load.Measurement, error) {
			requests := load.RequestsOf(paths, c.Data.Key)
			return func() (load.Measurement, error) {
				return load.Run(c.Addr, l.Pace, load.Readers(requests, least), c.CPU), nil
			}
		}, append([]*load.Series{bare}, also...)...)
	})
}

// withBare serves what the first contender answers by net/http alone. The
// function also gets the length of the shortest answer.
func (l *limits) withBare(paths []string, f func(bare *load.Series, least int) error) (err error) {
	from := l.list[0]
	bodies := make(map[string][]byte, len(paths))
	least := 1 << 30
	err = load.Each(from.Addr, from.Data.Key, paths, func(i int, body []byte) error {
		bodies[paths[i]] = slices.Clone(body)
		least = min(least, len(body))
		return nil
	})
	if err != nil {
		return err
	}
	bare, err := l.StartBare(bodies)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	requests := load.RequestsOf(paths, from.Data.Key)
	return f(&load.Series{Name: "  bare net/http, the same bytes", Run: func() (load.Measurement, error) {
		return load.Run(bare.Addr, l.Pace, load.Readers(requests, least), bare.CPU), nil
	}}, least*9/10) // a quantity or a stamp may be shorter than it was
}

func (l *limits) reports(title, script string, hot bool, t targets) error {
	return l.compete(title, t, func(c *contender) func() (load.Measurement, error) {
		return func() (load.Measurement, error) {
			return load.Run(c.Addr, l.Pace, load.Reporters(c.Data.Shops, c.Data.Key, hot, false, c.book), c.CPU), nil
		}
	}, l.pgbench("  pgbench with the same transaction", script))
}
