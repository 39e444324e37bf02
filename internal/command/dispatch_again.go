package command

import "purveyor/internal/commerce"

// DispatchAgain has another courier looked for: after all attempts have failed, after the
// goods came back, or instead of a courier that does not come.
type DispatchAgain struct {
	Facts  OrderFacts
	Actor  commerce.Actor
	Reason string
}

// Needs names the order with its partner and delivery.
func (c DispatchAgain) Needs() commerce.Needs {
	n := c.Facts.needsDelivery()
	c.Facts.needAttention(&n, commerce.AttentionCourierGaveUp, commerce.AttentionGoodsReturned)
	return n
}

// Decide starts another attempt, also beyond MaxDispatches. A courier that has the order is
// called off first: the job that does so starts the attempt, unless the courier was faster.
// Refusals: 409 for an order without anything to deliver, while a courier is looked for, and
// once a courier has the goods.
func (c DispatchAgain) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Delivery, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return commerce.Delivery{}, commerce.Changes{}, err
	}
	stored, ok := rows.Deliveries.Get(c.Facts.Key)
	if stored.Replacing {
		return stored, commerce.Changes{}, nil
	}
	if why := commerce.NoNewCourier(oc.order, stored, ok); why != "" {
		return stored, commerce.Changes{}, commerce.Conflict("not_dispatched_again", "%s", why)
	}
	if err := oc.fresh(); err != nil {
		return stored, commerce.Changes{}, err
	}
	d := stored
	oc.delivery = &d
	for _, code := range []commerce.AttentionCode{commerce.AttentionCourierGaveUp, commerce.AttentionGoodsReturned} {
		if a := oc.attention(code); a.Open() {
			oc.setAttention(a.Resolve(c.Actor.Name(), now))
		}
	}
	oc.addNote("dispatch_again", commerce.CleanText("Another courier is asked for: "+c.Reason, commerce.MaxNote))
	if d.State == commerce.DeliveryActive {
		d.Replacing = true
		oc.enqueue(commerce.JobCancelDelivery, oc.order.ID, false)
	} else {
		oc.startAttempt()
	}
	changes := oc.finish()
	return d, changes, nil
}
