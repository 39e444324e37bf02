package command

import "purveyor/internal/commerce"

// AskCourier stores the provider that is about to be asked to create a delivery. If the
// process dies after the provider has created it, the next attempt asks the same provider
// first, and finds the delivery.
type AskCourier struct {
	Facts    OrderFacts
	Job      commerce.Job // as it was run
	Attempt  int64
	Provider string
}

// Needs names the order, its partner and delivery, and the job.
func (c AskCourier) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = []commerce.JobKey{c.Job.Key()}
	return n
}

// Decide refuses when the order is over, the delivery was made, or the lease of this
// attempt has ended, because a later attempt may be asking another provider. Each request
// to a provider moves UpdatedOn, from which the time to wait for its effect is counted.
func (c AskCourier) Decide(rows *commerce.Rows, now commerce.Millis) (Asked, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, commerce.Actor{}, theDelivery)
	if err != nil {
		return Asked{}, commerce.Changes{}, err
	}
	d := oc.delivery
	job, _ := rows.Jobs.Get(c.Job.Key())
	if !job.SameLease(c.Job) || oc.order.Stopped() || d.State != commerce.DeliveryDispatching || d.Attempt != c.Attempt {
		return Asked{}, commerce.Changes{}, nil
	}
	if d.Provider != c.Provider {
		d.Provider, d.AskedOn = c.Provider, now
	}
	d.UpdatedOn = now
	return Asked{true, d.AskedOn}, oc.finish(), nil
}

// Asked says whether the provider may be asked, and when it was first asked.
type Asked struct {
	Go      bool
	AskedOn commerce.Millis
}
