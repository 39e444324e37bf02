package command

import (
	"cmp"
	"reflect"

	"purveyor/internal/commerce"
)

// CourierUpdate is a delivery as its provider reports it. Its fields are those of
// courier.Delivery.
type CourierUpdate struct {
	ID          string
	Ref         string
	QuoteID     string
	Status      commerce.CourierStatus
	TrackingURL string
	FeeCents    commerce.Cents
	PickupETA   commerce.Millis // as is the next; 0: not reported
	DropoffETA  commerce.Millis
	Courier     commerce.Courier
	Imminent    bool
	SeenOn      commerce.Millis // 0: now
	Reason      string          // of cancelling or returning
}

// needsDelivery names an order, its partner and delivery.
func (f OrderFacts) needsDelivery() commerce.Needs {
	n := f.needs()
	n.Deliveries = []commerce.OrderKey{f.Key}
	return n
}

// RecordCourierUpdate records what a provider reports about a delivery, in a callback or
// when it is asked. Updates may come twice, late and out of order.
type RecordCourierUpdate struct {
	Facts    OrderFacts
	Attempt  int64
	Provider string
	Update   CourierUpdate
	TraceID  string
}

// Needs names the order, its partner and delivery.
func (c RecordCourierUpdate) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	c.Facts.needAttention(&n, commerce.ResolvedBy(commerce.CourierCreated)...)
	c.Facts.needAttention(&n, troubles(c.Update.Status)...)
	return n
}

// troubles are the reasons that an update of this status may raise or resolve. Most
// updates have none, so that following a courier loads no attention rows.
func troubles(status commerce.CourierStatus) []commerce.AttentionCode {
	codes := []commerce.AttentionCode{commerce.AttentionTwoCouriers, commerce.AttentionGoodsWithCourier,
		commerce.AttentionGoodsReturning, commerce.AttentionGoodsReturned, commerce.AttentionCourierGaveUp}
	switch {
	case status == commerce.CourierDone:
		return append(commerce.ResolvedBy(commerce.CourierDelivered), commerce.AttentionTwoCouriers, commerce.AttentionGoodsWithCourier)
	case status.Over(), status == commerce.CourierReturning:
		return codes
	case status.HasGoods():
		return codes[:2]
	}
	return nil
}

// Decide returns the order and its delivery as they are now. A delivery never goes back,
// and an update that is older than the stored one changes nothing.
func (c RecordCourierUpdate) Decide(rows *commerce.Rows, now commerce.Millis) (Tracked, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, commerce.Actor{Kind: commerce.ActorProvider, ID: c.Provider, TraceID: c.TraceID}, theDelivery)
	if err != nil {
		return Tracked{}, commerce.Changes{}, err
	}
	if !c.about(*oc.delivery) {
		if c.Attempt < oc.delivery.Attempt {
			if c.Update.Status.HasGoods() && !oc.order.Stopped() && !oc.raised(commerce.AttentionTwoCouriers) {
				oc.raiseAttention(commerce.AttentionTwoCouriers, "A courier who had cancelled has the goods after all; look at the courier provider")
			}
			oc.raisePickup(c.Update.Status)
		}
		changes := oc.finish()
		return Tracked{oc.order, *oc.delivery, changes.Empty()}, changes, nil
	}
	before := *oc.delivery
	if oc.delivery.ProviderID == "" { // the callback is faster than the answer to the call, or the answer was lost
		oc.recordDelivery(c.Provider, c.Update)
	}
	oc.applyUpdate(c.Update)
	before.SeenOn, before.HeardOn = oc.delivery.SeenOn, oc.delivery.HeardOn
	known := reflect.DeepEqual(before, *oc.delivery)
	changes := oc.finish()
	return Tracked{oc.order, *oc.delivery, known && len(changes.Attention) == 0}, changes, nil
}

// Tracked is an order and its delivery.
type Tracked struct {
	Order    commerce.Order
	Delivery commerce.Delivery
	Known    bool // the update told nothing that was not known
}

