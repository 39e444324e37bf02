package command

import (
	"cmp"
	"fmt"
	"time"

	"purveyor/internal/commerce"
)

// RecordJob records the outcome of one attempt of a job. A successful attempt ends it.
type RecordJob struct {
	Job    commerce.Job    // as it was run
	Failed error           // nil: the attempt succeeded
	Delays []time.Duration // between attempts
	Jitter float64         // in [0, 1), drawn by the caller
	// GivenUpBy is the person that gives up a dead or held job for the reason in Failed. The
	// command then records the same as after a last failed attempt. Zero: there was an
	// attempt.
	GivenUpBy commerce.Actor
}

// by returns the actor of the job's changes, with the trace id of the request that caused
// the job.
func (c RecordJob) by(traceID string) commerce.Actor {
	by := c.GivenUpBy
	by.Kind, by.TraceID = cmp.Or(by.Kind, commerce.ActorSystem), traceID
	return by
}

// isGivenUp reports whether a person gives up the job.
func (c RecordJob) isGivenUp() bool { return c.GivenUpBy.Kind != "" }

// Needs names the job.
func (c RecordJob) Needs() commerce.Needs {
	return commerce.Needs{Jobs: []commerce.JobKey{c.Job.Key()}}
}

// Decide returns the job as it goes on. If the lease of the attempt has ended, the job may
// be gone or leased again, and a failure changes nothing.
func (c RecordJob) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, _ := rows.Jobs.Get(c.Job.Key())
	switch {
	case c.isGivenUp() && job.State != commerce.JobDead && job.State != commerce.JobHeld:
		return c.Job, commerce.Changes{}, commerce.Conflict("job_not_dead", "the job is neither dead nor held; no other job can be given up")
	case c.isGivenUp():
		job = job.GivenUp(c.GivenUpBy.Name(), c.Failed.Error(), now)
		return job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
	case c.Failed == nil:
		return c.Job, commerce.Changes{DoneJobs: []commerce.JobKey{c.Job.Key()}}, nil
	case !job.SameLease(c.Job):
		return c.Job, commerce.Changes{}, nil
	}
	job = job.Failed(c.Failed, c.Delays, now, c.Jitter).LeasedTo("", 0)
	return job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
}

// isGone reports whether another worker has finished the job of this attempt. Decide
// refuses to give up a job that is gone.
func (c RecordJob) isGone(rows *commerce.Rows) bool {
	_, there := rows.Jobs.Get(c.Job.Key())
	return !there && !c.isGivenUp()
}

// begin starts the change that the outcome of the attempt makes to the order of the job. It
// returns nil if another worker has finished the job.
func (c RecordJob) begin(f OrderFacts, rows *commerce.Rows, now commerce.Millis, with ...func(*orderChange) error) (*orderChange, error) {
	if c.isGone(rows) {
		return nil, nil
	}
	return f.begin(rows, now, c.by(""), with...)
}

// record records the outcome of the attempt, with a note on the order's timeline if an
// operator gave up the job. It must come before other changes.
func (oc *orderChange) record(c RecordJob) (err error) {
	oc.job, oc.changes, err = c.Decide(oc.rows, oc.now)
	if c.isGivenUp() {
		oc.addNote("job_given_up", commerce.CleanText(fmt.Sprintf("%s gave up %s: %s", c.GivenUpBy.Name(), c.Job.Kind, c.Failed), commerce.MaxNote))
	}
	return err
}

// recorded returns the rows as they are now, and all changes.
func (oc *orderChange) recorded(d commerce.Decision) (Recorded, commerce.Changes, error) {
	changes := oc.finish()
	r := Recorded{Job: oc.job, Decision: d, Order: oc.order, Refund: oc.refund}
	if oc.payment != nil {
		r.Payment = *oc.payment
	}
	if oc.delivery != nil {
		r.Delivery = *oc.delivery
	}
	return r, changes, nil
}

// Recorded is the result of a command that records the outcome of a job which a caller may
// wait for.
type Recorded struct {
	Job      commerce.Job // as it goes on
	Decision commerce.Decision
	// The rows that the answer is made of, as they are now. Rows that the job is not about
	// are not set.
	Order    commerce.Order
	Payment  commerce.Payment
	Delivery commerce.Delivery
	Refund   *commerce.Refund
}

// Decides implements commit.Deciding.
func (r Recorded) Decides() commerce.Decision { return r.Decision }
