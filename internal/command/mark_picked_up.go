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
	order, err := c.Facts.load(rows)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if order.Fulfillment == commerce.ByPickup && order.Status == commerce.PickedUp {
		return Advanced{Order: order, Replay: true}, commerce.Changes{}, nil
	}
	oc := begin(order, rows, now, c.Actor)
	oc.order.PickedUpAt = at
	if err := oc.transition(commerce.MarkPickedUp, ""); err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	return Advanced{Order: oc.order}, oc.finish(), nil
}
