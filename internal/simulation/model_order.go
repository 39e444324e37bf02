package simulation

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json/jsontext"
)

// knowledge is what the answers have told of an order.
type knowledge struct {
	status           string
	updated, created int64
	refunded         int64
	customer         string
	order            string   // as it was read last, byte by byte
	timeline         []string // the events, byte by byte
}

// clocks may be so far from right.
const drift = 40_000

// orderRead has all fields of an order (SPEC, Order; BEHAVIOUR, Money and content).
type orderRead struct {
	orderJSON
	CreatedOn  int64          `json:"created_on"`
	UpdatedOn  int64          `json:"updated_on"`
	CustomerID string         `json:"customer_id"`
	Source     string         `json:"source"`
	PartnerID  string         `json:"partner_client_id"`
	Address    jsontext.Value `json:"delivery_address"`
	Status     string         `json:"status"`
	Delivery   *string        `json:"courier_delivery_id"`
	Tracking   *string        `json:"courier_tracking_url"`
	Quote      *string        `json:"courier_quote_id"`
	Ready      *int64         `json:"ready_for_pickup_at"`
	PickedUp   *int64         `json:"picked_up_at"`
}

func (x *asked) judgeOrder() {
	var b struct{ Order jsontext.Value }
	if x.read(&b) {
		x.judgeOrderOf(x.order, x.before, b.Order)
	}
}

// judgeOrderOf compares an order with what its partner asked for and has seen.
func (x *asked) judgeOrderOf(s *story, before knowledge, raw jsontext.Value) {
	var o orderRead
	if err := decode(raw, &o); err != nil || s == nil {
		x.wrong("the order cannot be read, or is unknown: %v", err)
		return
	}
	want := s.expected()
	want.Refunded = o.Refunded
	if !reflect.DeepEqual(o.orderJSON, want) {
		x.wrong("the order was to be %s", told(want))
	}
	x.judgeStatus(s, before, o.Status)
	x.judgeMoney(s, before, o)
	x.want("source", o.Source, "partner")
	x.want("partner_client_id", o.PartnerID, s.p.id)
	x.want("whether there is an address", string(o.Address) != "null" && len(o.Address) > 0, s.delivery)
	if s.known.created == 0 {
		s.known.created, s.known.customer = o.CreatedOn, o.CustomerID
	}
	x.want("created_on", o.CreatedOn, s.known.created)
	x.want("customer_id", o.CustomerID, s.known.customer)
	if age := o.CreatedOn - s.placed.UnixMilli(); age < -drift || o.UpdatedOn < o.CreatedOn || o.UpdatedOn > x.p.w.env.Now().UnixMilli()+drift {
		x.wrong("the order was made at %d, so its times are wrong", s.placed.UnixMilli())
	}
	if s.underWay(o.Status) && (o.Delivery == nil || o.Tracking == nil || o.Quote == nil) || o.Delivery != nil && !s.delivery {
		x.wrong("its courier fields do not fit to its status")
	}
	ready, gone := !s.delivery && o.Status == "ready_for_pickup", !s.delivery && o.Status == "picked_up"
	if (ready || gone) && o.Ready == nil || gone && (o.PickedUp == nil || *o.PickedUp+drift < *o.Ready) || s.delivery && o.Ready != nil || !s.delivery && !gone && o.PickedUp != nil && o.Status != "refunded" {
		x.wrong("its times of pickup do not fit to its status")
	}
	x.judgeUpdated(s, before, o.UpdatedOn, string(raw))
	if o.Refunded > s.known.refunded {
		s.known.refunded, s.learned = o.Refunded, x.p.w.env.Now()
	}
}

// judgeUpdated: updated_on never goes back, and moves with each change.
func (x *asked) judgeUpdated(s *story, before knowledge, updated int64, order string) {
	if updated < before.updated {
		x.wrong("updated_on was %d before", before.updated)
	}
	if updated < s.known.updated || order == "" {
		return
	}
	if updated == s.known.updated && s.known.order != "" && s.known.order != order {
		x.wrong("updated_on is the same as that of %s", s.known.order)
	}
	s.known.updated, s.known.order, s.learned = updated, order, x.p.w.env.Now()
}

