package command

import (
	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// CourierNews is a delivery as its provider sees it, with the fields of
// courier.Delivery.
type CourierNews struct {
	ID          string
	Ref         string
	QuoteID     string
	Status      commerce.CourierStatus
	TrackingURL string
	FeeCents    commerce.Cents
	PickupETA   int64 // Unix ms; 0: not told, as is the next
	DropoffETA  int64
	Courier     commerce.Courier
	Imminent    bool
	SeenOn      int64  // Unix ms; 0: now
	Reason      string // of cancelling or returning
}

// needsDelivery names an order, its partner and delivery.
func (f OrderFacts) needsDelivery() commerce.Needs {
	n := f.needs()
	n.Deliveries = []commerce.OrderKey{f.Key}
	return n
}

// loadDelivery loads an order and its delivery.
func (f OrderFacts) loadDelivery(rows *commerce.Rows) (commerce.Order, commerce.Delivery, error) {
	order, err := f.load(rows)
	if err != nil {
		return order, commerce.Delivery{}, err
	}
	delivery, ok := rows.Deliveries.Get(f.Key)
	if !ok {
		return order, delivery, commerce.NotFound("delivery")
	}
	return order, delivery, nil
}

// RecordCourierUpdate records what a provider tells of a delivery: by a callback,
// however often, late and out of order, or because it was asked.
type RecordCourierUpdate struct {
	Facts    OrderFacts
	Attempt  int64
	Provider string
	News     CourierNews
	TraceID  string
}

// Needs names the order, its partner and delivery.
func (c RecordCourierUpdate) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	c.Facts.mayRaise(&n, commerce.ResolvedBy(commerce.CourierCreated)...)
	c.Facts.mayRaise(&n, troubles(c.News.Status)...)
	return n
}

// troubles are the reasons that news of this status may raise or resolve. Most
// news have none, so that following a courier costs no more.
func troubles(status commerce.CourierStatus) []commerce.AttentionCode {
	codes := []commerce.AttentionCode{commerce.AttentionTwoCouriers, commerce.AttentionGoodsReturning, commerce.AttentionGoodsReturned,
		commerce.AttentionGoodsWithCourier, commerce.AttentionCourierGaveUp}
	switch {
	case status == commerce.CourierDone:
		return append(commerce.ResolvedBy(commerce.CourierDelivered), commerce.AttentionTwoCouriers)
	case status.Over(), status == commerce.CourierReturning:
		return codes
	case status.HasGoods():
		return codes[:1]
	}
	return nil
}

// Decide returns the order and its delivery as they are now. A delivery never
// goes back; what was seen before what is known changes nothing.
func (c RecordCourierUpdate) Decide(rows *commerce.Rows, now int64) (Tracked, commerce.Changes, error) {
	order, delivery, err := c.Facts.loadDelivery(rows)
	if err != nil {
		return Tracked{}, commerce.Changes{}, err
	}
	s := begin(order, rows, now, c.TraceID)
	if !c.about(delivery) {
		if c.Attempt < delivery.Attempt && c.News.Status.HasGoods() && !stopped(order) && !s.raised(commerce.AttentionTwoCouriers) {
			s.flag(commerce.AttentionTwoCouriers, "A courier who had cancelled has the goods after all; look at the courier provider")
		}
		return Tracked{s.order, delivery}, s.endIfMoved(order), nil
	}
	if delivery.ProviderID == "" { // the callback is faster than the answer to the call, or that was lost
		s.deliveryMade(&delivery, c.Provider, c.News)
	}
	s.news(&delivery, c.News)
	delivery.UpdatedOn = now
	s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	return Tracked{s.order, delivery}, s.endIfMoved(order), nil
}

// Tracked is an order and its delivery.
type Tracked struct {
	Order    commerce.Order
	Delivery commerce.Delivery
}

// about tells whether the news are of this attempt, as its provider sees it.
func (c RecordCourierUpdate) about(d commerce.Delivery) bool {
	return c.Attempt == d.Attempt && c.Provider == d.Provider && c.Provider != "" && c.News.ID != "" &&
		(d.ProviderID == "" || d.ProviderID == c.News.ID)
}

