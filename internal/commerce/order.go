package commerce

// Fulfillment is how goods reach the customer.
type Fulfillment string

// The two ways.
const (
	ByDelivery Fulfillment = "delivery"
	ByPickup   Fulfillment = "pickup"
)

// Address is a postal address.
type Address struct {
	Line1, Line2, City, State, PostalCode, Country string
}

// DeliveryAddress says who receives an order, and where.
type DeliveryAddress struct {
	Name, Email, Phone string
	Address            Address
}

// OrderLine is one line of an order. Lines never change.
type OrderLine struct {
	ProductID          string
	Quantity           int64
	PriceCents         Cents  // of one piece
	OriginalPriceCents *Cents // the catalog's price, where it differed
}

// Order is one sale of one store. It is the same shape whoever made it.
type Order struct {
	StoreID             string
	ID                  string
	PartnerID           string // empty: made by the merchant
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
	// InventoryDeducted alone decides whether cancelling restores stock.
	InventoryDeducted bool
	// Restocked reports that cancelling or refunding the order put its goods back in
	// stock.
	Restocked bool
	// Confirmed tells an order that was confirmed from one that was reported.
	Confirmed        bool
	ReadyForPickupAt Millis // 0: not yet
	PickedUpAt       Millis // 0: not yet
	// RefundedFrom is the status that a refunded order had before; empty: it is not
	// refunded. RefundStopped tells whether that refund stopped the fulfilment.
	RefundedFrom  OrderStatus
	RefundStopped bool
	CreatedOn     Millis
	UpdatedOn     Millis
	// Events counts the order's timeline; the next event has this number + 1.
	Events int64
	// NotifiedOn is the timestamp of the last webhook event: they increase
	// strictly for each order.
	NotifiedOn Millis
}

// OrderKey finds an order.
type OrderKey struct{ StoreID, OrderID string }

// Key of the row.
func (o Order) Key() OrderKey { return OrderKey{o.StoreID, o.ID} }

// Demand is how much of one product an order takes, over all its lines.
type Demand struct {
	ProductID string
	Quantity  int64
	Cents     Cents
}

// Demands sums the lines per product, in the order of their first mention.
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

// ProductKeys names the products of an order of this store, each once.
func ProductKeys(storeID string, lines []OrderLine) []ProductKey {
	demands := Demands(lines)
	keys := make([]ProductKey, len(demands))
	for i, d := range demands {
		keys[i] = ProductKey{storeID, d.ProductID}
	}
	return keys
}

// ExternalKey names an order as its partner does. It is unique for each
// partner and mode.
type ExternalKey struct {
	PartnerID  string
	Mode       Mode
	ExternalID string
}

// ExternalRef says which order an external id stands for.
type ExternalRef struct {
	ExternalKey
	Order OrderKey
}

// Key of the row.
func (r ExternalRef) Key() ExternalKey { return r.ExternalKey }

// Customer is known to one store by an e-mail address or a phone number, for
// one partner and mode. A customer with both has a row for each, with the same id.
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

// Moment is the time that a partner gives for a hand-over (Unix ms), or now
// if it gave none (0). More than 30 days from now is refused.
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
