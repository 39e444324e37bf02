package commerce

import "fmt"

// Obstacle is a reason why a cart cannot be sold now, as SPEC names it (Checkout and
// orders, preflight).
type Obstacle string

// The obstacles.
const (
	StoreInactive    Obstacle = "store_inactive"
	ItemUnavailable  Obstacle = "item_unavailable"
	OutOfReach       Obstacle = "out_of_radius"
	QuoteUnavailable Obstacle = "quote_unavailable"
	NoDelivery       Obstacle = "store_delivery_disabled"
	NoPickup         Obstacle = "store_pickup_disabled"
)

// Sale is a sale from a store, as far as it is known. The zero values of Short and Reach
// are no obstacles.
type Sale struct {
	Store       Store
	Fulfillment Fulfillment
	Short       bool  // some of the goods cannot be sold
	Reach       Reach // of a delivery
}

// Obstacles returns the reasons against the sale, in the order in which partners read them.
// It is the one place of this rule. Partner.MayUse decides on the stores of a partner, and
// Stock.Sell on the goods.
func (s Sale) Obstacles() []Obstacle {
	list := []Obstacle{}
	if !s.Store.Active {
		list = append(list, StoreInactive)
	}
	if s.Short {
		list = append(list, ItemUnavailable)
	}
	if s.Reach.Beyond {
		list = append(list, OutOfReach)
	}
	switch {
	case s.Fulfillment == ByDelivery && !s.Store.DeliveryEnabled:
		list = append(list, NoDelivery)
	case s.Fulfillment == ByPickup && !s.Store.PickupEnabled:
		list = append(list, NoPickup)
	}
	return list
}

// Totals of an order, in cents.
type Totals struct{ Subtotal, Tax, DeliveryFee, Total Cents }

// GivenTotals are the totals that a partner reports for an order that was already paid. What
// it does not report is nil.
type GivenTotals struct {
	Subtotal, Tax, Total *Cents
	TaxRate              *Rate
	DeliveryFee          Cents
}

// SumLines adds price times quantity over all lines.
func SumLines(lines []OrderLine) Cents {
	var sum Cents
	for _, l := range lines {
		sum += l.PriceCents * Cents(l.Quantity)
	}
	return sum
}

// ReportedTotals completes the totals that the partner reported: the subtotal is the sum of
// the lines, the tax is the rate of the subtotal, the total their sum. Reported values are
// never changed, because the customer has already paid them. mismatch says in words where
// they do not add up; it is empty if they do.
func ReportedTotals(lines []OrderLine, given GivenTotals) (t Totals, mismatch string, err error) {
	t.DeliveryFee = given.DeliveryFee
	sum := SumLines(lines)
	t.Subtotal = valueOr(given.Subtotal, sum)
	if t.Subtotal > MaxTotal {
		return t, "", Invalid("items", "the order's total is too large")
	}
	var tax Cents
	if given.TaxRate != nil {
		tax = given.TaxRate.Of(t.Subtotal)
	}
	t.Tax = valueOr(given.Tax, tax)
	due := t.Subtotal + t.Tax + t.DeliveryFee
	t.Total = valueOr(given.Total, due)
	if t.Total > MaxTotal {
		return t, "", Invalid("items", "the order's total is too large")
	}
	switch {
	case t.Subtotal != sum:
		mismatch = fmt.Sprintf("reported subtotal %d differs from the sum of the lines %d", t.Subtotal, sum)
	case given.Tax != nil && given.TaxRate != nil && t.Tax != tax:
		mismatch = fmt.Sprintf("reported tax_amount %d differs from tax_rate times subtotal %d", t.Tax, tax)
	case t.Total != due:
		mismatch = fmt.Sprintf("reported total %d differs from subtotal, tax and delivery fee together %d", t.Total, due)
	}
	return t, mismatch, nil
}

// CheckoutTotals are the totals of an order that is still to be paid. The tax is the store's
// rate (in basis points) of the items, rounded half up once.
func CheckoutTotals(lines []OrderLine, deliveryFee Cents, taxRateBps int64) (Totals, error) {
	t := Totals{Subtotal: SumLines(lines), DeliveryFee: deliveryFee}
	if t.Subtotal > MaxTotal {
		return t, Invalid("items", "the order's total is too large")
	}
	t.Tax = (t.Subtotal*Cents(taxRateBps) + 5_000) / 10_000
	t.Total = t.Subtotal + t.Tax + t.DeliveryFee
	switch {
	case t.Total > MaxTotal:
		return t, Invalid("items", "the order's total is too large")
	case t.Total == 0:
		return t, Invalid("items", "there is nothing to pay")
	}
	return t, nil
}

func valueOr[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
