package commerce

// CodeInsufficientStock is the code of the refusal of a sale for which stock is short.
const CodeInsufficientStock = "insufficient_stock"

// Insufficient is the refusal of a sale. It names the product, the requested and the
// available quantity (SPEC, Errors).
func Insufficient(name, productID string, requested, available int64) *Error {
	return Conflict(CodeInsufficientStock, "Insufficient stock for %s (%s): requested %d, available %d",
		name, productID, requested, available)
}

// Sell deducts the demand of a new order. It refuses a product that is not active.
func (s Stock) Sell(d Demand, mode Mode) (Stock, error) {
	if !s.Active {
		return s, Conflict("product_inactive", "%s (%s) is not active", s.Name, s.ProductID)
	}
	return s.Deduct(d, mode)
}

// Deduct deducts the demand of an order, whether or not the product is active. A product
// that was switched off is refused to new orders only, never to one that was paid. Sold
// figures change for live orders only.
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

// Restore undoes Deduct. A sold figure that an upsert has lowered meanwhile stops at zero.
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
