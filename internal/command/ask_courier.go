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
	order, delivery, err := loadWith(c.Facts, rows, &rows.Deliveries, "delivery")
	if err != nil {
		return Asked{}, commerce.Changes{}, err
	}
	job, there := rows.Jobs.Get(c.Job.Key())
	if !there || !job.SameLease(c.Job) || order.Stopped() || delivery.State != commerce.DeliveryDispatching || delivery.Attempt != c.Attempt {
		return Asked{}, commerce.Changes{}, nil
	}
	if delivery.Provider != c.Provider {
		delivery.Provider, delivery.AskedOn = c.Provider, now
	}
	delivery.UpdatedOn = now
	return Asked{true, delivery.AskedOn}, commerce.Changes{Deliveries: []commerce.Delivery{delivery}}, nil
}

// Asked says whether the provider may be asked, and when it was first asked.
type Asked struct {
	Go      bool
	AskedOn commerce.Millis
}
