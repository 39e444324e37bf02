package command

import "purveyor/internal/commerce"

// DeclineRefund takes an order back to where it stood before its refund was requested.
type DeclineRefund struct {
	Facts  OrderFacts
	Actor  commerce.Actor
	Reason string
}

// Needs names the order and its partner.
func (c DeclineRefund) Needs() commerce.Needs { return c.Facts.needs(commerce.DeclineRefund) }

// Decide declines. Refusal: 409 if no refund is requested.
func (c DeclineRefund) Decide(rows *commerce.Rows, now commerce.Millis) (Advanced, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err == nil {
		err = oc.transition(commerce.DeclineRefund, commerce.CleanText(c.Reason, commerce.MaxNote))
	}
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	return Advanced{Order: oc.order}, oc.finish(), nil
}
