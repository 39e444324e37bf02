package command

import "purveyor/internal/commerce"

// UpdateMetadata changes the metadata of an order, whatever its status. There is no event:
// partners that follow the list of orders see it.
type UpdateMetadata struct {
	Facts   OrderFacts
	Actor   commerce.Actor
	Changes map[string]*string // as Metadata.With takes them
}

// Needs names the order and its partner.
func (c UpdateMetadata) Needs() commerce.Needs { return c.Facts.needs() }

// Access implements commit.Keyed.
func (c UpdateMetadata) Access(rows *commerce.Rows) error { return c.Facts.access(rows, c.Actor) }

// Decide merges the changes. Refusal: 400 for what Metadata.With refuses.
func (c UpdateMetadata) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err == nil {
		oc.order.Metadata, err = oc.order.Metadata.With(c.Changes)
	}
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.saveOrder = true // its updated_on moves with each call
	return oc.order, oc.finish(), nil
}
