package command

import (
	"strings"

	"purveyor/internal/commerce"
)

// contactsOf are what a store knows a customer by: the e-mail address, then the
// phone number, as far as they are given.
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

// customerKeys are where a store keeps the customer of a partner: each partner
// has its own, live and test apart, so that an id tells no partner about another.
func customerKeys(storeID, partnerID string, mode commerce.Mode, a *commerce.DeliveryAddress) (keys []commerce.CustomerKey) {
	for _, contact := range contactsOf(a) {
		keys = append(keys, commerce.CustomerKey{StoreID: storeID, PartnerID: partnerID, Mode: mode, Contact: contact})
	}
	return keys
}

// customer gives the order the customer that is known by a contact, the e-mail
// address first, or else the one whose id the caller drew. The customer is known
// by every contact of the order from then on, except for those that belong to
// another one. Without a contact the id stands for this order's customer alone,
// and there is nothing to keep.
func (s *story) customer(rows *commerce.Rows, a *commerce.DeliveryAddress) {
	keys := customerKeys(s.order.StoreID, s.order.PartnerID, s.order.Mode, a)
	if len(keys) == 0 {
		return
	}
	s.order.CustomerEmail = a.Email
	var fresh []commerce.CustomerKey
	found := false
	for _, k := range keys {
		known, ok := rows.Customers.Get(k)
		if !ok {
			fresh = append(fresh, k)
		} else if !found {
			found, s.order.CustomerID = true, known.ID
		}
	}
	for _, k := range fresh {
		s.changes.Customers = append(s.changes.Customers, commerce.Customer{
			CustomerKey: k, ID: s.order.CustomerID, Name: a.Name, CreatedOn: s.now,
		})
	}
}
