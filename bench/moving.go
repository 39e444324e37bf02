package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	targetSteps = 0.9 // of those that are due

	// A courier takes twelve steps: these are of the middle.
	stepsBefore = 1
	stepsAlone  = 2 // without other load
	stepsBeside = 3
)

// movingCouriers measures many couriers that move at the same time, and reads and
// reports beside them.
func movingCouriers(s *stage) {
	for _, c := range s.list {
		if c.newer == nil {
			s.moveOn(c)
		}
	}
	s.report.note("Courier steps: %d couriers, each a step every %v; one run. The percentiles say how late steps were done. Checked: every order is "+
		"delivered in the end, and each change of a status stands once on its timeline.", s.moving, s.step)
}

// moveOn is one run: couriers do not start over.
func (s *stage) moveOn(c *contender) {
	length := pace{Measured: stepsBeside * s.step}
	one := func(title string, m measurement) *side {
		return &side{name: title + ", " + c.name, rounds: []measurement{m}}
	}
	p := c.serve(standStill...)
	orders := c.deliver(p, s.moving)
	readsAlone, reportsAlone := c.evenly(p, length, s.besideReads, s.besideReports)
	check(c.stop())
	m := watchMoves(c.data, s.step, s.moving)
	p = c.serve("--sandbox-step", s.step.String())
	wait := background(func() { m.watch(s.ctx) })
	time.Sleep(time.Until(m.begin.Add(stepsBefore * s.step)))
	from, stop := time.Now(), p.meter()
	time.Sleep(stepsAlone * s.step)
	middle, used := time.Now(), stop()
	reads, reports := c.evenly(p, length, s.besideReads, s.besideReports)
	until := time.Now()
	wait()
	c.checkDelivered(p, orders)
	due := targetSteps * float64(s.moving) / s.step.Seconds()
	s.report.atLeast(one("courier steps", m.between(from, middle, used)), due)
	s.report.atLeast(one("courier steps beside reads and reports", m.between(middle, until, 0)), due)
	without, reported := one("  one product, no courier moves", readsAlone), one("  reports, no courier moves", reportsAlone)
	s.report.slower(one("one product beside couriers", reads), without, 0)
	s.report.slower(one("reports beside couriers", reports), reported, 0)
	s.report.show(without, reported)
}

// moves are the steps of the sandbox's couriers, seen from outside the service:
// a step that is done puts its job off by the time between two steps, so the job
// says when it was done, and how late.
type moves struct {
	db    *sql.DB
	step  time.Duration
	begin time.Time        // of the first step
	due   map[string]int64 // by job, in Unix ms
	seen  []move
}

// move is one step.
type move struct{ done, late int64 } // Unix ms, ms

// watchMoves makes all couriers begin soon, evenly over the time of one step,
// while no service runs.
func watchMoves(d *dataset, step time.Duration, couriers int) *moves {
	const start = 2 * time.Second // of a service
	m := &moves{db: d.open(), step: step, begin: time.Now().Add(start)}
	d.exec(fmt.Sprintf(`UPDATE jobs SET run_at = %d + %d * place / %d
		FROM (SELECT id AS job, row_number() OVER (ORDER BY id) AS place FROM jobs WHERE kind = 'sandbox_step') AS list WHERE job = id`,
		m.begin.UnixMilli(), step.Milliseconds(), couriers))
	if m.due = m.jobs(); len(m.due) != couriers {
		check(fmt.Errorf("%d couriers are to move, not %d", len(m.due), couriers))
	}
	return m
}

// jobs are the steps that are to be done, and when.
func (m *moves) jobs() map[string]int64 {
	due := map[string]int64{}
	query(m.db, "SELECT id, run_at FROM jobs WHERE kind = 'sandbox_step' AND state = 'waiting'", func(scan func(...any)) {
		var id string
		var at int64
		scan(&id, &at)
		due[id] = at
	})
	return due
}

// watch notes the steps until the last of them is done, which is the only one of
// each courier that it does not see. It looks several times in the time of a
// step, so that it misses no other.
func (m *moves) watch(ctx context.Context) {
	for ; ; time.Sleep(m.step / 4) {
		check(ctx.Err())
		due := m.jobs()
		if len(due) == 0 {
			check(m.db.Close())
			return
		}
		for id, at := range due {
			if was := m.due[id]; at != was {
				done := at - m.step.Milliseconds()
				m.seen = append(m.seen, move{done, done - was})
				m.due[id] = at
			}
		}
	}
}

// between measures the steps of some time: how many, and how late.
func (m *moves) between(from, until time.Time, used time.Duration) measurement {
	var t tally
	for _, move := range m.seen {
		if move.done >= from.UnixMilli() && move.done < until.UnixMilli() {
			t.latencies = append(t.latencies, time.Duration(move.late)*time.Millisecond)
		}
	}
	return t.measurement(until.Sub(from), used)
}