// about reports whether the update is about this attempt at its provider.
func (c RecordCourierUpdate) about(d commerce.Delivery) bool {
	return c.Attempt == d.Attempt && c.Provider == d.Provider && c.Provider != "" && c.Update.ID != "" &&
		(d.ProviderID == "" || d.ProviderID == c.Update.ID)
}

// applyUpdate moves the delivery on to what the provider reports, and the order with it.
func (oc *orderChange) applyUpdate(update CourierUpdate) {
	d := oc.delivery
	if d.Status.Over() {
		if d.Status == commerce.CourierCancelled {
			oc.raisePickup(update.Status)
		}
		oc.touch(update)
		return
	}
	was := *d
	changed := oc.observe(update)
	if update.Status.Rank() <= was.Status.Rank() {
		if changed {
			oc.scheduleCourierUpdate()
		}
		return
	}
	d.Status = update.Status
	if d.Status == commerce.CourierReturning || d.Status.Over() && d.Status != commerce.CourierDone {
		clearArrival(d)
	}
	d.Changes++
	switch {
	case d.Status == commerce.CourierAssigned:
		oc.addDeliveryTimeline(commerce.TimelineCourierAssigned, "")
		oc.scheduleCourierUpdate()
	case d.Status == commerce.CourierLoaded, d.Status == commerce.CourierEnRoute:
		oc.recordPickup(was.Status)
	case d.Status == commerce.CourierDone:
		oc.recordDropoff()
	case d.Status == commerce.CourierReturning:
		oc.addDeliveryTimeline(commerce.TimelineStatusChanged, update.Reason)
		oc.raiseAttention(commerce.AttentionGoodsReturning, courierGone(*d, update.Reason))
		oc.scheduleCourierUpdate()
	default:
		oc.recordCourierLeft(was.Status, update.Reason)
	}
}

// clearArrival removes the times at which the courier was to arrive.
func clearArrival(d *commerce.Delivery) { d.PickupETA, d.DropoffETA, d.Imminent = 0, 0, false }

// observe stores what the update reports unless it is older than what is stored. It
// returns whether a partner that follows the delivery sees a difference.
func (oc *orderChange) observe(update CourierUpdate) (changed bool) {
	d := oc.delivery
	was := *d
	if !oc.touch(update) {
		return false
	}
	d.Courier, d.Imminent = merged(d.Courier, update.Courier), update.Imminent
	if update.PickupETA != 0 {
		d.PickupETA = update.PickupETA
	}
	if update.DropoffETA != 0 {
		d.DropoffETA = update.DropoffETA
	}
	if update.TrackingURL != "" {
		d.TrackingURL, oc.order.CourierTrackingURL = update.TrackingURL, update.TrackingURL
	}
	was.SeenOn, was.HeardOn, was.TrackingURL = d.SeenOn, d.HeardOn, d.TrackingURL
	if changed = !reflect.DeepEqual(was, *d); changed {
		d.Changes++
	}
	return changed
}

// touch records when the update was true and when it arrived. It returns false, and
// records nothing, if the update is older than what is stored.
func (oc *orderChange) touch(update CourierUpdate) bool {
	d := oc.delivery
	seen := update.SeenOn
	if seen == 0 || seen > oc.now {
		seen = oc.now
	}
	if seen < d.SeenOn {
		return false
	}
	d.SeenOn, d.HeardOn = seen, oc.now
	return true
}

// merged returns the new report of a courier. Facts that it leaves out are taken from the
// old report.
func merged(old, reported commerce.Courier) commerce.Courier {
	reported.Name, reported.Phone = cmp.Or(reported.Name, old.Name), cmp.Or(reported.Phone, old.Phone)
	reported.Vehicle, reported.ImageURL = cmp.Or(reported.Vehicle, old.Vehicle), cmp.Or(reported.ImageURL, old.ImageURL)
	if reported.At == nil || !reported.At.Valid() {
		reported.At = old.At
	}
	return reported
}