// knownBefore is what was known of the order at a time; nothing, if something was learned since.
func (s *story) knownBefore(at time.Time) knowledge {
	if s.learned.Before(at) {
		return s.known
	}
	return knowledge{}
}

// judgeStatus: the order may have come from the status that was seen before the call to this
// one. While no call is under way that moves it, only its courier does, and what was begun before.
func (x *asked) judgeStatus(s *story, before knowledge, got string) {
	if !leads(before.status, got) || before.status == "refunded" && got != "refunded" && s.bank != returns {
		x.wrong("the order was %s before", before.status)
	}
	quiet := s.busy == 0 && s.moved.Before(x.began) && before.status != ""
	if quiet && got != before.status && !s.goesOn(before.status, got) {
		x.wrong("the order was %s before, and since then no call has moved it", before.status)
	}
	s.knows(got)
}

// knows takes a status that an answer has told, unless a newer one is known.
func (s *story) knows(status string) {
	if status == "refunded" || leads(s.known.status, status) && !leads(status, s.known.status) {
		s.known.status, s.learned = status, s.w.env.Now()
	}
}

// goesOn reports whether an order may go on by itself from one status to another.
func (s *story) goesOn(from, to string) bool {
	courier := []string{"processed", "shipped", "out_for_delivery", "delivered"}
	switch {
	case from == "refunded":
		return s.bank == returns
	case s.delivery && slices.Contains(courier, from) && slices.Contains(courier, to):
		return leads(from, to)
	case from == "pending_payment" && to == "paid":
		return s.paying
	case to == "refunded":
		return from == "cancelled" && s.mayRefund > 0
	case s.paying && from == "pending_payment":
		return s.delivery && slices.Contains(courier, to) && s.mayRefund == 0
	}
	return false
}

// judgeMoney: what is refunded lies between what was acknowledged and what was asked for, and the
// order is refunded when that is all (SPEC, States).
func (x *asked) judgeMoney(s *story, before knowledge, o orderRead) {
	if o.Refunded < before.refunded && s.bank != returns || o.Refunded > s.mayRefund {
		x.wrong("between %d and %d cents are refunded", before.refunded, s.mayRefund)
	}
	if all := s.paidHere && o.Refunded == s.pays(); all != (o.Status == "refunded") {
		x.wrong("%d cents of %d are refunded, and it is %s", o.Refunded, o.Total, o.Status)
	}
}

func (x *asked) judgePing() {
	var b struct {
		OrderID     string  `json:"order_id"`
		ExternalID  *string `json:"external_order_id"`
		Status      string  `json:"status"`
		Fulfillment string  `json:"fulfillment_type"`
		Delivery    *string `json:"courier_delivery_id"`
		Tracking    *string `json:"courier_tracking_url"`
		ETA         *string `json:"estimated_delivery_time"`
		UpdatedOn   int64   `json:"updated_on"`
	}
	if !x.read(&b) {
		return
	}
	s, want := x.order, x.order.expected()
	x.want("order_id", b.OrderID, s.id)
	x.want("fulfillment_type", b.Fulfillment, want.Fulfillment)
	if (b.ExternalID == nil) != s.paidHere || b.ExternalID != nil && *b.ExternalID != want.ExternalID {
		x.wrong("external_order_id is to be %q", want.ExternalID)
	}
	x.judgeStatus(s, x.before, b.Status)
	x.judgeUpdated(s, x.before, b.UpdatedOn, "")
	x.judgeCourier(b.Status, b.Delivery, b.Tracking, b.ETA)
}

