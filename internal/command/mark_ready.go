package command

import "purveyor/internal/commerce"

// MarkReady records that a pickup order is ready for its customer.
type MarkReady struct {
	Facts   OrderFacts
	Actor   commerce.Actor
	ReadyAt commerce.Millis // 0: now
}

// Needs names the order and its partner.
func (c MarkReady) Needs() commerce.Needs { return c.Facts.needs(commerce.MarkReady) }

// Decide marks the order and adds the job that e-mails the customer.
func (c MarkReady) Decide(rows *commerce.Rows, now commerce.Millis) (Advanced, commerce.Changes, error) {
	at, err := commerce.Moment("ready_at", c.ReadyAt, now)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	order, err := c.Facts.load(rows)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if order.Fulfillment == commerce.ByPickup && (order.Status == commerce.ReadyForPickup || order.Status == commerce.PickedUp) {
		return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
	}
	oc := begin(order, rows, now, c.Actor)
	oc.order.ReadyForPickupAt = at
	if err := oc.transition(commerce.MarkReady, ""); err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	return Advanced{Order: oc.order}, oc.finish(), nil
}
