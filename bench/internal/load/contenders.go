package load

import (
	"fmt"
	"strings"
	"time"
)

// Contender is a database. The service runs on it only while it is measured.
type Contender struct {
	Name string // of its engine
	Data *Dataset
}

// Both makes a database of this name and size on each engine, for this run
// alone.
func (b *Databases) Both(name string, s Size) (list []*Contender, err error) {
	for _, engine := range []string{SQLite, Postgres} {
		d, err := b.Named(engine, name, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", engine, err)
		}
		list = append(list, &Contender{engine, d})
	}
	return list, nil
}

// Series measures one thing on a database, each time beside a new service with
// these flags.
func (e *Env) Series(title string, c *Contender, run func(*Service) (Measurement, error), args ...string) *Series {
	name := title + ", " + c.Name
	return &Series{Name: name, Run: func() (Measurement, error) {
		return e.With(c.Data, strings.TrimSpace(title)+" "+c.Name, run, args...)
	}}
}

// leastProduct is how long the answer to a read of one product is at least.
const leastProduct = 200 // bytes

// ProductReaders read single products as fast as they can.
func (c *Contender) ProductReaders() []Caller {
	return Readers(RequestsOf(AllProductPaths(c.Data.Shops), c.Data.Key), leastProduct)
}

// OrderReporters report orders as fast as they can, of which nobody is told.
func (c *Contender) OrderReporters() []Caller {
	return Reporters(c.Data.Shops, c.Data.Key, false, false, NewBook(c.Data.Size.Products))
}

// Evenly reads products and reports orders at once, so many a second.
func (c *Contender) Evenly(s *Service, p Pace, perSecond, reportsPerSecond int) (reads, reports Measurement) {
	done := make(chan Measurement)
	go func() { done <- Run(s.Addr, p, Steadily(c.ProductReaders(), perSecond), UnknownCPU) }()
	reports = Run(s.Addr, p, Steadily(c.OrderReporters(), reportsPerSecond), UnknownCPU)
	return <-done, reports
}

// UnknownCPU is how much of the service's time goes into each of several things
// that it does at once.
func UnknownCPU() time.Duration { return 0 }