// news takes the delivery on, and the order with it.
func (s *story) news(d *commerce.Delivery, news CourierNews) {
	if d.Status.Over() {
		s.hear(d, news)
		return
	}
	was := *d
	changed := s.see(d, news)
	if news.Status.Rank() <= was.Status.Rank() {
		if changed {
			s.courierUpdate(d)
		}
		return
	}
	d.Status = news.Status
	if d.Status == commerce.CourierReturning || d.Status.Over() && d.Status != commerce.CourierDone {
		nobodyComes(d)
	}
	d.Changes++
	switch {
	case d.Status == commerce.CourierAssigned:
		s.tellOf(commerce.TimelineCourierAssigned, d, "")
		s.courierUpdate(d)
	case d.Status == commerce.CourierLoaded, d.Status == commerce.CourierEnRoute:
		s.onTheWay(d, was.Status)
	case d.Status == commerce.CourierDone:
		s.delivered(d)
	case d.Status == commerce.CourierReturning:
		s.tellOf(commerce.TimelineStatusChanged, d, news.Reason)
		s.flag(commerce.AttentionGoodsReturning, courierGone(*d, news.Reason))
		s.courierUpdate(d)
	default:
		s.courierLeft(d, was, news.Reason)
	}
}

// nobodyComes takes back when the courier was to arrive.
func nobodyComes(d *commerce.Delivery) { d.PickupETA, d.DropoffETA, d.Imminent = 0, 0, false }

// see keeps what is newer than what is known; it returns whether a follower sees
// a difference.
func (s *story) see(d *commerce.Delivery, news CourierNews) (changed bool) {
	was := *d
	if !s.hear(d, news) {
		return false
	}
	d.Courier, d.Imminent = merged(d.Courier, news.Courier), news.Imminent
	if news.PickupETA != 0 {
		d.PickupETA = news.PickupETA
	}
	if news.DropoffETA != 0 {
		d.DropoffETA = news.DropoffETA
	}
	if news.TrackingURL != "" {
		d.TrackingURL, s.order.CourierTrackingURL = news.TrackingURL, news.TrackingURL
	}
	same := d.Courier.Name == was.Courier.Name && d.Courier.Phone == was.Courier.Phone && d.Courier.Vehicle == was.Courier.Vehicle &&
		d.Courier.ImageURL == was.Courier.ImageURL && samePoint(d.Courier.At, was.Courier.At) &&
		d.Imminent == was.Imminent && d.PickupETA == was.PickupETA && d.DropoffETA == was.DropoffETA
	if !same {
		d.Changes++
	}
	return !same
}

// hear notes that the provider told of what is not older than what is known;
// false: it is older.
func (s *story) hear(d *commerce.Delivery, news CourierNews) bool {
	seen := news.SeenOn
	if seen == 0 || seen > s.now {
		seen = s.now
	}
	if seen < d.SeenOn {
		return false
	}
	d.SeenOn, d.HeardOn = seen, s.now
	return true
}

// merged keeps what is not told again.
func merged(old, told commerce.Courier) commerce.Courier {
	for _, f := range []struct{ to, from *string }{{&told.Name, &old.Name}, {&told.Phone, &old.Phone}, {&told.Vehicle, &old.Vehicle}, {&told.ImageURL, &old.ImageURL}} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if told.At == nil || !told.At.Valid() {
		told.At = old.At
	}
	return told
}

func samePoint(a, b *commerce.Point) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// onTheWay is for goods that the courier has: by the pick-up, or by what follows
// when nobody told of that.
func (s *story) onTheWay(d *commerce.Delivery, before commerce.CourierStatus) {
	t, err := s.order.Check(commerce.CourierPickedUp)
	switch {
	case before.HasGoods() || stopped(s.order):
		s.tellOf(commerce.TimelineStatusChanged, d, "")
		s.courierUpdate(d)
		return
	case err != nil: // the order was moved otherwise
		s.tellOf(commerce.TimelineStatusChanged, d, "")
	default:
		s.moveWith(t, d)
	}
	s.notify(commerce.WebhookDeliveryOut, wire.DeliveryEventData(s.order, *d))
}

func (s *story) delivered(d *commerce.Delivery) {
	d.State = commerce.DeliveryOver
	s.resolveBy(commerce.CourierDelivered)
	if t, err := s.order.Check(commerce.CourierDelivered); err == nil {
		s.moveWith(t, d)
	} else {
		s.tellOf(commerce.TimelineStatusChanged, d, "")
	}
	s.notify(commerce.WebhookDeliveryDone, wire.DeliveryEventData(s.order, *d))
}

