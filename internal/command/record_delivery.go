package command

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"purveyor/internal/commerce"
)

// startDelivery makes the order's delivery and the job that looks for a courier. The
// answer of the command shows the delivery that the job makes.
func (oc *orderChange) startDelivery() {
	ready := commerce.Millis(0)
	if minutes := oc.order.ReadyInMinutes; minutes != nil {
		ready = oc.now.Add(time.Duration(*minutes) * time.Minute)
	}
	oc.delivery = &commerce.Delivery{
		StoreID: oc.order.StoreID, OrderID: oc.order.ID, Attempt: 1, State: commerce.DeliveryDispatching, ReadyAt: ready,
		TraceID: oc.by.TraceID, CreatedOn: oc.now, Changes: 1,
	}
	oc.enqueue(commerce.JobDispatch, commerce.DeliveryRef(oc.order.ID, 1), true)
}

// CourierRefusesUs is the text for partners when a courier provider refuses our
// credentials.
const CourierRefusesUs = "The courier provider does not accept this service's credentials; its operator has to set them right"

// RecordDelivery records the outcome of an attempt of the job that looks for a courier. It
// decides the answer of the report.
type RecordDelivery struct {
	RecordJob
	Facts    OrderFacts
	Attempt  int64
	Provider string
	Made     *CourierUpdate // the delivery; nil: there is none
	// Refused is why no provider takes it, for people. The job goes on trying, because a
	// courier may be free later.
	Refused string
	// Reach is how far the address is from the store, as the job found it.
	Reach commerce.Reach
	// Told is the text for partners about an attempt that failed otherwise, without
	// internals. Empty: a general text.
	Told string
}

// Needs names the order, its partner and delivery and the job.
func (c RecordDelivery) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = c.RecordJob.Needs().Jobs
	c.Facts.needAttention(&n, commerce.ResolvedBy(commerce.CourierCreated)...)
	if c.Reach.Beyond {
		c.Facts.needAttention(&n, commerce.AttentionOutOfRadius)
	}
	if c.Made != nil {
		c.Facts.needAttention(&n, troubles(c.Made.Status)...)
	}
	return n
}

// Decide records the delivery. If there is none yet, it raises attention and the order
// stays as it is.
func (c RecordDelivery) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	if stored, _ := rows.Jobs.Get(c.Job.Key()); c.isGone(rows) || !c.isGivenUp() && c.Made == nil && !stored.SameLease(c.Job) {
		return Recorded{Job: c.Job}, commerce.Changes{}, nil // the job is done, or a later attempt may be asking another provider
	}
	oc, err := c.begin(c.Facts, rows, now, theDelivery)
	if err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	order, delivery := oc.order, *oc.delivery
	oc.by.TraceID = delivery.TraceID
	ours := delivery.Attempt == c.Attempt && (delivery.State == commerce.DeliveryDispatching ||
		c.Made != nil && delivery.Unsure() && delivery.Provider == c.Provider) // the job that cancelled it did not find it
	if c.Refused != "" {
		c.Failed = errors.New(c.Refused)
	}
	wanted := ours && !order.Stopped()
	if !wanted && !c.isGivenUp() {
		c.Failed = nil // a callback was faster, or the order is over
	}
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	if wanted && !c.isGivenUp() {
		oc.raiseOutOfRadius(c.Reach)
	}
	switch {
	case !ours:
		c.complete(oc)
	case c.Made != nil:
		oc.recordDelivery(c.Provider, *c.Made)
		oc.applyUpdate(*c.Made)
	case c.Failed != nil && wanted:
		if c.Refused != "" { // it is certain that no provider has made it
			oc.delivery.Provider, oc.delivery.AskedOn = "", 0
			oc.recordCredentials(nil, "")
		}
		oc.raiseNotDispatched(c, oc.job.Over())
	case order.Stopped() && delivery.Provider == "": // otherwise the job that cancels it ends it
		oc.delivery.State = commerce.DeliveryOver
	}
	if c.Failed == nil || oc.job.Over() {
		return oc.recorded(commerce.Decided)
	}
	return oc.recorded(commerce.Undecided)
}

// raiseOutOfRadius asks the merchant, once, to look at an address beyond the store's
// radius. The order is paid for, so couriers are asked all the same.
func (oc *orderChange) raiseOutOfRadius(r commerce.Reach) {
	if r.Beyond && oc.attention(commerce.AttentionOutOfRadius).Since == 0 {
		oc.raiseAttention(commerce.AttentionOutOfRadius, fmt.Sprintf("The address is %.1f miles from the store, which does not deliver so far", *r.Miles))
	}
}

