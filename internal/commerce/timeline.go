package commerce

// TimelineData is what a timeline event says beside its kind and message, as facts:
// one of the types below. Most kinds have a type of their own; nil says nothing.
type TimelineData interface{ isTimelineData() }

// NoteData is the data of order.note: a code for machines.
type NoteData struct{ Code string }

// StockData is the data of order.processed and order.cancelled.
type StockData struct{ Moves []InventoryMove }

// PaymentData is the data of order.paid.
type PaymentData struct {
	AmountCents Cents
	PaymentID   string // at the processor
}

// RefundData is the data of order.refunded.
type RefundData struct {
	RefundID    string
	AmountCents Cents
	TotalCents  Cents // that went back so far, with this refund
	Reason      string
	Moves       []InventoryMove // that put goods back in stock; nil: the refund did not
}

// DeliveryData is the data of all delivery.* events: the delivery and its courier
// as far as they were known then.
type DeliveryData struct {
	CourierDeliveryID  string
	CourierTrackingURL string
	Status             OrderStatus
	CourierStatus      CourierStatus
	DropoffETA         Millis // 0: not known
	Imminent           bool
	Courier            Courier
}

// DeliveryDataOf is what is known of an order's delivery.
func DeliveryDataOf(o Order, d Delivery) DeliveryData {
	return DeliveryData{o.CourierDeliveryID, o.CourierTrackingURL, o.Status, d.Status, d.DropoffETA, d.Imminent, d.Courier}
}

// InventoryMove is what a transition of an order did to the stock of one product.
type InventoryMove struct {
	ProductID string
	Delta     int64
	Left      int64 // in stock afterwards
}

func (NoteData) isTimelineData()     {}
func (StockData) isTimelineData()    {}
func (PaymentData) isTimelineData()  {}
func (RefundData) isTimelineData()   {}
func (DeliveryData) isTimelineData() {}
