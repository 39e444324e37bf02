package main

import (
	"fmt"
	"time"
)

const (
	targetDrain   = 5000 // webhooks per second
	targetPosting = 0.75 // of reports without webhooks
)

// recorded is the size of the full database.
func (b *bench) recorded() size {
	full := b.shop
	full.Receivers, full.Events, full.Parked = b.receivers, b.orders, b.orders/10
	return full
}

func openWebhooks(s *stage) {
	s.sink = openSink()
	empty, full := s.shop, s.recorded()
	empty.Receivers = s.receivers
	s.open("webhooks", empty, &full, "--allow-private-webhooks")
	for _, c := range s.list {
		c.data.exec(fmt.Sprintf("UPDATE partners SET callback_url = '%s', callback_secret = '%s' WHERE id <> '%s'", s.sink.url, webhookSecret, c.data.Partners[0].ID))
		if c.data.Size.Parked > 0 {
			c.data.exec("UPDATE partners SET callback_url = 'http://127.0.0.1:9/' WHERE id = '" + c.data.deadEndpoint() + "'") // no process listens there
		}
	}
}

// checkParked sees that the webhooks of the dead endpoint waited all the time.
func checkParked(s *stage) {
	for _, c := range s.list {
		if c.empty == nil {
			continue
		}
		n := c.data.number("SELECT count(*) FROM jobs WHERE state = 'parked' AND owner = '" + c.data.deadEndpoint() + "'")
		if n != c.data.Size.Parked {
			check(fmt.Errorf("%s: %d webhooks wait for the dead endpoint, want %d", c.name, n, c.data.Size.Parked))
		}
	}
}

// webhookDrain measures webhooks that waited before the service started, from the
// first arrival to the last.
func webhookDrain(s *stage) {
	attempts := 0
	s.compete(test{title: "drain", perSecond: targetDrain, full: targetFull, both: true, rounds: s.drains, run: func(c *contender) measurement {
		in, m := s.drain(c)
		attempts += in.total
		return m
	}})
	s.report.note("Drains: each event arrived, all %d attempts are on record, and one signature of %d was verified.", attempts, checked)
}

// drain makes webhooks that wait, starts a service and waits until it has sent them.
func (s *stage) drain(c *contender) (in intake, m measurement) {
	orders := s.makeWait(c)
	s.sink.begin(time.Time{}, time.Time{})
	began := time.Now()
	p := c.serve()
	stop := p.meter()
	s.sink.await(s.ctx, orders)
	stop()
	m.ServerCPU = p.cpu() / time.Duration(len(orders)) // with what came before the meter
	check(c.stop())
	in = s.sink.taken()
	m.Rate = in.rate()
	s.checkRecord(c, in, began)
	return in, in.blame(m)
}

const ofReceivers = "(SELECT id FROM partners WHERE callback_url LIKE '%/webhooks')"

// makeWait reports orders of the receivers while their endpoints are paused, and
// stops the service. It returns the orders.
func (s *stage) makeWait(c *contender) []string {
	check(c.stop())
	c.data.exec(`INSERT INTO endpoints (partner_id, failures, failing_since, held_until, paused_on, paused_for, previous_secret, previous_until)
		SELECT id, 0, 0, 0, 1, 'a drain', '', 0 FROM partners WHERE id IN ` + ofReceivers + ` ON CONFLICT (partner_id) DO UPDATE SET paused_on = 1`)
	p, noted := c.serve(), c.newBook()
	for _, r := range c.data.receivers() {
		finish(p.addr, limited(reports(c.data.shops, r.Key, false, noted).fully(), s.waiting/s.receivers))
	}
	check(c.stop())
	c.data.exec("DELETE FROM endpoints WHERE partner_id IN "+ofReceivers,
		"UPDATE jobs SET state = 'waiting', leased_by = '', leased_until = 0 WHERE kind = 'deliver_webhook' AND owner IN "+ofReceivers)
	return noted.ids()
}

