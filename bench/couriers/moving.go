package main

import (
	"errors"
	"fmt"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/internal/commerce"
)

const (
	targetSteps = 0.9 // of those that are due

	besideReports = 200 // a second
	besideReads   = 1000

	// A courier takes twelve steps: these are of the middle.
	stepsBefore = 1
	stepsAlone  = 2 // while nothing else is asked for
	stepsBeside = 3
)

// moving are the series of one database.
type moving struct{ steps, stepsBeside, reads, reports, readsAlone, reportsAlone *load.Series }

// allMove measures one database after the other.
func (c *couriers) allMove(list []*load.Contender) error {
	for _, of := range list {
		if err := c.move(of); err != nil {
			return fmt.Errorf("%s: %w", of.Name, err)
		}
	}
	c.Report.Note("Courier steps: %d couriers of the sandbox move at once, each a step every %v (`--sandbox-step`), which is %.0f a second; one run. Its percentiles "+
		"say how late steps were done. A step is a job: the courier's object is read and moved on, its notice signed, posted within the process, "+
		"verified and recorded, and the job put off until the next step. Beside them %d products/s are read and %d orders/s reported at an even pace, against the same "+
		"while no courier moves. Checked: every order is delivered in the end, and each change of a status stands once on its timeline.",
		c.moving, c.step, float64(c.moving)/c.step.Seconds(), besideReads, besideReports)
	return nil
}

// move measures many couriers who move at once, and what is read and reported
// beside them. All of it is one run, as couriers do not begin anew.
func (c *couriers) move(of *load.Contender) error {
	single := func(title string) *load.Series { return &load.Series{Name: title + ", " + of.Name} }
	m := moving{single("courier steps"), single("courier steps beside reads and reports"), single("one product beside couriers"), single("reports beside couriers"),
		single("  one product, no courier moves"), single("  reports, no courier moves")}
	keys, err := c.await(of, m)
	if err != nil {
		return err
	}
	w, err := watchMoves(c.Ctx, of.Data.URL, c.step, c.moving)
	if err != nil {
		return err
	}
	_, err = c.With(of.Data, "moving "+of.Name, func(s *load.Service) (none load.Measurement, err error) {
		return none, errors.Join(c.follow(of, s, w, m), checkDelivered(of, s, keys))
	}, "--sandbox-step", c.step.String())
	if err = errors.Join(err, w.close()); err != nil {
		return err
	}
	due := float64(c.moving) / c.step.Seconds()
	c.Report.AtLeast(m.steps, targetSteps*due)
	c.Report.AtLeast(m.stepsBeside, targetSteps*due)
	c.Report.Slower(m.reads, m.readsAlone, 0)
	c.Report.Slower(m.reports, m.reportsAlone, 0)
	c.Report.Show(m.readsAlone, m.reportsAlone)
	return nil
}

// await makes the deliveries, and measures while no courier moves.
func (c *couriers) await(of *load.Contender, m moving) (keys []commerce.OrderKey, err error) {
	_, err = c.With(of.Data, "waiting "+of.Name, func(s *load.Service) (none load.Measurement, err error) {
		if keys, err = c.deliver(of, s, c.moving); err == nil {
			c.beside(of, s, m.readsAlone, m.reportsAlone)
		}
		return none, err
	}, still...)
	return keys, err
}

// follow measures the couriers from their second step on, and waits until the
// last of them has arrived.
func (c *couriers) follow(of *load.Contender, s *load.Service, w *moves, m moving) error {
	ended := make(chan error, 1)
	go func() { ended <- w.watch(c.Ctx) }()
	time.Sleep(time.Until(w.begin.Add(stepsBefore * c.step)))
	alone := during(s, func() { time.Sleep(stepsAlone * c.step) })
	together := during(s, func() { c.beside(of, s, m.reads, m.reports) })
	together.used = 0 // that is also for the others
	if err := <-ended; err != nil {
		return err
	}
	m.steps.Rounds = []load.Measurement{w.in(alone)}
	m.stepsBeside.Rounds = []load.Measurement{w.in(together)}
	return nil
}

// beside reads and reports at an even pace.
func (c *couriers) beside(of *load.Contender, s *load.Service, reads, reports *load.Series) {
	a, b := of.Evenly(s, load.Pace{Measured: stepsBeside * c.step}, besideReads, besideReports)
	reads.Rounds, reports.Rounds = []load.Measurement{a}, []load.Measurement{b}
}
