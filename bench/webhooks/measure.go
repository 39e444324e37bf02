package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/internal/commerce"
)

// drains are what all drains together gave.
type drains struct {
	posts       []post // of the last one
	connections int    // at most
	attempts    int
}

// drainOnce has webhooks wait, and then a service send them.
func (w *webhooks) drainOnce(c *contender, d *drains) (m load.Measurement, err error) {
	const batch = 128 // many batches, whose jobs are spread as those of a service are
	waiting := make([][]string, len(c.receivers))
	for i, r := range c.receivers {
		if waiting[i], err = load.FillOrders(w.Ctx, c.data.URL, r.ID, c.data.Shops, w.waiting/len(c.receivers), batch); err != nil {
			return m, err
		}
	}
	w.sink.begin(w.waiting, time.Time{}, time.Time{})
	m, err = w.with(c, "drain", func(s *load.Service) (load.Measurement, error) {
		err := w.sink.await(w.Ctx, slices.Concat(waiting...))
		return load.Measurement{ServerCPU: s.CPU() / time.Duration(w.waiting)}, err
	})
	if err != nil {
		return m, err
	}
	in := w.sink.taken()
	m.Rate = in.rate()
	if d.posts, err = in.posts(); err != nil {
		return m, err
	}
	d.connections = max(d.connections, in.connections)
	recorded, err := w.recorded(c, waiting, in.arrived)
	if err == nil && recorded != in.total {
		err = fmt.Errorf("%d attempts are on record, but %d arrived", recorded, in.total)
	}
	d.attempts += recorded
	return in.blame(m), err
}

// recorded counts the attempts on record at the events of the receivers'
// orders, of which each must have one that was delivered.
func (w *webhooks) recorded(c *contender, orders [][]string, events map[string]string) (n int, err error) {
	engine, err := load.OpenEngine(c.data.URL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = engine.Close() }()
	counts, errs := make([]int, len(orders)), make([]error, len(orders))
	var group sync.WaitGroup
	for i, list := range orders {
		group.Go(func() {
			for _, order := range list {
				key := commerce.EventKey{PartnerID: c.receivers[i].ID, ID: events[order]}
				attempts, err := engine.Reader().Attempts(w.Ctx, key)
				if err == nil && !slices.ContainsFunc(attempts, commerce.WebhookAttempt.Delivered) {
					err = fmt.Errorf("of event %s no delivery is on record", key.ID)
				}
				if err != nil {
					errs[i] = err
					return
				}
				counts[i] += len(attempts)
			}
		})
	}
	group.Wait()
	for i := range orders {
		n += counts[i]
		if err == nil {
			err = errs[i]
		}
	}
	return n, err
}

func (w *webhooks) book() *load.Book { return load.NewBook(w.empty.Products) }

// reported is what came of reports and of their webhooks.
type reported struct {
	reports, arrivals load.Measurement
	posts             []post        // some of them
	after             time.Duration // the last report, until all had arrived
}

// keptPosts is how many webhooks a bare client sends again and again.
const keptPosts = 2000

// report reports orders of a receiver, so many a second or 0 for as many as can
// be, and waits for the webhooks of all that were acknowledged.
func (w *webhooks) report(s *load.Service, pace load.Pace, key string, perSecond int) (r reported, err error) {
	book := w.book()
	callers := load.Reporters(s.Data.Shops, key, false, false, book)
	if perSecond > 0 {
		callers = load.Steadily(callers, perSecond)
	}
	from := time.Now().Add(pace.Warm)
	w.sink.begin(keptPosts, from, from.Add(pace.Measured))
	r.reports = load.Run(s.Addr, pace, callers, s.CPU)
	ended := time.Now()
	if err := w.sink.await(w.Ctx, book.Orders); err != nil {
		return r, err
	}
	in := w.sink.taken()
	if r.posts, err = in.posts(); err != nil {
		return r, err
	}
	r.after = max(0, in.last.Sub(ended))
	r.arrivals = in.blame(in.times.Measurement(pace.Measured, 0))
	r.arrivals.Rate = float64(in.during) / pace.Measured.Seconds()
	r.arrivals.ServerCPU = r.reports.ServerCPU
	if r.reports.Errors > 0 && perSecond > 0 { // else they are in the reports' own line
		r.arrivals.Errors += r.reports.Errors
		r.arrivals.FirstError += " " + r.reports.FirstError
	}
	return r, nil
}
