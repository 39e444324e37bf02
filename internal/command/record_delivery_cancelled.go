package command

import (
	"cmp"
	"errors"

	"purveyor/internal/commerce"
)

// cancelDelivery records that nothing will be delivered, and adds the job that cancels at
// the provider if a courier may be on the way. awaited: the answer of the command says
// whether that job came in time. The order may have no delivery yet.
func (oc *orderChange) cancelDelivery(awaited bool) {
	stored, ok := oc.rows.Deliveries.Get(oc.order.Key())
	oc.useDelivery(stored)
	d := oc.delivery
	oc.addDeliveryTimeline(commerce.TimelineDeliveryCancelled, "")
	oc.addDeliveryWebhook(commerce.WebhookDeliveryCancelled)
	switch {
	case !ok || d.State == commerce.DeliveryOver && !d.Unsure():
		return
	case d.State == commerce.DeliveryDispatching && d.Provider == "": // no provider was asked, and none will be
		d.State = commerce.DeliveryOver
	default:
		oc.enqueue(commerce.JobCancelDelivery, oc.order.ID, awaited)
	}
	d.UpdatedOn = oc.now
}

// RecordDeliveryCancelled records the outcome of an attempt of the job that cancels a
// delivery at its provider. The answer of the call that cancelled the order shows it.
type RecordDeliveryCancelled struct {
	RecordJob
	Facts OrderFacts
	// RefundID is the refund that the same call asked for, which its answer shows too;
	// empty: none.
	RefundID string
	// Cancelled says that the provider cancelled; TooLate is its reason why it did not.
	// Neither is set if there was no delivery to cancel.
	Cancelled  bool
	TooLate    string
	ProviderID string // of the delivery, if the provider reports it
}

// Needs names the order, its partner and delivery, the refund and the job.
func (c RecordDeliveryCancelled) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = c.RecordJob.Needs().Jobs
	c.Facts.needAttention(&n, commerce.AttentionNotCancelled, commerce.AttentionGoodsWithCourier, commerce.AttentionProviderRefusesUs)
	if c.RefundID != "" {
		n.Refunds = []commerce.RefundKey{c.Facts.refundKey(c.RefundID)}
	}
	return n
}

// Decide raises attention if the courier could not be stopped. The order stays cancelled.
func (c RecordDeliveryCancelled) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	if c.isGone(rows) {
		return Recorded{Job: c.Job}, commerce.Changes{}, nil // another worker was faster
	}
	order, delivery, err := loadWith(c.Facts, rows, &rows.Deliveries, "delivery")
	if err != nil {
		return Recorded{Job: c.Job}, commerce.Changes{}, errors.Join(err, errors.New("the delivery of the job does not exist"))
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil {
		return Recorded{Job: job}, changes, err
	}
	oc := begin(order, rows, now, c.by(delivery.TraceID))
	oc.changes = changes
	oc.useDelivery(delivery)
	d := oc.delivery
	oc.addGivenUpNote(c.RecordJob)
	oc.recordCredentials(c.Failed, CourierRefusesUs)
	switch {
	case c.Failed != nil && !job.Over():
		return Recorded{Job: job}, oc.finish(), nil
	case c.Failed != nil:
		oc.raiseAttention(commerce.AttentionNotCancelled, "The courier could not be cancelled, and may still come")
	case c.TooLate != "":
		oc.raiseAttention(commerce.AttentionGoodsWithCourier, "The goods are with the courier, who cannot be cancelled any more: "+c.TooLate)
	default:
		if d.State != commerce.DeliveryOver {
			d.State, d.UpdatedOn = commerce.DeliveryOver, now
			d.Changes++
		}
		if c.Cancelled && !d.Status.Over() {
			d.Status = commerce.CourierCancelled
			clearArrival(d)
		}
		d.CalledOff = c.Cancelled
		d.ProviderID = cmp.Or(d.ProviderID, c.ProviderID) // without it a late callback would seem to be about another delivery
	}
	recorded := Recorded{Job: job, Decision: commerce.Amended, Order: oc.order, Delivery: *d}
	if c.RefundID != "" {
		if refund, ok := rows.Refunds.Get(c.Facts.refundKey(c.RefundID)); ok {
			recorded.Refund = &refund
		}
	}
	return recorded, oc.finish(), nil
}
