package command

import (
	"cmp"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// cancelDelivery records that nothing will be delivered, and adds the job that cancels at
// the provider if a courier may be on the way. answers names the stored reply that the
// job completes; it may be empty. The order may have no delivery yet.
func (oc *orderChange) cancelDelivery(answers commerce.ReplyKey) {
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
		d.CancelAnswers = answers
		oc.enqueue(commerce.JobCancelDelivery, oc.order.ID, answers.Key != "")
	}
	d.UpdatedOn = oc.now
}

// RecordDeliveryCancelled records the outcome of an attempt of the job that cancels a
// delivery at its provider. It decides the answer of the call that cancelled.
type RecordDeliveryCancelled struct {
	RecordJob
	Facts   OrderFacts
	Answers commerce.ReplyKey // the delivery's CancelAnswers
	// Cancelled says that the provider cancelled; TooLate is its reason why it did not.
	// Neither is set if there was no delivery to cancel.
	Cancelled  bool
	TooLate    string
	ProviderID string // of the delivery, if the provider reports it
}

// Needs names the order, its partner and delivery, the job and the reply.
func (c RecordDeliveryCancelled) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = c.RecordJob.Needs().Jobs
	c.Facts.needAttention(&n, commerce.AttentionNotCancelled, commerce.AttentionGoodsWithCourier, commerce.AttentionProviderRefusesUs)
	if c.Answers.Key != "" {
		n.OpenReplies = []commerce.ReplyKey{c.Answers}
	}
	return n
}

// Decide raises attention if the courier could not be stopped. The order stays cancelled.
func (c RecordDeliveryCancelled) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	order, delivery, err := c.Facts.loadDelivery(rows)
	if err != nil {
		return c.Job, commerce.Changes{}, errors.Join(err, errors.New("the delivery of the job is not there"))
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil {
		return job, changes, err
	}
	oc := begin(order, rows, now, c.by(), delivery.TraceID)
	oc.changes = changes
	oc.useDelivery(delivery)
	d := oc.delivery
	oc.addGivenUpNote(c.RecordJob)
	oc.recordCredentials(c.Failed, CourierRefusesUs)
	switch {
	case c.Failed != nil && !job.Over():
		return job, oc.finish(), nil
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
		d.ProviderID = cmp.Or(d.ProviderID, c.ProviderID) // without it a late callback would seem to be about another delivery
	}
	c.answer(rows, oc)
	return job, oc.finish(), nil
}

// answer puts the outcome into the stored reply, and closes it unless it also waits for a
// refund.
func (c RecordDeliveryCancelled) answer(rows *commerce.Rows, oc *orderChange) {
	if c.Answers.Key == "" {
		return
	}
	reply, ok := rows.Replies.Get(c.Answers)
	if !ok {
		return
	}
	if answer, err := wire.ParseCancelAnswer(reply.Body); err == nil {
		answer.DeliveryCancelled = c.Cancelled
		reply.Body = wire.Encode(answer)
	}
	if reply.Job == c.Job.Key() {
		reply.Job = commerce.JobKey{}
	}
	oc.changes.Replies = append(oc.changes.Replies, reply)
}