// courierLeft is for a courier who cancels or brings the goods back. Another one
// is looked for if they never left the store.
func (s *story) courierLeft(d *commerce.Delivery, was commerce.Delivery, reason string) {
	d.State = commerce.DeliveryOver
	if d.Status == commerce.CourierReturned {
		s.resolve(string(d.Status), commerce.AttentionGoodsReturning)
	}
	if stopped(s.order) { // that is what was asked for, and told
		s.tellOf(commerce.TimelineStatusChanged, d, reason)
		return
	}
	s.tellOf(commerce.TimelineDeliveryCancelled, d, reason)
	s.notify(commerce.WebhookDeliveryCancelled, wire.DeliveryEventData(s.order, *d))
	switch {
	case d.Status == commerce.CourierReturned:
		s.flag(commerce.AttentionGoodsReturned, courierGone(*d, reason))
	case was.Status.HasGoods():
		s.flag(commerce.AttentionGoodsWithCourier, courierGone(*d, reason))
	case !s.anotherCourier(d):
		s.flag(commerce.AttentionCourierGaveUp, courierGone(*d, reason))
	}
}

// courierUpdate tells of a courier who moves: the first time at once, then at
// most once in CourierUpdateEvery, of the newest.
func (s *story) courierUpdate(d *commerce.Delivery) {
	switch due := d.ToldOn + commerce.CourierUpdateEvery; {
	case d.Untold: // a job will
	case s.now >= due:
		s.tellCourier(d)
	default:
		d.Untold = true
		s.askAt(commerce.JobCourierUpdate, s.order.ID, due)
	}
}

func (s *story) tellCourier(d *commerce.Delivery) {
	d.ToldOn, d.Untold = s.now, false
	s.tellOf(commerce.TimelineCourierUpdate, d, "")
	s.notify(commerce.WebhookCourierUpdate, wire.DeliveryEventData(s.order, *d))
}

// tellOf appends to the timeline what became of the delivery.
func (s *story) tellOf(kind commerce.TimelineKind, d *commerce.Delivery, message string) {
	s.tell(kind, message, wire.DeliveryEventData(s.order, *d))
	s.changes.Timeline[len(s.changes.Timeline)-1].CourierStatus = d.Status
}

// moveWith takes the order through a transition that the courier brought about.
func (s *story) moveWith(t commerce.Transition, d *commerce.Delivery) {
	first, moved := len(s.changes.Timeline), s.order
	moved.Status = t.To
	s.move(t, "", wire.DeliveryEventData(moved, *d))
	s.changes.Timeline[first].CourierStatus = d.Status
}

// TellCourierUpdate tells the partner of the newest that is known of a courier,
// and ends the job that does so.
type TellCourierUpdate struct {
	Facts OrderFacts
	Job   commerce.JobKey
}

// Needs names the order, its partner and delivery, and the job.
func (c TellCourierUpdate) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	n.Jobs = []commerce.JobKey{c.Job}
	return n
}

// Decide tells of what was not told; once the delivery is over, that says more.
func (c TellCourierUpdate) Decide(rows *commerce.Rows, now int64) (bool, commerce.Changes, error) {
	order, delivery, err := c.Facts.loadDelivery(rows)
	if err != nil {
		return false, commerce.Changes{}, err
	}
	s := begin(order, rows, now, delivery.TraceID)
	if _, there := rows.Jobs.Get(c.Job); !there {
		return false, s.changes, nil // it was done; what came since has a job of its own, whose time has not come
	}
	s.changes.DoneJobs = []commerce.JobKey{c.Job}
	if !delivery.Untold {
		return false, s.changes, nil
	}
	told := delivery.State == commerce.DeliveryActive
	if delivery.Untold = false; told {
		s.tellCourier(&delivery)
	}
	delivery.UpdatedOn = now
	s.changes.Deliveries = append(s.changes.Deliveries, delivery)
	return told, s.endIfMoved(order), nil
}

// KeepStrayCallback keeps what a provider told of a delivery that is none of
// ours.
type KeepStrayCallback struct{ Callback commerce.StrayCallback }

// Needs names nothing.
func (c KeepStrayCallback) Needs() commerce.Needs { return commerce.Needs{} }

// Decide keeps it.
func (c KeepStrayCallback) Decide(_ *commerce.Rows, now int64) (bool, commerce.Changes, error) {
	c.Callback.ReceivedOn = now
	return true, commerce.Changes{StrayCallbacks: []commerce.StrayCallback{c.Callback}}, nil
}
