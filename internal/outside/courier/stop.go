package courier

import "purveyor/internal/commerce"

// PickupAt is the stop at which a courier collects the goods of a store.
func PickupAt(s commerce.Store, instructions string) Stop {
	stop := Stop{Name: s.Name, Phone: s.Phone, Instructions: instructions,
		Address: commerce.Address{Line1: s.Address, City: s.City, State: s.State, PostalCode: s.ZipCode, Country: "US"}}
	if at, known := s.Point(); known {
		stop.At = &at
	}
	return stop
}

// DropoffAt is the customer's stop; a is nil for an order without an address.
func DropoffAt(a *commerce.DeliveryAddress, instructions string) Stop {
	if a == nil {
		return Stop{Instructions: instructions}
	}
	return Stop{Name: a.Name, Phone: a.Phone, Address: a.Address, Instructions: instructions}
}