// recordPickup records that the courier has the goods. The provider may skip its
// pick-up status and report a later one.
func (oc *orderChange) recordPickup(before commerce.CourierStatus) {
	if before.HasGoods() || oc.order.Stopped() {
		oc.addDeliveryTimeline(commerce.TimelineStatusChanged, "")
		oc.scheduleCourierUpdate()
		return
	}
	if !oc.tryTransition(commerce.CourierPickedUp, "") { // the order's status was changed otherwise
		oc.addDeliveryTimeline(commerce.TimelineStatusChanged, "")
	}
	oc.addDeliveryWebhook(commerce.WebhookDeliveryOut)
}

// recordDropoff records that the customer has the goods.
func (oc *orderChange) recordDropoff() {
	oc.delivery.State = commerce.DeliveryOver
	oc.resolveBy(commerce.CourierDelivered) // also if the order is cancelled or refunded
	if !oc.tryTransition(commerce.CourierDelivered, "") {
		oc.addDeliveryTimeline(commerce.TimelineStatusChanged, "")
	}
	oc.addDeliveryWebhook(commerce.WebhookDeliveryDone)
	oc.raiseGoodsGone("The courier has brought the goods to the customer")
}

// raisePickup raises goods_with_courier if late news tells of a pick-up before the courier
// cancelled. Goods that came back are no reason.
func (oc *orderChange) raisePickup(status commerce.CourierStatus) {
	if status.HasGoods() && status != commerce.CourierReturned {
		oc.raiseGoodsGone(leftWithGoods)
	}
}

const leftWithGoods = "The courier has left with the goods"

// raiseGoodsGone raises goods_with_courier for a cancelled or refunded order. Its goods were put
// back in stock, but the courier has them, or has handed them over. Whether the courier could be
// called off may never be known, so this does not wait for that.
func (oc *orderChange) raiseGoodsGone(why string) {
	if oc.order.Stopped() && oc.attention(commerce.AttentionGoodsWithCourier).Since == 0 {
		oc.raiseAttention(commerce.AttentionGoodsWithCourier, why+", and the order is "+string(oc.order.Status))
	}
}

// recordCourierLeft records that the courier cancelled or brought the goods back. If the
// goods never left the store, it looks for another courier.
func (oc *orderChange) recordCourierLeft(before commerce.CourierStatus, reason string) {
	d := oc.delivery
	d.State = commerce.DeliveryOver
	if d.Status == commerce.CourierReturned {
		oc.resolve(string(d.Status), commerce.AttentionGoodsReturning)
	}
	if oc.order.Stopped() { // that was the aim, and the partner was told when the order ended
		oc.addDeliveryTimeline(commerce.TimelineStatusChanged, reason)
		if before.HasGoods() && d.Status == commerce.CourierCancelled {
			oc.raiseGoodsGone(leftWithGoods)
		}
		return
	}
	oc.addDeliveryTimeline(commerce.TimelineDeliveryCancelled, reason)
	oc.addDeliveryWebhook(commerce.WebhookDeliveryCancelled)
	gone := courierGone(*d, reason)
	switch {
	case d.Status == commerce.CourierReturned:
		oc.raiseAttention(commerce.AttentionGoodsReturned, gone)
	case before.HasGoods():
		oc.raiseAttention(commerce.AttentionGoodsWithCourier, gone)
	case !oc.startNextAttempt():
		oc.raiseAttention(commerce.AttentionCourierGaveUp, gone)
	}
}

// scheduleCourierUpdate publishes the moving courier at once if the last update is
// CourierUpdateEvery old. Otherwise one job publishes the newest update when it is due.
func (oc *orderChange) scheduleCourierUpdate() {
	d := oc.delivery
	switch due := d.ToldOn.Add(commerce.CourierUpdateEvery); {
	case d.Untold: // a job is to publish it
	case oc.now >= due:
		oc.addCourierUpdate()
	default:
		d.Untold = true
		oc.enqueueAt(commerce.JobCourierUpdate, oc.order.ID, due)
	}
}

// addCourierUpdate appends the courier's position to the timeline and the webhook events.
func (oc *orderChange) addCourierUpdate() {
	oc.delivery.ToldOn, oc.delivery.Untold = oc.now, false
	oc.addDeliveryTimeline(commerce.TimelineCourierUpdate, "")
	oc.addDeliveryWebhook(commerce.WebhookCourierUpdate)
}