// judgeCourier: the fields of a courier are there from shipped on, and for deliveries alone.
func (x *asked) judgeCourier(status string, delivery, tracking, eta *string) {
	switch {
	case (delivery == nil) != (tracking == nil), x.order.underWay(status) && delivery == nil, delivery != nil && !x.order.delivery:
		x.wrong("its courier fields do not fit to its status")
	case eta != nil && !instant(*eta):
		x.wrong("%s is no time", *eta)
	}
}

// underWay reports whether the order must have a courier: from shipped on. A courier that goes away
// leaves the order as it is, until there is the next one.
func (s *story) underWay(status string) bool {
	return (status == "shipped" || status == "out_for_delivery") && s.misdeeds == "" || status == "delivered"
}

// instant reports whether a text is a time by ISO 8601, in UTC.
func instant(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && strings.HasSuffix(text, "Z")
}

var courierStatuses = []string{"pending", "pickup", "pickup_complete", "en_route_to_dropoff", "returning", "delivered", "cancelled", "returned"}

// trackingRead is what tracking and driver-location share.
type trackingRead struct {
	OrderID  string         `json:"order_id"`
	Status   string         `json:"status"`
	Courier  jsontext.Value `json:"courier"`
	State    *string        `json:"courier_delivery_status"`
	Delivery *string        `json:"courier_delivery_id"`
	Tracking *string        `json:"courier_tracking_url"`
	Imminent *bool          `json:"courier_imminent"`
	ETA      *string        `json:"estimated_delivery_time"`
	Source   string         `json:"source"`
	Recent   []eventRead    `json:"recent_events"`
}

func (x *asked) judgeTracked(b trackingRead) {
	x.want("order_id", b.OrderID, x.order.id)
	x.judgeStatus(x.order, x.before, b.Status)
	x.judgeCourier(b.Status, b.Delivery, b.Tracking, b.ETA)
	switch {
	case b.Imminent == nil || len(b.Courier) == 0 || b.Courier[0] != '{':
		x.wrong("courier is no object, or courier_imminent is missing")
	case b.State != nil && !slices.Contains(courierStatuses, *b.State):
		x.wrong("%s is no status of a courier", *b.State)
	case b.Delivery == nil && (b.State != nil || string(b.Courier) != "{}"):
		x.wrong("there is no delivery, so there is nothing of a courier")
	}
}

func (x *asked) judgeTracking() {
	var b trackingRead
	if !x.read(&b) {
		return
	}
	x.judgeTracked(b)
	if len(b.Recent) > 10 || len(b.Recent) == 0 {
		x.wrong("recent_events are the last ten")
	}
	x.judgeEvents(b.Recent)
}

func (x *asked) judgeLocation() {
	var b trackingRead
	if !x.read(&b) {
		return
	}
	x.judgeTracked(b)
	if b.Source != "cache" && b.Source != "live" || b.Delivery == nil && b.Source != "cache" && x.order.misdeeds == "" {
		x.wrong("its source is wrong") // a live call may find that the courier has given up
	}
}

// eventRead is an event of a timeline.
type eventRead struct {
	ID        string  `json:"id"`
	OrderID   string  `json:"order_id"`
	Event     string  `json:"event"`
	Status    *string `json:"status"`
	CreatedOn int64   `json:"created_on"`
}

// eventKinds are the types of SPEC, Events, and BEHAVIOUR, Lifecycle.
var eventKinds = []string{"order.created", "order.pending_payment", "order.paid", "order.processed", "order.failed_payment", "order.cancelled", "order.refund_requested",
	"order.refunded", "delivery.created", "delivery.shipped", "delivery.out_for_delivery", "delivery.delivered", "delivery.cancelled", "delivery.courier_assigned",
	"delivery.courier_update", "delivery.status_changed", "order.ready_for_pickup", "order.picked_up", "order.note"}

