package command

import "purveyor/internal/commerce"

// CreateNativeOrder makes an order that a customer has paid at the store. It begins as processed,
// at the prices of the catalog, and its goods leave the stock in the same step.
type CreateNativeOrder struct {
	Sale
	Place            *commerce.Place // of the address; nil: not known, or a pickup
	DeliveryFeeCents commerce.Cents
	Expected         *commerce.Cents // the total that was paid; nil: whatever it is
}

// Needs names the store, the stock of the products and the customer.
func (c CreateNativeOrder) Needs() commerce.Needs {
	n := c.Sale.needs(c.Address)
	if c.Fulfillment == commerce.ByDelivery {
		n.NewDeliveries = n.NewOrders
	}
	return n
}

// Decide makes the order. Refusals: 400 for a store or product that cannot be sold from and
// for an address out of reach, 409 for an inactive product, insufficient stock and another total than
// the expected one.
func (c CreateNativeOrder) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	store, err := c.Sale.check(rows)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if store.ReachOf(c.Place).Beyond {
		return commerce.Order{}, commerce.Changes{}, commerce.OutOfRadius()
	}
	oc := c.Sale.begin(rows, now, atCatalogPrice)
	totals, err := commerce.CheckoutTotals(oc.order.Lines, c.DeliveryFeeCents, store.TaxRateBps)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if c.Expected != nil && totals.Total != *c.Expected {
		return commerce.Order{}, commerce.Changes{}, commerce.Conflict("changed_meanwhile", "The order costs %s by now, not %s", totals.Total.Dollars(), c.Expected.Dollars())
	}
	oc.setTotals(totals)
	oc.setCustomer(c.Address)
	oc.addTimeline(commerce.TimelineCreated, "", nil)
	if err := oc.transition(commerce.Report, "Paid at the store"); err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if c.Fulfillment == commerce.ByDelivery {
		oc.startDelivery()
	}
	return oc.order, oc.finish(), nil
}

// atCatalogPrice sells a line at the product's present price.
func atCatalogPrice(l *commerce.OrderLine, product commerce.Stock) { l.PriceCents = product.PriceCents }
