package command

import (
	"cmp"
	"errors"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// dispatch has a courier looked for. The answer of the command tells of the
// delivery once that is made; answers is where it is stored, if it is.
func (s *story) dispatch(answers commerce.ReplyKey) {
	s.changes.Deliveries = append(s.changes.Deliveries, commerce.Delivery{
		StoreID: s.order.StoreID, OrderID: s.order.ID, Attempt: 1, State: commerce.DeliveryDispatching,
		Answers: answers, TraceID: s.traceID, CreatedOn: s.now, UpdatedOn: s.now, Changes: 1,
	})
	s.ask(commerce.JobDispatch, commerce.DeliveryRef(s.order.ID, 1), true)
}

// stopped tells whether an order is not to be delivered any more.
func stopped(o commerce.Order) bool {
	return o.Status == commerce.Cancelled || o.Status == commerce.Refunded
}

// AskCourier stores which provider is about to be asked to make a delivery. If
// the process dies after the provider has made it, the next try asks that one
// first, and finds it.
type AskCourier struct {
	Facts    OrderFacts
	Job      commerce.Job // as it was run
	Attempt  int64
	Provider string
}

// Asked is whether the provider may be asked, and since when it was.
type Asked struct {
	Go      bool
	AskedOn int64 // Unix ms
}

// Needs names the order, its partner and delivery, and the job.
func (c AskCourier) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = []commerce.JobKey{c.Job.Key()}
	return n
}

// Decide says no once the order is over, the delivery was made, or the lease of
// this try has ended: a later try may be asking another provider. Each request
// to a provider moves UpdatedOn, from which settling time is counted.
func (c AskCourier) Decide(rows *commerce.Rows, now int64) (Asked, commerce.Changes, error) {
	order, delivery, err := c.Facts.loadDelivery(rows)
	if err != nil {
		return Asked{}, commerce.Changes{}, err
	}
	job, there := rows.Jobs.Get(c.Job.Key())
	if !there || !job.SameLease(c.Job) || stopped(order) || delivery.State != commerce.DeliveryDispatching || delivery.Attempt != c.Attempt {
		return Asked{}, commerce.Changes{}, nil
	}
	if delivery.Provider != c.Provider {
		delivery.Provider, delivery.AskedOn = c.Provider, now
	}
	delivery.UpdatedOn = now
	return Asked{true, delivery.AskedOn}, commerce.Changes{Deliveries: []commerce.Delivery{delivery}}, nil
}

// CourierRefusesUs is what partners are told of a courier provider's
// CredentialsError.
const CourierRefusesUs = "The courier provider does not accept this service's credentials; its operator has to set them right"

// RecordDelivery ends the job that looked for a courier, or the try that
// failed. With it the answer of the report is decided.
type RecordDelivery struct {
	RecordJob
	Facts    OrderFacts
	Answers  commerce.ReplyKey // of the delivery
	Attempt  int64
	Provider string
	Made     *CourierNews // the delivery; nil: there is none
	// Refused is why no provider takes it, for people. The job goes on trying, as
	// the next courier may.
	Refused string
	// Reach is how far the address is from the store, as the job found it.
	Reach commerce.Reach
	// Told is what partners may read of a try that failed otherwise: nothing of the
	// inside. Empty: that nobody answered.
	Told string
}

// Needs names the order, its partner and delivery, the job and the open reply.
func (c RecordDelivery) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = c.RecordJob.Needs().Jobs
	c.Facts.mayRaise(&n, commerce.ResolvedBy(commerce.CourierCreated)...)
	if c.Reach.Beyond {
		c.Facts.mayRaise(&n, commerce.AttentionOutOfRadius)
	}
	if c.Made != nil {
		c.Facts.mayRaise(&n, troubles(c.Made.Status)...)
	}
	if c.Answers.Key != "" {
		n.OpenReplies = []commerce.ReplyKey{c.Answers}
	}
	return n
}

// Decide records the delivery, or that there is none yet: then the order is
// flagged and stands as it is.
func (c RecordDelivery) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	if stored, _ := rows.Jobs.Get(c.Job.Key()); c.isGone(rows) || c.GivenUpBy == "" && c.Made == nil && !stored.SameLease(c.Job) {
		return c.Job, commerce.Changes{}, nil // the job is done, or a later try may be asking another provider
	}
	order, delivery, err := c.Facts.loadDelivery(rows)
	if err != nil {
		return c.Job, commerce.Changes{}, errors.Join(err, errors.New("the delivery of the job is not there"))
	}
	ours := delivery.Attempt == c.Attempt && (delivery.State == commerce.DeliveryDispatching ||
		c.Made != nil && delivery.Unsure() && delivery.Provider == c.Provider) // who cancelled it has not found it
	if c.Refused != "" {
		c.Failed = errors.New(c.Refused)
	}
	wanted := ours && !stopped(order)
	if !wanted && c.GivenUpBy == "" {
		c.Failed = nil // a callback was faster, or the order is over
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if err != nil {
		return job, changes, err
	}
	s := begin(order, rows, now, delivery.TraceID)
	s.changes = changes
	s.givenUp(c.RecordJob)
	if wanted && c.GivenUpBy == "" {
		s.outOfReach(c.Reach)
	}
	switch {
	case !ours:
		c.complete(s, delivery)
	case c.Made != nil:
		s.deliveryMade(&delivery, c.Provider, *c.Made)
		s.news(&delivery, *c.Made)
		s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	case c.Failed != nil && wanted:
		if c.Refused != "" { // it is certain that nobody has made it
			delivery.Provider, delivery.AskedOn = "", 0
			s.credentials(nil, "")
		}
		s.notDispatched(&delivery, c, job.Over())
		s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	case stopped(order) && delivery.Provider == "": // else who cancels it has it
		delivery.State, delivery.UpdatedOn = commerce.DeliveryOver, now
		s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	}
	if c.Failed == nil || job.Over() {
		c.answer(rows, s)
	}
	return job, s.endIfMoved(order), nil
}

