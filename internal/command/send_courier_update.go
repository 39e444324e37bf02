package command

import "purveyor/internal/commerce"

// SendCourierUpdate publishes the newest update about a courier, and ends the job that does
// so.
type SendCourierUpdate struct {
	Facts OrderFacts
	Job   commerce.JobKey
}

// Needs names the order, its partner and delivery, and the job.
func (c SendCourierUpdate) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = []commerce.JobKey{c.Job}
	return n
}

// Decide publishes the update unless the delivery is over by now, which says more.
func (c SendCourierUpdate) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, commerce.SystemActor(""), theDelivery)
	if err != nil {
		return false, commerce.Changes{}, err
	}
	if _, there := rows.Jobs.Get(c.Job); !there {
		return false, commerce.Changes{}, nil // it was done; later updates have a job of their own, which is not due yet
	}
	d := oc.delivery
	oc.by.TraceID = d.TraceID
	oc.changes.DoneJobs = []commerce.JobKey{c.Job}
	published := d.Untold && d.State == commerce.DeliveryActive
	if published {
		oc.addCourierUpdate()
	}
	d.Untold = false
	return published, oc.finish(), nil
}
