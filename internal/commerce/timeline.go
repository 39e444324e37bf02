package commerce

// TimelineData has the facts of a timeline event beside its kind and message: one of the
// types below. Most kinds have a type of their own; nil: there are no facts.
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

// DeliveryDataOf returns the known facts of an order's delivery.
func DeliveryDataOf(o Order, d Delivery) DeliveryData {
	return DeliveryData{o.CourierDeliveryID, o.CourierTrackingURL, o.Status, d.Status, d.DropoffETA, d.Imminent, d.Courier}
}

// InventoryMove is the change of one product's stock by a transition of an order.
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
