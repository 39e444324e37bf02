package command

import "purveyor/internal/commerce"

// ReportOrder makes an order that was paid outside of the service. It begins as processed,
// and its goods leave the stock in the same step.
type ReportOrder struct {
	Sale
	ExternalID        string
	Given             commerce.GivenTotals
	ExternalPaymentID string
}

func (c ReportOrder) externalKey() commerce.ExternalKey {
	return commerce.ExternalKey{PartnerID: c.Actor.PartnerID(), Mode: c.Actor.Mode, ExternalID: c.ExternalID}
}

// Needs names the store, the stock of the products, the external id, the customer, and the
// partner.
func (c ReportOrder) Needs() commerce.Needs {
	n := c.Sale.needs(c.Address)
	if c.Fulfillment == commerce.ByDelivery {
		n.NewDeliveries = n.NewOrders
	}
	n.External = []commerce.ExternalKey{c.externalKey()}
	return n
}

// Decide makes the order. Refusals: 400 for a store or product that cannot be sold from,
// 403 for a store that the partner may not use, 409 for an external id that is taken, an
// inactive product and insufficient stock.
func (c ReportOrder) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	if err := c.check(rows); err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	totals, mismatch, err := commerce.ReportedTotals(c.Lines, c.Given)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc := c.Sale.begin(rows, now, noteOriginalPrice)
	oc.setTotals(totals)
	oc.order.ExternalID, oc.order.ExternalPaymentID = c.ExternalID, c.ExternalPaymentID
	oc.setCustomer(c.Address)
	oc.addTimeline(commerce.TimelineCreated, "", nil)
	if err := oc.transition(commerce.Report, ""); err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if mismatch != "" {
		oc.addNote("totals_mismatch", mismatch)
	}
	if c.Fulfillment == commerce.ByDelivery {
		oc.startDelivery()
	}
	oc.changes.External = []commerce.ExternalRef{{ExternalKey: c.externalKey(), Order: oc.order.Key()}}
	return oc.order, oc.finish(), nil
}

func (c ReportOrder) check(rows *commerce.Rows) error {
	if _, err := c.Sale.check(rows); err != nil {
		return err
	}
	if taken, ok := rows.External.Get(c.externalKey()); ok {
		err := commerce.Conflict("external_order_id_taken", "external_order_id %s already stands for another order", c.ExternalID)
		err.OrderID = taken.Order.OrderID
		return err
	}
	return nil
}

// noteOriginalPrice adds the catalog's price to a line that was sold for another price.
func noteOriginalPrice(l *commerce.OrderLine, product commerce.Stock) {
	if product.PriceCents != l.PriceCents {
		l.OriginalPriceCents = &product.PriceCents
	}
}
