package commerce

// Insufficient is the refusal of a sale: it names the product and gives the
// requested and the available quantity (SPEC, Errors).
func Insufficient(name, productID string, requested, available int64) *Error {
	return Conflict("insufficient_stock", "Insufficient stock for %s (%s): requested %d, available %d",
		name, productID, requested, available)
}

// Sell takes what a new order demands. A product that is switched off is refused.
func (s Stock) Sell(d Demand, mode Mode) (Stock, error) {
	if !s.Active {
		return s, Conflict("product_inactive", "%s (%s) is not active", s.Name, s.ProductID)
	}
	return s.Deduct(d, mode)
}

// Deduct takes what an order demands, whether or not the product is active: that
// decides about new orders, never about what was paid for. Sold figures move for
// live orders only.
func (s Stock) Deduct(d Demand, mode Mode) (Stock, error) {
	if d.Quantity > s.Quantity {
		return s, Insufficient(s.Name, s.ProductID, d.Quantity, s.Quantity)
	}
	s.Quantity -= d.Quantity
	if mode == Live {
		s.SoldCount += d.Quantity
		s.SoldCents += d.Cents
	}
	return s, nil
}

// Restore gives back what Deduct took. A sold figure that an upsert has set
// lower meanwhile stops at zero.
func (s Stock) Restore(d Demand, mode Mode) Stock {
	s.Quantity += d.Quantity
	if mode == Live {
		s.SoldCount = max(0, s.SoldCount-d.Quantity)
		s.SoldCents = max(0, s.SoldCents-d.Cents)
	}
	return s
}

// Adjust adds a delta, which may be negative.
func (s Stock) Adjust(delta int64) (Stock, error) {
	next := s.Quantity + delta
	switch {
	case next < 0:
		return s, Insufficient(s.Name, s.ProductID, -delta, s.Quantity)
	case next > MaxStock:
		return s, Invalid("", "%s (%s) would exceed the largest stock of %d", s.Name, s.ProductID, MaxStock)
	}
	s.Quantity = next
	return s, nil
}
