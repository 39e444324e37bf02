package command

import "purveyor/internal/commerce"

// StartCheckout makes an order that the customer has still to pay, and the job that opens a
// session at the payment processor. It checks the stock and deducts nothing.
type StartCheckout struct {
	Actor       commerce.Actor
	OrderID     string // drawn by the caller, with the number of the store
	CustomerID  string // drawn by the caller, used for a new customer
	StoreID     string
	Lines       []commerce.OrderLine // without prices; the catalog's are used
	Titles      []commerce.LineTitle // of the lines
	Fulfillment commerce.Fulfillment

	Address             *commerce.DeliveryAddress
	Place               *commerce.Place // of the address; nil: not known, or a pickup
	CustomerEmail       string
	DeliveryFeeCents    commerce.Cents
	PickupInstructions  string
	DropoffInstructions string

	Processor             string // takes the payment
	SuccessURL, CancelURL string
}

func (c StartCheckout) sale() sale { return sale{c.Actor, c.StoreID, c.Fulfillment, c.Lines} }

// customer is the customer as far as the partner named one.
func (c StartCheckout) customer() *commerce.DeliveryAddress {
	var a commerce.DeliveryAddress
	if c.Address != nil {
		a = *c.Address
	}
	if c.CustomerEmail != "" {
		a.Email = c.CustomerEmail
	}
	return &a
}

// Needs names the store, the stock of the products, the customer and the
// partner, and makes the order with its payment.
func (c StartCheckout) Needs() commerce.Needs {
	n := c.sale().needs(c.OrderID, c.customer())
	n.NewPayments = n.NewOrders
	return n
}

// Access implements commit.Keyed.
func (c StartCheckout) Access(rows *commerce.Rows) error { return c.sale().access(rows) }

// Decide makes the order and the job that opens the session. Refusals: 400 for
// a store or product that cannot be sold from and for an address out of reach,
// 403 for a store of others, 409 for an inactive product and insufficient stock.
func (c StartCheckout) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	store, err := c.sale().check(rows)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if store.ReachOf(c.Place).Beyond {
		return commerce.Order{}, commerce.Changes{}, commerce.OutOfRadius()
	}
	lines := make([]commerce.OrderLine, len(c.Lines))
	for i, l := range c.Lines {
		product, _ := rows.Stock.Get(commerce.ProductKey{StoreID: c.StoreID, ProductID: l.ProductID})
		l.PriceCents = product.PriceCents
		lines[i] = l
	}
	oc := begin(commerce.Order{
		StoreID: c.StoreID, ID: c.OrderID, PartnerID: c.Actor.PartnerID(), Mode: c.Actor.Mode,
		Source: commerce.SourcePartner, CustomerID: c.CustomerID, Fulfillment: c.Fulfillment, Lines: lines, Address: c.Address,
		PickupInstructions: c.PickupInstructions, DropoffInstructions: c.DropoffInstructions, CreatedOn: now,
	}, rows, now, c.Actor)
	oc.setCustomer(c.customer())
	oc.addTimeline(commerce.TimelineCreated, "", nil)
	if err := oc.transition(commerce.StartCheckout, ""); err != nil { // short stock is refused before a total that is wrong
		return commerce.Order{}, commerce.Changes{}, err
	}
	totals, err := commerce.CheckoutTotals(lines, c.DeliveryFeeCents, store.TaxRateBps)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.order.SubtotalCents, oc.order.TaxCents = totals.Subtotal, totals.Tax
	oc.order.DeliveryFeeCents, oc.order.TotalCents = totals.DeliveryFee, totals.Total
	oc.payment = &commerce.Payment{
		StoreID: c.StoreID, OrderID: c.OrderID, Processor: c.Processor, SuccessURL: c.SuccessURL, CancelURL: c.CancelURL, StoreName: store.Name, Titles: c.Titles,
		TraceID: c.Actor.TraceID, State: commerce.PaymentOpening, CreatedOn: now, UpdatedOn: now,
	}
	oc.enqueue(commerce.JobOpenSession, oc.order.ID, true)
	return oc.order, oc.finish(), nil
}