// judgeEvents: the events are this order's, in the order of their times, and their statuses
// follow the table.
func (x *asked) judgeEvents(list []eventRead) {
	status, at, seen := "", int64(0), map[string]bool{}
	for _, e := range list {
		if e.OrderID != x.order.id || seen[e.ID] || e.CreatedOn < at || !slices.Contains(eventKinds, e.Event) {
			x.wrong("the event %s does not belong there", told(e))
		}
		seen[e.ID], at = true, e.CreatedOn
		if e.Status == nil {
			continue
		}
		if status != "" && !leads(status, *e.Status) {
			x.wrong("event %s has the status %s after %s", e.ID, *e.Status, status)
		}
		status = *e.Status
	}
}

// tells are the events that tell of a status.
var tells = map[string]string{"paid": "order.paid", "processed": "order.processed", "shipped": "delivery.shipped", "out_for_delivery": "delivery.out_for_delivery",
	"delivered": "delivery.delivered", "ready_for_pickup": "order.ready_for_pickup", "picked_up": "order.picked_up", "cancelled": "order.cancelled", "refunded": "order.refunded"}

func (x *asked) judgeTimeline() {
	var b struct {
		Count  int
		Events []jsontext.Value
	}
	if !x.read(&b) {
		return
	}
	list, texts, times := make([]eventRead, len(b.Events)), make([]string, len(b.Events)), map[string]int{}
	for i, raw := range b.Events {
		if err := decode(raw, &list[i]); err != nil {
			x.wrong("an event cannot be read: %v", err)
			return
		}
		texts[i] = string(raw)
		times[list[i].Event]++
	}
	x.want("count", b.Count, len(list))
	x.judgeEvents(list)
	if n := len(x.before.timeline); n > len(texts) || !slices.Equal(x.before.timeline, texts[:n]) {
		x.wrong("the timeline had these events before: %v", x.before.timeline)
	}
	if len(texts) > len(x.order.known.timeline) {
		x.order.known.timeline = texts
	}
	if len(list) == 0 || list[0].Event != "order.created" || times["order.created"] != 1 {
		x.wrong("it begins with order.created, and has it once")
	}
	for _, status := range x.order.statuses() {
		if kind := tells[status]; kind != "" && times[kind] == 0 {
			x.wrong("the order was %s, and no event tells of that", status)
		}
	}
	for _, kind := range []string{"order.paid", "order.processed", "order.cancelled", "order.ready_for_pickup", "order.picked_up", "delivery.shipped", "delivery.delivered"} {
		if times[kind] > 1 {
			x.wrong("%s happened %d times", kind, times[kind])
		}
	}
}

// statuses are those that the order must have had, as far as its partner knew before.
func (s *story) statuses() (list []string) {
	way := []string{"paid", "processed", "ready_for_pickup", "picked_up"}
	if s.delivery {
		way = []string{"paid", "processed", "shipped", "out_for_delivery", "delivered"}
	}
	if !s.paidHere {
		way = way[1:]
	}
	list = append(list, s.known.status)
	if at := slices.Index(way, s.known.status); at >= 0 {
		list = append(list, way[:at]...)
		if s.known.status == "delivered" { // a drop-off may be the first thing that is heard
			list = slices.DeleteFunc(list, func(v string) bool { return v == "out_for_delivery" })
		}
	}
	return list
}

// judgeOrders judges a page of the list of orders. Those with updated_since come in the order
// of their changes.
func (x *asked) judgeOrders() {
	var b struct {
		Count  int
		Orders []jsontext.Value
	}
	if !x.read(&b) {
		return
	}
	x.want("count", b.Count, len(b.Orders))
	var before commerce.Millis
	for _, raw := range b.Orders {
		var o struct {
			ID        string
			UpdatedOn commerce.Millis `json:"updated_on"`
		}
		if err := decode(raw, &o); err != nil || o.UpdatedOn < before {
			x.wrong("order %s is out of order: %v", o.ID, err)
		}
		before = o.UpdatedOn
		x.p.orders[o.ID] = string(raw)
		switch s := x.p.w.stories[o.ID]; {
		case s == nil: // its call is under way
		case s.p != x.p:
			x.wrong("order %s is that of another partner", o.ID)
		default:
			x.judgeOrderOf(s, s.knownBefore(x.began), raw)
		}
	}
}
