package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"purveyor/bench/internal/load"
)

const (
	targetDrain   = 0.4  // of a bare client that posts the same
	targetReports = 0.85 // of reports of which nobody is told
	targetFull    = 0.85 // of the empty database

	mostP50 = 10 * time.Millisecond
	mostP99 = 100 * time.Millisecond

	ordersPerSecond = 200 // while times are taken
)

// run measures the wanted cases. On full databases the first two are measured
// whether or not they are wanted on empty ones.
func (w *webhooks) run(cases []string) error {
	wanted := func(name string) bool { return slices.Contains(cases, name) }
	title := "Webhooks: " + w.empty.String()
	if wanted("record") {
		title += fmt.Sprintf("; full: and %s", w.full.Record())
	}
	w.Report.Section(title)
	w.Report.Note("Both engines are durable; PostgreSQL runs with `%s`. The sink is in the process of the load generator; "+
		"the server CPU of a webhook or report is that of the service alone, without PostgreSQL's.", strings.Join(load.Settings, " "))
	for _, c := range []struct {
		wanted bool
		run    func() error
	}{
		{wanted("reports"), w.reports}, // before others leave PostgreSQL something to clean up
		{wanted("drain") || wanted("record"), w.drain},
		{wanted("latency") || wanted("record"), w.latency},
	} {
		if !c.wanted {
			continue
		}
		if err := c.run(); err != nil {
			return err
		}
	}
	return w.checkParked()
}

// checkParked sees that what a dead endpoint holds was there all the time.
func (w *webhooks) checkParked() error {
	for _, c := range w.list {
		if c.empty == nil {
			continue
		}
		n, err := load.Parked(w.Ctx, c.data.URL)
		if err != nil {
			return err
		}
		if n != w.full.Parked {
			return fmt.Errorf("%s: %d webhooks wait for the dead endpoint, want %d", c.name, n, w.full.Parked)
		}
	}
	return nil
}

// turns are a series for each contender.
func (w *webhooks) turns(title string, run func(*contender) (load.Measurement, error)) (own map[*contender]*load.Series, list []*load.Series) {
	own = map[*contender]*load.Series{}
	for _, c := range w.list {
		own[c] = &load.Series{Name: title + ", " + c.name, Run: func() (load.Measurement, error) { return run(c) }}
		list = append(list, own[c])
	}
	return own, list
}

func (w *webhooks) drain() error {
	var d drains
	own, list := w.turns("drain", func(c *contender) (load.Measurement, error) { return w.drainOnce(c, &d) })
	bare := &load.Series{Name: "  bare net/http client, the same posts", Run: func() (load.Measurement, error) {
		w.sink.begin(0, time.Time{}, time.Time{})
		if err := w.start(d.posts, posting{Connections: d.connections}); err != nil {
			return load.Measurement{}, err
		}
		in := w.sink.taken()
		return in.blame(load.Measurement{Rate: in.rate()}), nil
	}}
	pace := w.Pace
	pace.Rounds *= 3 // a drain takes half a second
	if err := load.Alternate(pace, append(list, bare)...); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	for _, c := range w.list {
		w.Report.Compare(own[c], bare, targetDrain, "")
		if c.empty != nil {
			w.Report.Compare(own[c], own[c.empty], targetFull, "drain, "+c.name+" against empty")
		}
	}
	w.Report.Show(bare)
	w.Report.Note("Drains: %d webhooks of %d partners that waited before the service started, from the first arrival to the last. "+
		"The sink saw at most %d connections at a time, and so many has the bare client. Checked: each event arrived, all %d attempts "+
		"are on record, and one signature of %d was verified.", w.waiting, load.Receivers, d.connections, d.attempts, checked)
	return nil
}

