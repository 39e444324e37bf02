package commerce

import (
	"fmt"
	"strings"
)

// Fulfillment is how goods reach the customer.
type Fulfillment string

// The ways: a courier brings the goods, or the customer picks them up at the store.
const (
	ByDelivery Fulfillment = "delivery"
	ByPickup   Fulfillment = "pickup"
)

// Address is a postal address.
type Address struct {
	Line1, Line2, City, State, PostalCode, Country string
}

// DeliveryAddress is the recipient of an order, with the contacts and the address.
type DeliveryAddress struct {
	Name, Email, Phone string
	Address            Address
}

// OrderLine is one line of an order. A line never changes.
type OrderLine struct {
	ProductID          string
	Quantity           int64
	PriceCents         Cents  // of one piece, as it was sold
	OriginalPriceCents *Cents // the catalog's price of one piece; nil: the same as PriceCents
}

// Order is one sale of one store. Orders of partners and orders of the merchant have
// the same shape.
type Order struct {
	StoreID             string
	ID                  string
	PartnerID           string // the partner that made the order; empty: the merchant
	Mode                Mode
	Source              string
	ExternalID          string
	CustomerID          string
	CustomerEmail       string
	Status              OrderStatus
	Fulfillment         Fulfillment
	Lines               []OrderLine
	Address             *DeliveryAddress
	SubtotalCents       Cents
	TaxCents            Cents
	DeliveryFeeCents    Cents
	TotalCents          Cents
	RefundedCents       Cents
	PickupInstructions  string
	DropoffInstructions string
	ExternalPaymentID   string
	Metadata            Metadata // of the partner
	// ReadyInMinutes is how long after its confirmation (or report) the order is ready for a
	// courier; nil: the partner did not say.
	ReadyInMinutes     *int64
	LineRefunds        LineRefunds // nil: no refund was by line
	CourierQuoteID     string
	CourierDeliveryID  string
	CourierTrackingURL string
	// InventoryDeducted reports that the goods are deducted from stock. It alone decides
	// whether cancelling the order restores stock.
	InventoryDeducted bool
	// Restocked reports that cancelling or refunding the order restored stock, or gave
	// back what was held.
	Restocked bool
	// HeldUntil says that the goods are held in the stock: until this time while the
	// order is unpaid, and then until it is confirmed or stopped. 0: nothing is held, and
	// nothing ever will be again.
	HeldUntil Millis
	// Confirmed reports that the order became processed by a confirmation. A reported
	// order is processed from the start, and is never confirmed.
	Confirmed        bool
	ReadyForPickupAt Millis // 0: not yet
	PickedUpAt       Millis // 0: not yet
	// RefundedFrom is the status of the order before it became refunded; empty: it is
	// not refunded. RefundStopped reports that this refund stopped the fulfilment.
	RefundedFrom  OrderStatus
	RefundStopped bool
	// RequestedFrom is the status that the order has beneath refund_requested: the one
	// that it came from, moved on by the courier since; empty: no refund is requested. An
	// order that was refunded then keeps it, because the bank may return the refund.
	RequestedFrom OrderStatus
	CreatedOn     Millis
	UpdatedOn     Millis
	// Events is the number of timeline events. The next one has Seq Events + 1.
	Events int64
	// NotifiedOn is the timestamp of the last webhook event. The timestamps of an
	// order's webhook events increase strictly, so that a partner can sort them.
	NotifiedOn Millis
}

// OrderKey finds an order.
type OrderKey struct{ StoreID, OrderID string }

// Key of the row.
func (o Order) Key() OrderKey { return OrderKey{o.StoreID, o.ID} }

// Demand is the quantity of one product in all lines of an order, and the price of all
// these pieces together.
type Demand struct {
	ProductID string
	Quantity  int64
	Cents     Cents
}

// Demands sums the lines by product. The products keep the order in which the lines
// first name them.
func Demands(lines []OrderLine) []Demand {
	var out []Demand
next:
	for _, l := range lines {
		cents := l.PriceCents * Cents(l.Quantity)
		for i := range out {
			if out[i].ProductID == l.ProductID {
				out[i].Quantity += l.Quantity
				out[i].Cents += cents
				continue next
			}
		}
		out = append(out, Demand{l.ProductID, l.Quantity, cents})
	}
	return out
}

// ProductKeys returns the keys of the products in the lines, each key once.
func ProductKeys(storeID string, lines []OrderLine) []ProductKey {
	demands := Demands(lines)
	keys := make([]ProductKey, len(demands))
	for i, d := range demands {
		keys[i] = ProductKey{storeID, d.ProductID}
	}
	return keys
}

// ExternalKey is the id that a partner gave to an order. It is unique for each partner
// and mode.
type ExternalKey struct {
	PartnerID  string
	Mode       Mode
	ExternalID string
}

// ExternalRef maps an external id to the order that has it.
type ExternalRef struct {
	ExternalKey
	Order OrderKey
}

// Key of the row.
func (r ExternalRef) Key() ExternalKey { return r.ExternalKey }

// EmailContact is the contact of an e-mail address; empty without one.
func EmailContact(email string) string {
	if email = strings.ToLower(strings.TrimSpace(email)); email == "" {
		return ""
	}
	return "email:" + email
}

// PhoneContact is the contact of a phone number; empty without one.
func PhoneContact(phone string) string {
	phone = strings.Map(func(r rune) rune {
		if r == '+' || ('0' <= r && r <= '9') {
			return r
		}
		return -1
	}, phone)
	if phone == "" {
		return ""
	}
	return "phone:" + phone
}

// Customer is a buyer of one store through one partner in one mode. The row is found by
// one contact: an e-mail address or a phone number. A customer with both contacts has
// two rows with the same ID.
type Customer struct {
	CustomerKey
	ID        string
	Name      string
	CreatedOn Millis
}

// CustomerKey finds a customer.
type CustomerKey struct {
	StoreID   string
	PartnerID string
	Mode      Mode
	Contact   string // as EmailContact or PhoneContact gives it
}

// Key of the row.
func (c Customer) Key() CustomerKey { return c.CustomerKey }

// Moment checks the time of a hand-over that a partner gave in field. It returns now if
// the partner gave no time (0), and refuses times more than 30 days from now.
func Moment(field string, given, now Millis) (Millis, error) {
	const window = 30 * day
	switch {
	case given == 0:
		return now, nil
	case given < now.Add(-window) || given > now.Add(window):
		return 0, Invalid(field, "%s must be Unix milliseconds within 30 days of now", field)
	}
	return given, nil
}

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
