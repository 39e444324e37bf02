package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// Sale is the common part of the commands that create an order.
type Sale struct {
	Actor       commerce.Actor
	OrderID     string // drawn by the caller, with the number of the store
	CustomerID  string // drawn by the caller, used for a new customer
	StoreID     string
	Fulfillment commerce.Fulfillment
	// Lines are as reported, or without prices for a checkout, which uses the catalog's.
	Lines               []commerce.OrderLine
	Address             *commerce.DeliveryAddress
	PickupInstructions  string
	DropoffInstructions string
	Metadata            commerce.Metadata
	ReadyInMinutes      *int64 // nil: not known
}

// needs names the rows of a sale: the partner, the store, the stock of the products, the
// customer and the new order.
func (s Sale) needs(customer *commerce.DeliveryAddress) commerce.Needs {
	return commerce.Needs{
		Partners:  s.partner(),
		Stores:    []string{s.StoreID},
		Stock:     commerce.ProductKeys(s.StoreID, s.Lines),
		NewOrders: []commerce.OrderKey{{StoreID: s.StoreID, OrderID: s.OrderID}},
		Customers: customerKeys(s.StoreID, s.Actor.PartnerID(), s.Actor.Mode, customer),
	}
}

// partner is the partner that sells, if the merchant does not.
func (s Sale) partner() []string {
	if s.Actor.Kind == commerce.ActorStaff {
		return nil
	}
	return []string{s.Actor.PartnerID()}
}

// Access implements commit.Keyed. It refuses an unknown store (400) and a store that the
// partner may not use (403). The front checks the rights of staff.
func (s Sale) Access(rows *commerce.Rows) error {
	if _, ok := rows.Stores.Get(s.StoreID); !ok {
		return commerce.Invalid("store_id", "store %s is not known", s.StoreID)
	}
	if s.partner() == nil {
		return nil
	}
	partner, _ := rows.Partners.Get(s.Actor.PartnerID())
	return partner.Under(s.Actor.Key).MayUse(s.StoreID)
}

// check returns the store. It refuses what Access refuses, and stores, fulfillments and
// products that cannot be sold (400).
func (s Sale) check(rows *commerce.Rows) (commerce.Store, error) {
	store, _ := rows.Stores.Get(s.StoreID)
	if err := s.Access(rows); err != nil {
		return store, err
	}
	if obstacles := (commerce.Sale{Store: store, Fulfillment: s.Fulfillment}).Obstacles(); len(obstacles) > 0 {
		if obstacles[0] == commerce.StoreInactive {
			return store, commerce.Invalid("store_id", "store %s is not active", s.StoreID)
		}
		return store, commerce.Invalid("fulfillment_type", "store %s does not offer %s", s.StoreID, s.Fulfillment)
	}
	for i, l := range s.Lines {
		if _, ok := rows.Stock.Get(commerce.ProductKey{StoreID: s.StoreID, ProductID: l.ProductID}); !ok {
			return store, commerce.Invalid(commerce.Index("items", i, "product_id"), "product %s is not a product of store %s", l.ProductID, s.StoreID)
		}
	}
	return store, nil
}

// begin starts the change that makes the order, without its totals. price changes a line by
// the product's stock row.
func (s Sale) begin(rows *commerce.Rows, now commerce.Millis, price func(*commerce.OrderLine, commerce.Stock)) *orderChange {
	lines := make([]commerce.OrderLine, len(s.Lines))
	for i, l := range s.Lines {
		product, _ := rows.Stock.Get(commerce.ProductKey{StoreID: s.StoreID, ProductID: l.ProductID})
		price(&l, product)
		lines[i] = l
	}
	source := commerce.SourcePartner
	if s.partner() == nil {
		source = commerce.SourceService
	}
	return begin(commerce.Order{
		StoreID: s.StoreID, ID: s.OrderID, PartnerID: s.Actor.PartnerID(), Mode: s.Actor.Mode,
		Source: source, CustomerID: s.CustomerID, Fulfillment: s.Fulfillment, Lines: lines, Address: s.Address,
		PickupInstructions: s.PickupInstructions, DropoffInstructions: s.DropoffInstructions, Metadata: s.Metadata, ReadyInMinutes: s.ReadyInMinutes, CreatedOn: now,
	}, rows, now, s.Actor)
}

// setTotals sets the totals of a new order.
func (oc *orderChange) setTotals(t commerce.Totals) {
	o := &oc.order
	o.SubtotalCents, o.TaxCents, o.DeliveryFeeCents, o.TotalCents = t.Subtotal, t.Tax, t.DeliveryFee, t.Total
}

// customerKeys returns the keys of a customer's rows: the e-mail address, then the phone
// number, as far as they are given. Each partner has customers of its own, for live and for
// test, so that no partner learns from a customer id about another one.
func customerKeys(storeID, partnerID string, mode commerce.Mode, a *commerce.DeliveryAddress) (keys []commerce.CustomerKey) {
	if a == nil {
		return nil
	}
	for _, contact := range []string{commerce.EmailContact(a.Email), commerce.PhoneContact(a.Phone)} {
		if contact != "" {
			keys = append(keys, commerce.CustomerKey{StoreID: storeID, PartnerID: partnerID, Mode: mode, Contact: contact})
		}
	}
	return keys
}

// setCustomer gives the order the stored customer with one of its contacts, the e-mail
// address first, or else a new customer with the id that the caller drew. From then on the
// customer is found by every contact of the order, except for contacts of another
// customer. Without a contact the id belongs to this order alone, and nothing is stored.
func (oc *orderChange) setCustomer(a *commerce.DeliveryAddress) {
	keys := customerKeys(oc.order.StoreID, oc.order.PartnerID, oc.order.Mode, a)
	if len(keys) == 0 {
		return
	}
	oc.order.CustomerEmail = a.Email
	for _, k := range slices.Backward(keys) {
		if known, ok := oc.rows.Customers.Get(k); ok {
			oc.order.CustomerID = known.ID
		}
	}
	for _, k := range keys {
		if _, ok := oc.rows.Customers.Get(k); !ok {
			oc.changes.Customers = append(oc.changes.Customers, commerce.Customer{
				CustomerKey: k, ID: oc.order.CustomerID, Name: a.Name, CreatedOn: oc.now,
			})
		}
	}
}
