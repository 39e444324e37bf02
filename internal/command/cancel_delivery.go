package command

import (
	"cmp"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// cancelDelivery tells that nothing will be delivered, and has the courier sent
// home if one may be on the way. answers is the reply that tells of it, if one
// does.
func (s *story) cancelDelivery(rows *commerce.Rows, answers commerce.ReplyKey) {
	delivery, ok := rows.Deliveries.Get(s.order.Key())
	s.tellOf(commerce.TimelineDeliveryCancelled, &delivery, "")
	s.notify(commerce.WebhookDeliveryCancelled, wire.DeliveryEventData(s.order, delivery))
	switch {
	case !ok || delivery.State == commerce.DeliveryOver && !delivery.Unsure():
		return
	case delivery.State == commerce.DeliveryDispatching && delivery.Provider == "": // nobody was asked, and nobody will be
		delivery.State = commerce.DeliveryOver
	default:
		delivery.CancelAnswers = answers
		s.ask(commerce.JobCancelDelivery, s.order.ID, answers.Key != "")
	}
	delivery.UpdatedOn = s.now
	s.changes.Deliveries = append(s.changes.Deliveries, delivery)
}

// RecordDeliveryCancelled ends the job that sends a courier home, or the try
// that failed. With it the answer of the call that cancelled is decided.
type RecordDeliveryCancelled struct {
	RecordJob
	Facts   OrderFacts
	Answers commerce.ReplyKey // the delivery's CancelAnswers
	// Cancelled says that the courier stays at home; TooLate why not, in the
	// provider's words. Neither: there was no delivery to cancel.
	Cancelled  bool
	TooLate    string
	ProviderID string // of the delivery, as far as the provider tells
}

// Needs names the order, its partner and delivery, the job and the reply.
func (c RecordDeliveryCancelled) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = c.RecordJob.Needs().Jobs
	c.Facts.mayRaise(&n, commerce.AttentionNotCancelled, commerce.AttentionGoodsWithCourier, commerce.AttentionProviderRefusesUs)
	if c.Answers.Key != "" {
		n.OpenReplies = []commerce.ReplyKey{c.Answers}
	}
	return n
}

// Decide flags what could not be stopped; the order stays cancelled.
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
	s := begin(order, rows, now, delivery.TraceID)
	s.changes = changes
	s.givenUp(c.RecordJob)
	s.credentials(c.Failed, CourierRefusesUs)
	switch {
	case c.Failed != nil && !job.Over():
		return job, s.endIfMoved(order), nil
	case c.Failed != nil:
		s.flag(commerce.AttentionNotCancelled, "The courier could not be cancelled, and may still come")
	case c.TooLate != "":
		s.flag(commerce.AttentionGoodsWithCourier, "The goods are with the courier, who cannot be cancelled any more: "+c.TooLate)
	default:
		if delivery.State != commerce.DeliveryOver {
			delivery.State, delivery.UpdatedOn = commerce.DeliveryOver, now
			delivery.Changes++
		}
		if c.Cancelled && !delivery.Status.Over() {
			delivery.Status = commerce.CourierCancelled
			nobodyComes(&delivery)
		}
		delivery.ProviderID = cmp.Or(delivery.ProviderID, c.ProviderID) // else a late callback would seem to tell of another one
		s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	}
	c.answer(rows, s)
	return job, s.endIfMoved(order), nil
}

// answer says whether the courier was cancelled, and closes the reply if it
// waits for that alone. One that is awaiting a refund, or did, is amended.
func (c RecordDeliveryCancelled) answer(rows *commerce.Rows, s *story) {
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
	s.changes.Replies = append(s.changes.Replies, reply)
}
