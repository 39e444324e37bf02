package command

import (
	"strings"

	"purveyor/internal/commerce"
)

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