// complete adds to a delivery that a callback reported first what only the answer to the
// call contains.
func (c RecordDelivery) complete(oc *orderChange) {
	d := oc.delivery
	if c.Made == nil || d.ProviderID != c.Made.ID || d.QuoteID != "" {
		return
	}
	d.QuoteID, d.FeeCents = c.Made.QuoteID, cmp.Or(d.FeeCents, c.Made.FeeCents)
	oc.order.CourierQuoteID = d.QuoteID
}

// raiseNotDispatched records why there is no courier yet, once for each reason. The
// timeline quotes a provider's refusal. Any other failure may show internals, so the
// timeline gets a general text for it, once.
func (oc *orderChange) raiseNotDispatched(c RecordDelivery, last bool) {
	d := oc.delivery
	why, forPartners := c.Failed.Error(), cmp.Or(c.Refused, c.Told, "The courier provider could not be reached, or did not answer")
	if last {
		const over = "No courier was found, and nobody looks for one any more: "
		why, forPartners = over+why, over+forPartners
	}
	why = commerce.CleanText(why, commerce.MaxNote)
	if _, denied := errors.AsType[*commerce.CredentialsError](c.Failed); denied && !last {
		oc.raiseWithoutNote(commerce.AttentionNotDispatched, forPartners)
		oc.recordCredentials(c.Failed, forPartners)
	} else if d.Error != why && (c.Refused != "" || last || !oc.raised(commerce.AttentionNotDispatched)) {
		oc.raiseAttention(commerce.AttentionNotDispatched, forPartners)
	}
	d.Error = why
	if last {
		d.State = commerce.DeliveryOver
	}
}

// recordDelivery records that the provider has made the delivery, and takes a processed
// order to shipped. If the order was cancelled or refunded meanwhile, the delivery is
// cancelled at its provider.
func (oc *orderChange) recordDelivery(provider string, update CourierUpdate) {
	d := oc.delivery
	d.State, d.Provider, d.ProviderID, d.QuoteID, d.FeeCents = commerce.DeliveryActive, provider, update.ID, update.QuoteID, update.FeeCents
	d.TrackingURL, d.Status, d.Error = update.TrackingURL, commerce.CourierPending, ""
	if d.AskedOn == 0 {
		d.AskedOn = oc.now
	}
	oc.observe(update)
	oc.order.CourierQuoteID, oc.order.CourierDeliveryID, oc.order.CourierTrackingURL = d.QuoteID, d.ProviderID, d.TrackingURL
	if oc.order.Stopped() {
		oc.enqueue(commerce.JobCancelDelivery, oc.order.ID, false)
		return
	}
	oc.resolveBy(commerce.CourierCreated) // also for another courier of an order that is shipped
	oc.addDeliveryTimeline(commerce.TimelineDeliveryCreated, "")
	oc.addDeliveryWebhook(commerce.WebhookDeliveryCreated)
	oc.tryTransition(commerce.CourierCreated, "")
	oc.enqueueAt(commerce.JobCheckDelivery, d.Ref(), oc.now.Add(commerce.CheckEvery))
}

// startNextAttempt looks for another courier after one gave up before the pick-up. It
// returns false when the order has used up its attempts.
func (oc *orderChange) startNextAttempt() bool {
	if oc.delivery.Attempt >= commerce.MaxDispatches && !oc.delivery.Replacing {
		return false
	}
	oc.startAttempt()
	return true
}

// startAttempt looks for another courier.
func (oc *orderChange) startAttempt() {
	d := oc.delivery
	*d = commerce.Delivery{StoreID: d.StoreID, OrderID: d.OrderID, Attempt: d.Attempt + 1, State: commerce.DeliveryDispatching, Avoid: d.Provider,
		ToldOn: d.ToldOn, Untold: d.Untold, TraceID: d.TraceID, CreatedOn: d.CreatedOn, Changes: d.Changes + 1}
	oc.order.CourierQuoteID, oc.order.CourierDeliveryID, oc.order.CourierTrackingURL = "", "", ""
	oc.enqueue(commerce.JobDispatch, d.Ref(), false)
}

func courierGone(d commerce.Delivery, reason string) string {
	if reason == "" {
		reason = "no reason was given"
	}
	return fmt.Sprintf("The courier of attempt %d does not deliver: %s", d.Attempt, reason)
}
