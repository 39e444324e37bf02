package command

import "purveyor/internal/commerce"

// ReportOrder makes an order that was paid outside of the service. It begins as processed,
// and its goods leave the stock in the same step.
type ReportOrder struct {
	Actor      commerce.Actor
	OrderID    string // drawn by the caller, with the number of the store
	CustomerID string // drawn by the caller, used for a new customer
	StoreID    string
	ExternalID string
	// Lines as reported; their original prices are filled in here.
	Lines               []commerce.OrderLine
	Fulfillment         commerce.Fulfillment
	Given               commerce.GivenTotals
	Address             *commerce.DeliveryAddress
	PickupInstructions  string
	DropoffInstructions string
	ExternalPaymentID   string
}

func (c ReportOrder) externalKey() commerce.ExternalKey {
	return commerce.ExternalKey{PartnerID: c.Actor.PartnerID(), Mode: c.Actor.Mode, ExternalID: c.ExternalID}
}

// Needs names the store, the stock of the products, the external id, the customer, and the
// partner.
func (c ReportOrder) Needs() commerce.Needs {
	n := c.sale().needs(c.OrderID, c.Address)
	if c.Fulfillment == commerce.ByDelivery {
		n.NewDeliveries = n.NewOrders
	}
	n.External = []commerce.ExternalKey{c.externalKey()}
	return n
}

func (c ReportOrder) sale() sale { return sale{c.Actor, c.StoreID, c.Fulfillment, c.Lines} }

// Access implements commit.Keyed.
func (c ReportOrder) Access(rows *commerce.Rows) error { return c.sale().access(rows) }

// Decide makes the order. Refusals: 400 for a store or product that cannot be sold from,
// 403 for a store that the partner may not use, 409 for an external id that is taken, an
// inactive product and insufficient stock.
func (c ReportOrder) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	if err := c.check(rows); err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	lines := c.pricedLines(rows)
	totals, mismatch, err := commerce.ReportedTotals(lines, c.Given)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc := begin(commerce.Order{
		StoreID: c.StoreID, ID: c.OrderID, PartnerID: c.Actor.PartnerID(), Mode: c.Actor.Mode,
		Source: commerce.SourcePartner, ExternalID: c.ExternalID, CustomerID: c.CustomerID,
		Fulfillment: c.Fulfillment, Lines: lines, Address: c.Address,
		SubtotalCents: totals.Subtotal, TaxCents: totals.Tax, DeliveryFeeCents: totals.DeliveryFee, TotalCents: totals.Total,
		PickupInstructions: c.PickupInstructions, DropoffInstructions: c.DropoffInstructions,
		ExternalPaymentID: c.ExternalPaymentID, CreatedOn: now,
	}, rows, now, c.Actor)
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
	if _, err := c.sale().check(rows); err != nil {
		return err
	}
	if taken, ok := rows.External.Get(c.externalKey()); ok {
		err := commerce.Conflict("external_order_id_taken", "external_order_id %s already stands for another order", c.ExternalID)
		err.OrderID = taken.Order.OrderID
		return err
	}
	return nil
}

// pricedLines adds the catalog's price to lines that were sold for another price.
func (c ReportOrder) pricedLines(rows *commerce.Rows) []commerce.OrderLine {
	lines := make([]commerce.OrderLine, len(c.Lines))
	for i, l := range c.Lines {
		product, _ := rows.Stock.Get(commerce.ProductKey{StoreID: c.StoreID, ProductID: l.ProductID})
		if product.PriceCents != l.PriceCents {
			l.OriginalPriceCents = &product.PriceCents
		}
		lines[i] = l
	}
	return lines
}
