package command

import (
	"cmp"

	"purveyor/internal/commerce"
)

// cancelDelivery records that nothing will be delivered, and adds the job that cancels at
// the provider if a courier may be on the way. awaited: the answer of the command says
// whether that job came in time. The order may have no delivery yet.
func (oc *orderChange) cancelDelivery(awaited bool) {
	stored, ok := oc.rows.Deliveries.Get(oc.order.Key())
	d := &stored
	oc.delivery = d
	oc.addDeliveryTimeline(commerce.TimelineDeliveryCancelled, "")
	oc.addDeliveryWebhook(commerce.WebhookDeliveryCancelled)
	switch {
	case !ok:
		oc.delivery = nil
		return
	case d.State == commerce.DeliveryOver && !d.Unsure():
		return
	case d.Provider == "": // no provider was asked, and none will be
		d.State = commerce.DeliveryOver
	default:
		oc.enqueue(commerce.JobCancelDelivery, oc.order.ID, awaited)
	}
	d.UpdatedOn = oc.now // also if nothing else changes: the courier may be called off from now on
}

// RecordDeliveryCancelled records the outcome of an attempt of the job that cancels a
// delivery at its provider. The answer of the call that cancelled the order shows it.
type RecordDeliveryCancelled struct {
	RecordJob
	Facts OrderFacts
	// Attempt is the one whose courier was called off; 0: the present one.
	Attempt int64
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
	oc, err := c.begin(c.Facts, rows, now, theDelivery)
	if oc == nil {
		return Recorded{Job: c.Job}, commerce.Changes{}, err
	}
	d := oc.delivery
	oc.by.TraceID = d.TraceID
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	oc.recordCredentials(c.Failed, CourierRefusesUs)
	switch {
	case c.Failed != nil && !oc.job.Over():
		return oc.recorded(commerce.Undecided)
	case !oc.order.Stopped():
		c.replaceCourier(oc)
	case c.Failed != nil:
		oc.raiseAttention(commerce.AttentionNotCancelled, "The courier could not be cancelled, and may still come")
	case c.TooLate != "":
		oc.raiseAttention(commerce.AttentionGoodsWithCourier, "The goods are with the courier, who cannot be cancelled any more: "+c.TooLate)
	default:
		if d.State != commerce.DeliveryOver {
			d.State = commerce.DeliveryOver
			d.Changes++
		}
		if c.Cancelled && !d.Status.Over() {
			if d.Status.HasGoods() { // the courier gave up on the way, before our call
				oc.raiseGoodsGone(leftWithGoods)
			}
			d.Status = commerce.CourierCancelled
			clearArrival(d)
		}
		d.CalledOff = c.Cancelled
		d.ProviderID = cmp.Or(d.ProviderID, c.ProviderID) // without it a late callback would seem to be about another delivery
	}
	if c.RefundID != "" {
		oc.refund, _ = find(&rows.Refunds, c.Facts.refundKey(c.RefundID), "refund")
	}
	return oc.recorded(commerce.Amended)
}

// replaceCourier looks for another courier once the one that staff do not want any more is
// called off. If the courier's own report was faster, the next attempt has begun already.
func (c RecordDeliveryCancelled) replaceCourier(oc *orderChange) {
	d := oc.delivery
	if !d.Replacing || c.Attempt != 0 && c.Attempt != d.Attempt {
		return
	}
	d.Replacing = false
	switch {
	case d.State == commerce.DeliveryOver || d.Status.HasGoods() || !oc.order.StillToFulfil(): // the courier was faster
		return
	case c.Failed != nil:
		oc.addNote("courier_not_replaced", "The courier could not be called off, and may still come")
		return
	case c.TooLate != "":
		oc.addNote("courier_not_replaced", commerce.CleanText("The courier has the goods already: "+c.TooLate, commerce.MaxNote))
		return
	case !c.Cancelled && c.ProviderID != "":
		oc.addNote("courier_not_replaced", "The provider did not call the courier off")
		return
	}
	d.Status, d.CalledOff = commerce.CourierCancelled, true
	clearArrival(d)
	oc.addDeliveryTimeline(commerce.TimelineDeliveryCancelled, "Another courier is asked for")
	oc.addDeliveryWebhook(commerce.WebhookDeliveryCancelled)
	oc.startAttempt()
}