// checkRecord checks that all that arrived since then is on record as delivered.
func (s *stage) checkRecord(c *contender, in intake, since time.Time) {
	attempts, delivered := 0, map[string]bool{}
	c.data.query(fmt.Sprintf("SELECT event_id, status FROM webhook_attempts WHERE at >= %d AND partner_id IN ", since.UnixMilli())+ofReceivers, func(scan func(...any)) {
		var event string
		var status int
		scan(&event, &status)
		attempts, delivered[event] = attempts+1, delivered[event] || status == 200
	})
	for _, event := range in.arrived {
		if !delivered[event] {
			check(fmt.Errorf("of event %s no delivery is on record", event))
		}
	}
	if attempts != in.total {
		check(fmt.Errorf("%d attempts are on record, but %d arrived", attempts, in.total))
	}
}

// webhookLatency measures the time from an event to its arrival. Full databases
// are compared with empty ones by the median.
func webhookLatency(s *stage) {
	const ordersPerSecond = 200
	s.compete(test{title: "event to arrival", within: []time.Duration{10 * time.Millisecond, 100 * time.Millisecond}, by: promptness,
		full: targetFull, both: true, run: func(c *contender) measurement {
			return s.reportAndAwait(c, s.pace, ordersPerSecond).arrivals
		}})
}

// posted is the result of reports by a partner that gets webhooks.
type posted struct {
	reports, arrivals measurement
	after             time.Duration // from the last report until all webhooks had arrived
}

// reportAndAwait reports orders of a receiver, so many per second or 0 for as
// many as can be, and waits for the webhooks of all that were acknowledged. A run
// without an arrival in its time is repeated with four times the length.
func (s *stage) reportAndAwait(c *contender, length pace, perSecond int) (r posted) {
	p, noted := c.serve(), c.newBook()
	callers := reports(c.data.shops, c.data.receivers()[0].Key, false, noted).fully()
	if perSecond > 0 {
		callers = steadily(callers, perSecond)
	}
	from := time.Now().Add(length.Warm)
	s.sink.begin(from, from.Add(length.Measured))
	r.reports = run(p.addr, length, callers, p.meter)
	ended := time.Now()
	s.sink.await(s.ctx, noted.ids())
	in := s.sink.taken()
	if (in.during == 0 || len(in.times.latencies) == 0) && length.Measured < 5*time.Second {
		length.Measured *= 4
		return s.reportAndAwait(c, length, perSecond)
	}
	r.after = max(0, in.last.Sub(ended))
	r.arrivals = in.blame(in.times.measurement(length.Measured, 0))
	r.arrivals.Rate = float64(in.during) / length.Measured.Seconds()
	r.arrivals.ServerCPU = r.reports.ServerCPU
	if perSecond > 0 { // else the errors of reports are in their own line
		r.arrivals.Errors += r.reports.Errors
		r.arrivals.FirstError += r.reports.FirstError
	}
	return r
}

// webhookReports compares reports with and without webhooks. One service takes
// them in many short turns: the speed of a machine changes from one second to
// the next by more than webhooks cost.
func webhookReports(s *stage) {
	length := newPace(s.pace.Measured.Seconds()/4, s.reportTurns*s.pace.Rounds)
	for _, c := range s.list {
		if c.empty == nil {
			s.reportsPosting(c, length)
		}
	}
}

func (s *stage) reportsPosting(c *contender, length pace) {
	var longest time.Duration
	delivered := &side{name: "  deliveries beside them, " + c.name}
	posts := c.side("reports with webhooks", func(c *contender) measurement {
		r := s.reportAndAwait(c, length, 0)
		longest = max(longest, r.after)
		delivered.rounds = append(delivered.rounds, r.arrivals)
		return r.reports
	})
	alone := c.side("  reports without", func(c *contender) measurement {
		p := c.serve()
		return run(p.addr, length, c.reporters(), p.meter)
	})
	alternate(length, alone, posts)
	s.report.compare(posts, alone, targetPosting, "")
	s.report.compare(delivered, posts, 0, "")
	s.report.show(alone)
	s.report.note("On %s all webhooks had arrived %v after the last report, at most.", c.name, longest.Round(time.Millisecond))
}