func (w *webhooks) latency() error {
	own, list := w.turns("event to arrival", func(c *contender) (load.Measurement, error) {
		return w.with(c, "latency", func(s *load.Service) (load.Measurement, error) {
			r, err := w.report(s, w.Pace, c.receivers[0].Key, ordersPerSecond)
			return r.arrivals, err
		})
	})
	if err := load.Alternate(w.Pace, list...); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	for _, c := range w.list {
		w.Report.Within(own[c], mostP50, mostP99)
		if c.empty != nil {
			w.Report.ComparePromptness(own[c], own[c.empty], targetFull, "event to arrival, "+c.name+" against empty, p50")
		}
	}
	w.Report.Note("Event to arrival: %d orders/s are reported at an even pace, and the time is from the event's timestamp, which is "+
		"that of its batch in whole milliseconds, to the arrival of its body at the sink.", ordersPerSecond)
	return nil
}

func (w *webhooks) reports() error {
	for _, c := range w.list {
		if c.empty != nil {
			continue
		}
		if err := w.reportsOn(c); err != nil {
			return fmt.Errorf("reports: %s: %w", c.name, err)
		}
	}
	w.Report.Note("Reports: %d connections of a partner without a callback URL, and of one that is told of each order. "+
		"One service takes them in turns, each a quarter as long as the other runs, of which there are %d times as many. "+
		"The bare client posts as many a second as the service has just delivered, to the same sink, and nobody is told of those orders: "+
		"what webhooks cost the machine in any case.", load.Callers, w.reportTurns)
	return nil
}

// reportsOn compares reports with and without webhooks, which one service takes
// in many short turns: the speed of a machine changes from one second to the
// next by more than webhooks cost. For profiles each has a service of its own.
func (w *webhooks) reportsOn(c *contender) error {
	if w.Profiles != "" {
		return w.reportsWith(c, func(title string, f reporting) (load.Measurement, error) { return w.with(c, title, f) })
	}
	_, err := w.with(c, "reports", func(s *load.Service) (load.Measurement, error) {
		return load.Measurement{}, w.reportsWith(c, func(_ string, f reporting) (load.Measurement, error) { return f(s) })
	})
	return err
}

type reporting = func(*load.Service) (load.Measurement, error)

func (w *webhooks) reportsWith(c *contender, with func(title string, f reporting) (load.Measurement, error)) error {
	var last reported
	var longest time.Duration
	pace := load.NewPace(w.Pace.Measured.Seconds()/4, w.reportTurns*w.Pace.Rounds)
	silent := func(s *load.Service) load.Measurement {
		return load.Run(s.Addr, pace, load.Reporters(c.data.Shops, c.data.Key, false, false, w.book()), s.CPU)
	}
	delivered := &load.Series{Name: "  deliveries beside them, " + c.name}
	told := &load.Series{Name: "reports with webhooks, " + c.name, Run: func() (load.Measurement, error) {
		return with("reports with webhooks", func(s *load.Service) (load.Measurement, error) {
			var err error
			last, err = w.report(s, pace, c.receivers[0].Key, 0)
			longest = max(longest, last.after)
			delivered.Rounds = append(delivered.Rounds, last.arrivals)
			return last.reports, err
		})
	}}
	alone := &load.Series{Name: "  reports without, " + c.name, Run: func() (load.Measurement, error) {
		return with("reports without", func(s *load.Service) (load.Measurement, error) { return silent(s), nil })
	}}
	beside := &load.Series{Name: "  reports without, beside a bare client that posts, " + c.name, Run: func() (load.Measurement, error) {
		return with("reports beside a bare client", func(s *load.Service) (load.Measurement, error) {
			w.sink.begin(0, time.Time{}, time.Time{})
			posted := make(chan error)
			go func() {
				posted <- w.start(last.posts, posting{Connections: load.Callers, Rate: last.arrivals.Rate, For: pace.Warm + pace.Measured})
			}()
			m := silent(s)
			return m, <-posted
		})
	}}
	if err := load.Alternate(pace, alone, told, beside); err != nil {
		return err
	}
	w.Report.Compare(told, alone, targetReports, "")
	w.Report.Compare(delivered, told, 0, "")
	w.Report.Compare(told, beside, 0, "reports with webhooks against those beside a bare client, "+c.name)
	w.Report.Show(alone, beside)
	w.Report.Note("On %s all webhooks had arrived %v after the last report, at most.", c.name, longest.Round(time.Millisecond))
	return nil
}
