package command

import "purveyor/internal/commerce"

// RecordCheck records the answer of a provider that was asked about a delivery after a
// silence, and schedules the next check.
type RecordCheck struct {
	Job    commerce.Job
	Record RecordCourierUpdate // without its Update
	Update *CourierUpdate      // nil: it was not asked, or did not answer
}

// Due reports whether the provider must be asked.
func (c RecordCheck) Due(d commerce.Delivery, now commerce.Millis) bool {
	return c.watched(d) && d.HeardOn.Add(commerce.CheckEvery) <= now
}

func (c RecordCheck) watched(d commerce.Delivery) bool {
	return d.State == commerce.DeliveryActive && d.Attempt == c.Record.Attempt
}

// Needs names the order, its partner and delivery, and the job.
func (c RecordCheck) Needs() commerce.Needs {
	if c.Update != nil {
		c.Record.Update = *c.Update
	}
	n := c.Record.Needs()
	n.Jobs = []commerce.JobKey{c.Job.Key()}
	return n
}

// Decide ends the job if the delivery is over.
func (c RecordCheck) Decide(rows *commerce.Rows, now commerce.Millis) (Tracked, commerce.Changes, error) {
	job, _ := rows.Jobs.Get(c.Job.Key())
	if !job.SameLease(c.Job) {
		return Tracked{}, commerce.Changes{}, nil // the lease of this try has ended
	}
	oc, err := c.Record.Facts.begin(rows, now, commerce.SystemActor(""), theDelivery)
	if err != nil {
		return Tracked{}, commerce.Changes{}, err
	}
	tracked, changes := Tracked{Order: oc.order, Delivery: *oc.delivery}, commerce.Changes{}
	if c.Update != nil {
		c.Record.Update = *c.Update
		if tracked, changes, err = c.Record.Decide(rows, now); err != nil {
			return Tracked{}, commerce.Changes{}, err
		}
	}
	if !c.watched(tracked.Delivery) {
		changes.DoneJobs = append(changes.DoneJobs, c.Job.Key())
		return tracked, changes, nil
	}
	job = job.LeasedTo("", 0)
	job.RunAt = max(tracked.Delivery.HeardOn, now.Add(-commerce.CheckEvery/2)).Add(commerce.CheckEvery)
	changes.Jobs = append(changes.Jobs, job)
	return tracked, changes, nil
}
