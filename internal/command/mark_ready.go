package command

import (
	"slices"

	"purveyor/internal/commerce"
)

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
	return c.Facts.markPickup(rows, now, c.Actor, commerce.MarkReady, func(o *commerce.Order) { o.ReadyForPickupAt = at },
		commerce.ReadyForPickup, commerce.PickedUp)
}

// markPickup makes a transition of a pickup order, and notes when it took place. A pickup
// order in one of the statuses that the transition leads to is answered as it is.
func (f OrderFacts) markPickup(rows *commerce.Rows, now commerce.Millis, by commerce.Actor, trigger commerce.Trigger,
	note func(*commerce.Order), made ...commerce.OrderStatus) (Advanced, commerce.Changes, error) {
	oc, err := f.begin(rows, now, by)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if f.Fulfillment == commerce.ByPickup && slices.Contains(made, oc.order.Status) {
		return oc.replay()
	}
	note(&oc.order)
	if err := oc.transition(trigger, ""); err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	return Advanced{Order: oc.order}, oc.finish(), nil
}
