package simulation

import (
	"slices"
	"time"

	"purveyor/internal/commerce"
)

// event is what the feed tells, and a webhook brings (SPEC, Events).
type event struct {
	ID        string
	Event     string
	OrderID   string  `json:"order_id"`
	Timestamp string  `json:"timestamp"`
	Trace     *string `json:"trace_id"`
	Data      struct {
		Order    *orderRead
		Previous *string `json:"previous_status"`
		ID       string  `json:"courier_delivery_id"`
		Refunded *int64  `json:"amount_refunded_cents"`
	}
}

// becomes are the statuses that an order has after an event.
var becomes = map[string]string{"order.accepted": "processed", "order.paid": "paid", "order.processed": "processed", "order.shipped": "shipped",
	"order.out_for_delivery": "out_for_delivery", "order.delivered": "delivered", "order.ready_for_pickup": "ready_for_pickup", "order.picked_up": "picked_up", "order.cancelled": "cancelled"}

// checkEvents judges all events that a partner has read, order by order.
func (p *partner) checkEvents() {
	ids := make([]string, 0, len(p.read))
	for id := range p.read {
		ids = append(ids, id)
	}
	slices.Sort(ids) // as in the feed
	of := map[string][]event{}
	for _, id := range ids {
		var e event
		err := decode([]byte(p.read[id]), &e)
		s := p.w.stories[e.OrderID]
		if err != nil || s == nil || s.p != p || !instant(e.Timestamp) || e.Trace == nil {
			p.w.broke("the feed of %s tells of no order of its own: %s, %v", p.id, p.read[id], err)
			continue
		}
		of[e.OrderID] = append(of[e.OrderID], e)
	}
	for _, s := range p.w.told {
		if s.p == p {
			s.checkEvents(of[s.id])
		}
	}
}

// checkEvents: the events of the order have ascending times, each tells of a change that its status
// allows, and none is missing of those that its last status says have happened.
func (s *story) checkEvents(list []event) {
	status, at, times := "", time.Time{}, map[string]int{}
	if s.paidHere {
		status = "pending_payment"
	}
	for _, e := range list {
		times[e.Event]++
		when, _ := time.Parse(time.RFC3339Nano, e.Timestamp)
		if !when.After(at) {
			s.broke("event %s is not later than the one before it", told(e))
		}
		at = when
		to, moves := becomes[e.Event]
		if (e.Event == "order.refunded" || e.Event == "order.refund_failed") && e.Data.Order != nil {
			to, moves = e.Data.Order.Status, true
		}
		if !moves {
			continue
		}
		if o := e.Data.Order; o == nil || o.Status != to || o.ID != s.id || !leads(status, to) || o.Total != s.expected().Total {
			s.broke("the order was %s, and event %s tells of it wrongly", status, told(e))
		}
		status = to
	}
	s.known.status = s.last
	for _, was := range s.statuses() {
		for kind, to := range becomes {
			other := kind == "order.accepted" && s.paidHere || kind == "order.processed" && !s.paidHere
			if to == was && !other && times[kind] != 1 {
				s.broke("the order was %s, and %s was sent %d times", was, kind, times[kind])
			}
		}
	}
	if refunds := s.last == string(commerce.Refunded); refunds && times["order.refunded"] == 0 {
		s.broke("the order is refunded, and no event tells of that")
	}
	if d := times["delivery.delivered"]; s.last == "delivered" && d != 1 {
		s.broke("the order is delivered, and delivery.delivered was sent %d times", d)
	}
}

// checkList: the list of orders has told the partner how each order is now.
func (p *partner) checkList(o commerce.Order) {
	var read orderRead
	err := decode([]byte(p.orders[o.ID]), &read)
	if err != nil || read.Status != string(o.Status) || read.UpdatedOn != int64(o.UpdatedOn) || read.Refunded != int64(o.RefundedCents) {
		p.w.broke("order %s is %s since %d, and the list of %s tells %s: %v", o.ID, o.Status, o.UpdatedOn, p.id, p.orders[o.ID], err)
	}
}
