package command

import "purveyor/internal/commerce"

// MarkPickedUp records that the customer has the goods.
type MarkPickedUp struct {
	Facts      OrderFacts
	Actor      commerce.Actor
	PickedUpAt commerce.Millis // 0: now
}

// Needs names the order and its partner.
func (c MarkPickedUp) Needs() commerce.Needs { return c.Facts.needs(commerce.MarkPickedUp) }

// Decide marks the order.
func (c MarkPickedUp) Decide(rows *commerce.Rows, now commerce.Millis) (Advanced, commerce.Changes, error) {
	at, err := commerce.Moment("picked_up_at", c.PickedUpAt, now)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	return c.Facts.markPickup(rows, now, c.Actor, commerce.MarkPickedUp, func(o *commerce.Order) { o.PickedUpAt = at }, commerce.PickedUp)
}
