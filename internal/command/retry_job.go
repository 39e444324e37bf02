package command

import "purveyor/internal/commerce"

// RetryJob makes a waiting, held or dead job due at once, at the request of an operator. The
// attempt does not use up the schedule of retries.
type RetryJob struct {
	Job   commerce.JobKey
	Kind  commerce.JobKind // of the job
	Facts *OrderFacts      // of the order that the job is about; nil: it is about none
	// Attempt is the one that a dispatch is about.
	Attempt int64
}

// Needs names the job, and the order with its partner and delivery.
func (c RetryJob) Needs() commerce.Needs {
	n := commerce.Needs{}
	if c.Facts != nil {
		n = c.Facts.needs()
		n.Deliveries = c.Facts.delivery()
	}
	n.Jobs = []commerce.JobKey{c.Job}
	return n
}

// Decide returns the job as it waits. Refusals: 409 for a job that is done, parked,
// given up or being tried, and for one that its order has no use for any more.
func (c RetryJob) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Job, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job)
	refuse := func(why string) (commerce.Job, commerce.Changes, error) {
		return job, commerce.Changes{}, commerce.Conflict("job_not_retried", "%s", why)
	}
	switch {
	case !there:
		return refuse("the job is done")
	case job.Leased(now):
		return refuse("the job is being tried right now")
	case job.State == commerce.JobParked:
		return refuse("the job is parked with its endpoint; `purveyor webhook resume` tries that at once")
	case job.State == commerce.JobGivenUp:
		return refuse("the job was given up, and its outcome is on record")
	}
	changes := commerce.Changes{}
	if job.State == commerce.JobDead && c.Facts != nil {
		why, err := c.reopen(rows, now, &changes)
		if err != nil {
			return job, commerce.Changes{}, err
		}
		if why != "" {
			return refuse(why)
		}
	}
	if job.State == commerce.JobDead || job.RunAt > now {
		job.Probes++
	}
	job.State, job.RunAt = commerce.JobWaiting, now
	job = job.LeasedTo("", 0)
	changes.Jobs = []commerce.Job{job}
	return job, changes, nil
}

// reopen undoes the end that the last failed attempt of a dead job recorded, or returns
// the reason why the order has no use for another attempt.
func (c RetryJob) reopen(rows *commerce.Rows, now commerce.Millis, changes *commerce.Changes) (why string, err error) {
	oc, err := c.Facts.begin(rows, now, commerce.Actor{})
	if err != nil {
		return "", err
	}
	switch order := oc.order; {
	case c.Kind == commerce.JobOpenSession && order.Status != commerce.PendingPayment:
		return "the order is " + string(order.Status) + ", so nothing is to be paid for it; the partner may make a new one", nil
	case c.Kind != commerce.JobDispatch:
		return "", nil
	case order.Stopped():
		return "the order is " + string(order.Status) + ", so no courier is to be looked for", nil
	}
	delivery, err := find(&rows.Deliveries, c.Facts.Key, "delivery")
	switch {
	case err != nil:
		return "", err
	case delivery.Attempt != c.Attempt || delivery.ProviderID != "":
		return "the order has another courier by now", nil
	case delivery.State == commerce.DeliveryOver:
		delivery.State, delivery.UpdatedOn = commerce.DeliveryDispatching, now
		delivery.Changes++
		changes.Deliveries = []commerce.Delivery{*delivery}
	}
	return "", nil
}
