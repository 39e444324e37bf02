package commerce

import "strings"

// TimelineKind is the type of a timeline event.
type TimelineKind string

// The types of SPEC.md, Events; the last three are additive (BEHAVIOUR).
const (
	TimelineCreated           TimelineKind = "order.created"
	TimelinePendingPayment    TimelineKind = "order.pending_payment"
	TimelinePaid              TimelineKind = "order.paid"
	TimelineProcessed         TimelineKind = "order.processed"
	TimelineFailedPayment     TimelineKind = "order.failed_payment"
	TimelineCancelled         TimelineKind = "order.cancelled"
	TimelineRefundRequested   TimelineKind = "order.refund_requested"
	TimelineRefunded          TimelineKind = "order.refunded"
	TimelineDeliveryCreated   TimelineKind = "delivery.created"
	TimelineCourierAssigned   TimelineKind = "delivery.courier_assigned"
	TimelineCourierUpdate     TimelineKind = "delivery.courier_update"
	TimelineStatusChanged     TimelineKind = "delivery.status_changed"
	TimelineShipped           TimelineKind = "delivery.shipped"
	TimelineOutForDelivery    TimelineKind = "delivery.out_for_delivery"
	TimelineDelivered         TimelineKind = "delivery.delivered"
	TimelineDeliveryCancelled TimelineKind = "delivery.cancelled"
	TimelineReadyForPickup    TimelineKind = "order.ready_for_pickup"
	TimelinePickedUp          TimelineKind = "order.picked_up"
	TimelineNote              TimelineKind = "order.note"
)

// TimelineEvent is one line of an order's history. Events are only ever appended.
type TimelineEvent struct {
	StoreID, OrderID string
	Seq              int64 // 1, 2, ... for each order
	Kind             TimelineKind
	Status           OrderStatus   // of the order after the event; empty: not recorded
	CourierStatus    CourierStatus // empty: the event is not about a delivery
	Message          string
	Data             TimelineData // nil: nothing more is to be said
	CreatedOn        Millis
	Actor            string // as Actor.Name gives it; empty: not recorded
}

// WebhookKind is the type of a webhook event.
type WebhookKind string

// The types of SPEC.md, Events; those marked so are additive (BEHAVIOUR).
const (
	WebhookAccepted          WebhookKind = "order.accepted"
	WebhookPaid              WebhookKind = "order.paid"
	WebhookProcessed         WebhookKind = "order.processed"
	WebhookShipped           WebhookKind = "order.shipped"
	WebhookOutForDelivery    WebhookKind = "order.out_for_delivery"
	WebhookDelivered         WebhookKind = "order.delivered"
	WebhookReadyForPickup    WebhookKind = "order.ready_for_pickup"
	WebhookPickedUp          WebhookKind = "order.picked_up"
	WebhookCancelled         WebhookKind = "order.cancelled"
	WebhookRefunded          WebhookKind = "order.refunded"
	WebhookRefundFailed      WebhookKind = "order.refund_failed" // additive: the bank gave a refund back
	WebhookDeliveryCreated   WebhookKind = "delivery.created"
	WebhookDeliveryOut       WebhookKind = "delivery.out_for_delivery"
	WebhookDeliveryDone      WebhookKind = "delivery.delivered"
	WebhookDeliveryCancelled WebhookKind = "delivery.cancelled"
	WebhookCourierUpdate     WebhookKind = "delivery.courier_update"
	WebhookStockChanged      WebhookKind = "product.stock_changed" // additive, as the next: only while an endpoint names it
	WebhookProductUpdated    WebhookKind = "product.updated"
	WebhookTest              WebhookKind = "webhook.test" // additive: an operator tests the endpoint
)

// WebhookKinds are all of them.
var WebhookKinds = []WebhookKind{WebhookAccepted, WebhookPaid, WebhookProcessed, WebhookShipped, WebhookOutForDelivery, WebhookDelivered,
	WebhookReadyForPickup, WebhookPickedUp, WebhookCancelled, WebhookRefunded, WebhookRefundFailed,
	WebhookDeliveryCreated, WebhookDeliveryOut, WebhookDeliveryDone, WebhookDeliveryCancelled, WebhookCourierUpdate, WebhookStockChanged, WebhookProductUpdated, WebhookTest}

// OfProduct reports whether the event is about a product.
func (k WebhookKind) OfProduct() bool { return strings.HasPrefix(string(k), "product.") }

// EventKey names a webhook event.
type EventKey struct{ PartnerID, ID string }

// Key of the event.
func (e WebhookEvent) Key() EventKey { return EventKey{e.PartnerID, e.ID} }

// WebhookEvent is the message to a partner about one change. It is stored with the change,
// even if the partner has no callback URL yet.
type WebhookEvent struct {
	PartnerID string
	ID        string // given by the committer; its order is the order of commits
	Kind      WebhookKind
	Mode      Mode
	StoreID   string
	OrderID   string
	TraceID   string
	// About is the subject of the event, as the command gives it. The committer encodes it
	// into Data, and drops it.
	About     *EventData
	Data      []byte // the JSON object that the partner reads; it never changes
	Timestamp Millis // of the change, strictly increasing per order
	// To are the owners of the endpoints that the event is sent to. The committer adds a job
	// for each.
	To []string
}

// EventData is the subject of a webhook event: the rows just after the change.
// Order is there for all events but webhook.test and product.*, Refund for events of refunds,
// Delivery for delivery.* events, and Product and what follows for product.* events.
type EventData struct {
	Order    Order
	Previous OrderStatus // of an order.* event: the status before the change; empty: there was no order
	Refund   Refund
	Delivery Delivery

	Product          Item
	PreviousQuantity int64 // of product.stock_changed
	Created          bool  // of product.updated: the product is new
}

// TimelineData has the facts of a timeline event beside its kind and message: one of the
// types below. Most kinds have a type of their own; nil: there are no facts.
type TimelineData interface{ isTimelineData() }

// NoteData is the data of order.note: a code for machines.
type NoteData struct {
	Code  string
	Moves []InventoryMove // nil: the note is not about stock
}

// StockData is the data of order.processed and order.cancelled, and of order.pending_payment
// and order.failed_payment if goods were held or released.
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
