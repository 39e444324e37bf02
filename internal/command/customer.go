package command

import (
	"strings"

	"purveyor/internal/commerce"
)

// contactOf is what a store knows a customer by: the e-mail address, else the
// phone number. Empty: nothing.
func contactOf(a *commerce.DeliveryAddress) string {
	switch {
	case a == nil:
		return ""
	case strings.TrimSpace(a.Email) != "":
		return "email:" + strings.ToLower(strings.TrimSpace(a.Email))
	}
	digits := strings.Map(func(r rune) rune {
		if r == '+' || ('0' <= r && r <= '9') {
			return r
		}
		return -1
	}, a.Phone)
	if digits == "" {
		return ""
	}
	return "phone:" + digits
}

// customer gives the order the customer that the store knows by this contact,
// or makes the one whose id the caller drew. Without a contact the id stands
// for this order's customer alone, and there is nothing to keep.
func (s *story) customer(rows *commerce.Rows, a *commerce.DeliveryAddress) {
	contact := contactOf(a)
	if contact == "" {
		return
	}
	s.order.CustomerEmail = a.Email
	known, ok := rows.Customers.Get(commerce.CustomerKey{StoreID: s.order.StoreID, Contact: contact})
	if ok {
		s.order.CustomerID = known.ID
		return
	}
	s.changes.Customers = append(s.changes.Customers, commerce.Customer{
		StoreID: s.order.StoreID, Contact: contact, ID: s.order.CustomerID, Name: a.Name, CreatedOn: s.now,
	})
}
