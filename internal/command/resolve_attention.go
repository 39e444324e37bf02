package command

import "purveyor/internal/commerce"

// ResolveAttention records that staff have dealt with a reason to look at an order.
type ResolveAttention struct {
	Facts OrderFacts
	Actor commerce.Actor
	Code  commerce.AttentionCode
	// Since is when the reason was raised that the person saw. One that was raised again
	// since is another one.
	Since commerce.Millis
	Note  string // what was done; may be empty
}

// Needs names the order with its partner, and the reason.
func (c ResolveAttention) Needs() commerce.Needs {
	n := c.Facts.needs()
	c.Facts.needAttention(&n, c.Code)
	return n
}

// Decide resolves the reason. One that is resolved already stays as it is. Refusals: 404 for
// a reason that was never raised, 409 for one that was raised again meanwhile, and for a
// requested refund, which a refund or a decline resolves.
func (c ResolveAttention) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Attention, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return commerce.Attention{}, commerce.Changes{}, err
	}
	a := oc.attention(c.Code)
	switch {
	case a.Since == 0:
		return a, commerce.Changes{}, commerce.NotFound("reason")
	case !a.Open():
		return a, commerce.Changes{}, nil
	case c.Since != 0 && a.Since != c.Since:
		return a, commerce.Changes{}, commerce.Conflict("changed_meanwhile", "This was raised again since you opened the page")
	case c.Code == commerce.AttentionRefundRequested:
		return a, commerce.Changes{}, commerce.Conflict("refund_requested", "Refund the order or decline; this resolves by itself then")
	}
	if c.Note != "" {
		a.Detail = commerce.CleanText(c.Note+" (was: "+a.Detail+")", commerce.MaxNote)
	}
	a = a.Resolve(c.Actor.Name(), now)
	oc.setAttention(a)
	return a, oc.finish(), nil
}
