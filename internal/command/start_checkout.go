package command

import (
	"time"

	"purveyor/internal/commerce"
)

// StartCheckout makes an order that the customer has still to pay, and the job that opens a
// session at the payment processor. It checks the stock and deducts nothing. A store may have
// it hold the goods, with a job that gives them back if the customer does not pay in time.
type StartCheckout struct {
	Sale
	Titles           []commerce.LineTitle // of the lines
	Place            *commerce.Place      // of the address; nil: not known, or a pickup
	CustomerEmail    string
	DeliveryFeeCents commerce.Cents

	Processor             string // takes the payment
	SuccessURL, CancelURL string
}

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
	n := c.Sale.needs(c.customer())
	n.NewPayments = n.NewOrders
	return n
}

// Decide makes the order and the job that opens the session. Refusals: 400 for
// a store or product that cannot be sold from and for an address out of reach,
// 403 for a store of others, 409 for an inactive product and insufficient stock.
func (c StartCheckout) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	store, err := c.Sale.check(rows)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	if store.ReachOf(c.Place).Beyond {
		return commerce.Order{}, commerce.Changes{}, commerce.OutOfRadius()
	}
	oc := c.Sale.begin(rows, now, atCatalogPrice)
	oc.setCustomer(c.customer())
	oc.addTimeline(commerce.TimelineCreated, "", nil)
	if store.HoldMinutes > 0 {
		oc.order.HeldUntil = now.Add(time.Duration(store.HoldMinutes) * time.Minute)
		oc.enqueueAt(commerce.JobEndHold, oc.order.ID, oc.order.HeldUntil)
	}
	if err := oc.transition(commerce.StartCheckout, ""); err != nil { // short stock is refused before a total that is wrong
		return commerce.Order{}, commerce.Changes{}, err
	}
	totals, err := commerce.CheckoutTotals(oc.order.Lines, c.DeliveryFeeCents, store.TaxRateBps)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.setTotals(totals)
	oc.payment = &commerce.Payment{
		StoreID: c.StoreID, OrderID: c.OrderID, Processor: c.Processor, SuccessURL: c.SuccessURL, CancelURL: c.CancelURL, StoreName: store.Name, Titles: c.Titles,
		TraceID: c.Actor.TraceID, State: commerce.PaymentOpening, CreatedOn: now, UpdatedOn: now,
	}
	oc.enqueue(commerce.JobOpenSession, oc.order.ID, true)
	return oc.order, oc.finish(), nil
}
