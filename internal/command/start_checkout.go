package command

import "purveyor/internal/commerce"

// StartCheckout makes an order that the customer is still to pay, and asks for
// a session at the payment processor. Stock is looked at and left as it is.
type StartCheckout struct {
	Actor       commerce.Actor
	OrderID     string // drawn by the caller, with the number of the store
	CustomerID  string // drawn by the caller, used if the customer is not known yet
	StoreID     string
	Lines       []commerce.OrderLine // without prices, which are the catalog's
	Titles      []commerce.LineTitle // of the lines
	Fulfillment commerce.Fulfillment

	Address             *commerce.DeliveryAddress
	Place               *commerce.Place // of the address; nil: not known, or a pickup
	CustomerEmail       string
	DeliveryFeeCents    commerce.Cents
	PickupInstructions  string
	DropoffInstructions string

	Processor             string // that is to take the payment
	SuccessURL, CancelURL string
	Answers               commerce.ReplyKey // whose answer is the session
}

func (c StartCheckout) sale() sale { return sale{c.Actor, c.StoreID, c.Fulfillment, c.Lines} }

// customer is who the order is for, as far as it was said.
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
func (c StartCheckout) Decide(rows *commerce.Rows, now int64) (commerce.Order, commerce.Changes, error) {
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
	for _, d := range commerce.Demands(lines) {
		stock, _ := rows.Stock.Get(commerce.ProductKey{StoreID: c.StoreID, ProductID: d.ProductID})
		if _, err := stock.Sell(d, c.Actor.Mode); err != nil {
			return commerce.Order{}, commerce.Changes{}, err
		}
	}
	totals, err := commerce.CheckoutTotals(lines, c.DeliveryFeeCents, store.TaxRateBps)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	s := begin(commerce.Order{
		StoreID: c.StoreID, ID: c.OrderID, PartnerID: c.Actor.Partner.ID, Mode: c.Actor.Mode,
		Source: commerce.SourcePartner, CustomerID: c.CustomerID, Fulfillment: c.Fulfillment, Lines: lines, Address: c.Address,
		SubtotalCents: totals.Subtotal, TaxCents: totals.Tax, DeliveryFeeCents: totals.DeliveryFee, TotalCents: totals.Total,
		PickupInstructions: c.PickupInstructions, DropoffInstructions: c.DropoffInstructions, CreatedOn: now,
	}, rows, now, c.Actor.TraceID)
	s.customer(rows, c.customer())
	s.tell(commerce.TimelineCreated, "", nil)
	s.move(commerce.TransitionOf(commerce.StartCheckout), "", nil)
	s.changes.Payments = []commerce.Payment{{
		StoreID: c.StoreID, OrderID: c.OrderID, Processor: c.Processor, SuccessURL: c.SuccessURL, CancelURL: c.CancelURL, StoreName: store.Name, Titles: c.Titles,
		Answers: c.Answers, TraceID: c.Actor.TraceID, State: commerce.PaymentOpening, CreatedOn: now, UpdatedOn: now,
	}}
	s.ask(commerce.JobOpenSession, s.order.ID, true)
	order, changes := s.end()
	return order, changes, nil
}
