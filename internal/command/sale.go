package command

import (
	"strings"

	"purveyor/internal/commerce"
)

// sale is the common part of the commands that create an order: the actor, the store,
// the fulfillment and the lines.
type sale struct {
	actor       commerce.Actor
	storeID     string
	fulfillment commerce.Fulfillment
	lines       []commerce.OrderLine
}

// needs names the rows of a sale: the partner, the store, the stock of the products, the
// customer and the new order.
func (s sale) needs(orderID string, customer *commerce.DeliveryAddress) commerce.Needs {
	n := commerce.Needs{
		Partners:  []string{s.actor.PartnerID()},
		Stores:    []string{s.storeID},
		Stock:     commerce.ProductKeys(s.storeID, s.lines),
		NewOrders: []commerce.OrderKey{{StoreID: s.storeID, OrderID: orderID}},
	}
	n.Customers = customerKeys(s.storeID, s.actor.PartnerID(), s.actor.Mode, customer)
	return n
}

// access refuses an unknown store (400) and a store that the partner may not use (403).
func (s sale) access(rows *commerce.Rows) error {
	if _, ok := rows.Stores.Get(s.storeID); !ok {
		return commerce.Invalid("store_id", "store %s is not known", s.storeID)
	}
	partner, _ := rows.Partners.Get(s.actor.PartnerID())
	return partner.MayUse(s.storeID)
}

// check returns the store. It refuses what access refuses, and stores, fulfillments and
// products that cannot be sold (400).
func (s sale) check(rows *commerce.Rows) (commerce.Store, error) {
	store, _ := rows.Stores.Get(s.storeID)
	if err := s.access(rows); err != nil {
		return store, err
	}
	if obstacles := (commerce.Sale{Store: store, Fulfillment: s.fulfillment}).Obstacles(); len(obstacles) > 0 {
		if obstacles[0] == commerce.StoreInactive {
			return store, commerce.Invalid("store_id", "store %s is not active", s.storeID)
		}
		return store, commerce.Invalid("fulfillment_type", "store %s does not offer %s", s.storeID, s.fulfillment)
	}
	for i, l := range s.lines {
		if _, ok := rows.Stock.Get(commerce.ProductKey{StoreID: s.storeID, ProductID: l.ProductID}); !ok {
			return store, commerce.Invalid(commerce.Index("items", i, "product_id"), "product %s is not a product of store %s", l.ProductID, s.storeID)
		}
	}
	return store, nil
}

// contactsOf returns the contacts by which a store finds a customer: the e-mail address,
// then the phone number, as far as they are given.
func contactsOf(a *commerce.DeliveryAddress) (contacts []string) {
	if a == nil {
		return nil
	}
	if email := strings.TrimSpace(a.Email); email != "" {
		contacts = append(contacts, "email:"+strings.ToLower(email))
	}
	digits := strings.Map(func(r rune) rune {
		if r == '+' || ('0' <= r && r <= '9') {
			return r
		}
		return -1
	}, a.Phone)
	if digits != "" {
		contacts = append(contacts, "phone:"+digits)
	}
	return contacts
}

// customerKeys returns the keys of a customer's rows. Each partner has customers of its own,
// for live and for test, so that no partner learns from a customer id about another one.
func customerKeys(storeID, partnerID string, mode commerce.Mode, a *commerce.DeliveryAddress) (keys []commerce.CustomerKey) {
	for _, contact := range contactsOf(a) {
		keys = append(keys, commerce.CustomerKey{StoreID: storeID, PartnerID: partnerID, Mode: mode, Contact: contact})
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
	var fresh []commerce.CustomerKey
	found := false
	for _, k := range keys {
		known, ok := oc.rows.Customers.Get(k)
		if !ok {
			fresh = append(fresh, k)
		} else if !found {
			found, oc.order.CustomerID = true, known.ID
		}
	}
	for _, k := range fresh {
		oc.changes.Customers = append(oc.changes.Customers, commerce.Customer{
			CustomerKey: k, ID: oc.order.CustomerID, Name: a.Name, CreatedOn: oc.now,
		})
	}
}
