package command

import "purveyor/internal/commerce"

// RequestRefund records that a customer wants the money back. The order waits until staff
// refund it or decline.
type RequestRefund struct {
	Facts  OrderFacts
	Actor  commerce.Actor
	Reason string
}

// Needs names the order and its partner.
func (c RequestRefund) Needs() commerce.Needs {
	n := c.Facts.needs()
	c.Facts.needAttention(&n, commerce.AttentionRefundRequested)
	return n
}

// Decide requests. A repeat changes nothing. Refusals: 409 for an order that is not paid, or
// that has ended without its goods.
func (c RequestRefund) Decide(rows *commerce.Rows, now commerce.Millis) (Advanced, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	if oc.order.Status == commerce.RefundRequested {
		return oc.replay()
	}
	reason := commerce.CleanText(c.Reason, commerce.MaxNote)
	if err := oc.transition(commerce.RequestRefund, reason); err != nil {
		return Advanced{}, commerce.Changes{}, err
	}
	oc.raiseWithoutNote(commerce.AttentionRefundRequested, reason)
	return Advanced{Order: oc.order}, oc.finish(), nil
}
