package commerce

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
	CourierQuoteID      string
	CourierDeliveryID   string
	CourierTrackingURL  string
	// InventoryDeducted reports that the goods are deducted from stock. It alone decides
	// whether cancelling the order restores stock.
	InventoryDeducted bool
	// Restocked reports that cancelling or refunding the order restored stock.
	Restocked bool
	// Confirmed reports that the order became processed by a confirmation. A reported
	// order is processed from the start, and is never confirmed.
	Confirmed        bool
	ReadyForPickupAt Millis // 0: not yet
	PickedUpAt       Millis // 0: not yet
	// RefundedFrom is the status of the order before it became refunded; empty: it is
	// not refunded. RefundStopped reports that this refund stopped the fulfilment.
	RefundedFrom  OrderStatus
	RefundStopped bool
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
	Contact   string // "email:..." in lower case, or "phone:..."
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