// outOfReach tells the merchant, once, that the address is beyond the radius of
// the store. The order is paid for, so couriers are asked all the same.
func (s *story) outOfReach(r commerce.Reach) {
	if r.Beyond && s.attention(commerce.AttentionOutOfRadius).Since == 0 {
		s.flag(commerce.AttentionOutOfRadius, fmt.Sprintf("The address is %.1f miles from the store, which does not deliver so far", *r.Miles))
	}
}

// complete adds what only the answer to the call tells to a delivery that is
// known by a callback.
func (c RecordDelivery) complete(s *story, d commerce.Delivery) {
	if c.Made == nil || d.ProviderID != c.Made.ID || d.QuoteID != "" {
		return
	}
	d.QuoteID, d.FeeCents = c.Made.QuoteID, cmp.Or(d.FeeCents, c.Made.FeeCents)
	s.order.CourierQuoteID = d.QuoteID
	s.changes.Deliveries = append(s.changes.Deliveries, d)
}

// answer closes the reply of the report.
func (c RecordDelivery) answer(rows *commerce.Rows, s *story) {
	if c.Answers.Key == "" {
		return
	}
	reply, ok := c.openReply(rows, c.Answers)
	if !ok {
		return
	}
	if answer, err := wire.ParseReportAnswer(reply.Body); err == nil {
		answer.Delivery = wire.DeliveryOf(s.order)
		reply.Body = wire.Encode(answer)
	}
	reply.Job = commerce.JobKey{}
	s.changes.Replies = append(s.changes.Replies, reply)
}

// notDispatched says once for each reason why there is no courier yet. What a
// provider says is told in its words; what failed on the way to it is for the
// merchant alone, and said once.
func (s *story) notDispatched(d *commerce.Delivery, c RecordDelivery, last bool) {
	why, told := c.Failed.Error(), cmp.Or(c.Refused, c.Told, "The courier provider could not be reached, or did not answer")
	if last {
		const over = "No courier was found, and nobody looks for one any more: "
		why, told = over+why, over+told
	}
	why = commerce.CleanText(why, commerce.MaxNote)
	if _, denied := errors.AsType[*commerce.CredentialsError](c.Failed); denied && !last {
		s.raise(commerce.AttentionNotDispatched, told)
		s.credentials(c.Failed, told)
	} else if d.Error != why && (c.Refused != "" || last || !s.raised(commerce.AttentionNotDispatched)) {
		s.flag(commerce.AttentionNotDispatched, told)
	}
	d.Error, d.UpdatedOn = why, s.now
	if last {
		d.State = commerce.DeliveryOver
	}
}

// deliveryMade takes a processed order to shipped. A delivery that was made for
// an order which is over by now is cancelled again.
func (s *story) deliveryMade(d *commerce.Delivery, provider string, news CourierNews) {
	d.State, d.Provider, d.ProviderID, d.QuoteID, d.FeeCents = commerce.DeliveryActive, provider, news.ID, news.QuoteID, news.FeeCents
	d.TrackingURL, d.Status, d.Error = news.TrackingURL, commerce.CourierPending, ""
	if d.AskedOn == 0 {
		d.AskedOn = s.now
	}
	s.see(d, news)
	s.order.CourierQuoteID, s.order.CourierDeliveryID, s.order.CourierTrackingURL = d.QuoteID, d.ProviderID, d.TrackingURL
	if stopped(s.order) {
		s.ask(commerce.JobCancelDelivery, s.order.ID, false)
		return
	}
	s.resolveBy(commerce.CourierCreated)
	s.tellOf(commerce.TimelineDeliveryCreated, d, "")
	s.notify(commerce.WebhookDeliveryCreated, wire.DeliveryEventData(s.order, *d))
	if t, err := s.order.Check(commerce.CourierCreated); err == nil {
		s.moveWith(t, d)
	}
	s.askAt(commerce.JobCheckDelivery, d.Ref(), s.now+commerce.CheckEvery)
}

// anotherCourier begins the next attempt after a courier who gave up before
// the pick-up; false: there were enough.
func (s *story) anotherCourier(d *commerce.Delivery) bool {
	if d.Attempt >= commerce.MaxDispatches {
		return false
	}
	*d = commerce.Delivery{StoreID: d.StoreID, OrderID: d.OrderID, Attempt: d.Attempt + 1, State: commerce.DeliveryDispatching, Avoid: d.Provider,
		ToldOn: d.ToldOn, Untold: d.Untold, Answers: d.Answers, TraceID: d.TraceID, CreatedOn: d.CreatedOn, UpdatedOn: s.now, Changes: d.Changes + 1}
	s.order.CourierQuoteID, s.order.CourierDeliveryID, s.order.CourierTrackingURL = "", "", ""
	s.ask(commerce.JobDispatch, d.Ref(), false)
	return true
}

func courierGone(d commerce.Delivery, reason string) string {
	if reason == "" {
		reason = "no reason was given"
	}
	return fmt.Sprintf("The courier of attempt %d does not deliver: %s", d.Attempt, reason)
}
