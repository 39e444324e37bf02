package wire

import (
	"strconv"

	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json/jsontext"
)

// Encoder encodes what has the address of an order's tracking page in it. The zero value leaves
// these addresses out.
type Encoder struct{ Pages commerce.TrackingPages }

// order is an order as partners read it (SPEC, Order; BEHAVIOUR, further order
// fields). Amounts are in cents, times in Unix ms.
type order struct {
	ID                  string               `json:"id"`
	StoreID             string               `json:"store_id"`
	CreatedOn           commerce.Millis      `json:"created_on"`
	UpdatedOn           commerce.Millis      `json:"updated_on"`
	CustomerID          string               `json:"customer_id"`
	Items               []line               `json:"items"`
	Source              string               `json:"source,omitzero"`
	PartnerID           string               `json:"partner_client_id,omitzero"`
	ExternalID          string               `json:"external_order_id,omitzero"`
	Fulfillment         commerce.Fulfillment `json:"fulfillment_type"`
	Address             *deliveryAddress     `json:"delivery_address"`
	DeliveryFee         commerce.Cents       `json:"delivery_fee"`
	Subtotal            commerce.Cents       `json:"subtotal"`
	TaxAmount           commerce.Cents       `json:"tax_amount"`
	Total               commerce.Cents       `json:"total"`
	RefundedTotal       commerce.Cents       `json:"refunded_total"`
	Status              commerce.OrderStatus `json:"status"`
	CourierDeliveryID   string               `json:"courier_delivery_id,omitzero"`
	CourierTrackingURL  string               `json:"courier_tracking_url,omitzero"`
	TrackingPageURL     string               `json:"tracking_page_url,omitzero"`
	CourierQuoteID      string               `json:"courier_quote_id,omitzero"`
	ReadyForPickupAt    commerce.Millis      `json:"ready_for_pickup_at,omitzero"`
	PickedUpAt          commerce.Millis      `json:"picked_up_at,omitzero"`
	Dev                 bool                 `json:"dev"`
	PickupInstructions  string               `json:"pickup_instructions,omitzero"`
	DropoffInstructions string               `json:"dropoff_instructions,omitzero"`
	ExternalPaymentID   string               `json:"external_payment_id,omitzero"`
	CustomerEmail       string               `json:"customer_email,omitzero"`
	Metadata            commerce.Metadata    `json:"metadata"`
}

// line is an item of an order. OriginalPrice is nil if the product's own price was
// charged.
type line struct {
	ProductID     string          `json:"product_id"`
	Quantity      int64           `json:"quantity"`
	Price         commerce.Cents  `json:"price"`
	OriginalPrice *commerce.Cents `json:"original_price,omitzero"`
}

type deliveryAddress struct {
	Name    string  `json:"name"`
	Email   string  `json:"email,omitzero"`
	Phone   string  `json:"phone,omitzero"`
	Address address `json:"address"`
}

type address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitzero"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
}

// Order is an order as partners read it.
func (e Encoder) Order(v commerce.Order) any { return e.order(v) }

func (e Encoder) order(v commerce.Order) order {
	return order{ID: v.ID, StoreID: v.StoreID, CreatedOn: v.CreatedOn, UpdatedOn: v.UpdatedOn, CustomerID: v.CustomerID, Items: linesOf(v.Lines),
		Source: v.Source, PartnerID: v.PartnerID, ExternalID: v.ExternalID, Fulfillment: v.Fulfillment, Address: addressOf(v.Address),
		DeliveryFee: v.DeliveryFeeCents, Subtotal: v.SubtotalCents, TaxAmount: v.TaxCents, Total: v.TotalCents, RefundedTotal: v.RefundedCents,
		Status: v.Status, CourierDeliveryID: v.CourierDeliveryID, CourierTrackingURL: v.CourierTrackingURL, TrackingPageURL: e.Pages.PageOf(v.ID), CourierQuoteID: v.CourierQuoteID,
		ReadyForPickupAt: v.ReadyForPickupAt, PickedUpAt: v.PickedUpAt, Dev: v.Mode == commerce.Test, PickupInstructions: v.PickupInstructions,
		DropoffInstructions: v.DropoffInstructions, ExternalPaymentID: v.ExternalPaymentID, CustomerEmail: v.CustomerEmail, Metadata: v.Metadata}
}

func linesOf(lines []commerce.OrderLine) []line {
	list := make([]line, len(lines))
	for i, l := range lines {
		list[i] = line{l.ProductID, l.Quantity, l.PriceCents, l.OriginalPriceCents}
	}
	return list
}

func addressOf(a *commerce.DeliveryAddress) *deliveryAddress {
	if a == nil {
		return nil
	}
	return &deliveryAddress{a.Name, a.Email, a.Phone, address(a.Address)}
}

// TimelineEvent is one entry of an order's timeline (SPEC, Order timeline event).
type TimelineEvent struct {
	ID            string                  `json:"id"`
	OrderID       string                  `json:"order_id"`
	Event         commerce.TimelineKind   `json:"event"`
	Status        *commerce.OrderStatus   `json:"status"`
	CourierStatus *commerce.CourierStatus `json:"courier_delivery_status"`
	Message       *string                 `json:"message"`
	Data          jsontext.Value          `json:"data"` // nil is null
	CreatedOn     commerce.Millis         `json:"created_on"`
}

// TimelineOf returns the shapes of timeline events.
func TimelineOf(events []commerce.TimelineEvent) []TimelineEvent {
	list := make([]TimelineEvent, len(events))
	for i, e := range events {
		list[i] = TimelineEvent{commerce.TimelineEventID(e.OrderID, e.Seq), e.OrderID, e.Kind, OrNull(e.Status), OrNull(e.CourierStatus),
			OrNull(e.Message), timelineData(e.Data), e.CreatedOn}
	}
	return list
}

// inventoryMove is the change of one product's stock by a transition.
type inventoryMove struct {
	ProductID string `json:"product_id"`
	Delta     int64  `json:"delta"`
	Left      int64  `json:"available_quantity"` // in stock afterwards
}

// inventory is the part about stock in the data of several events.
type inventory struct {
	Moves []inventoryMove `json:"inventory"`
}

func inventoryOf(moves []commerce.InventoryMove) inventory {
	list := make([]inventoryMove, len(moves))
	for i, m := range moves {
		list[i] = inventoryMove(m)
	}
	return inventory{list}
}

// timelineData is the data of a timeline event as JSON; nil if it has none.
func timelineData(data commerce.TimelineData) jsontext.Value {
	switch d := data.(type) {
	case commerce.NoteData:
		return Encode(struct {
			Code  string          `json:"code"`
			Moves []inventoryMove `json:"inventory,omitempty"`
		}{d.Code, inventoryOf(d.Moves).Moves})
	case commerce.StockData:
		return Encode(inventoryOf(d.Moves))
	case commerce.PaymentData:
		return Encode(struct {
			AmountCents commerce.Cents `json:"amount_cents"`
			PaymentID   string         `json:"payment_id"`
		}(d))
	case commerce.RefundData:
		said := refund{d.RefundID, d.AmountCents, d.TotalCents, d.Reason}
		if d.Moves == nil {
			return Encode(said)
		}
		return Encode(struct {
			refund
			inventory
		}{said, inventoryOf(d.Moves)})
	case commerce.DeliveryData:
		return Encode(deliveryDataOf(d))
	}
	return nil
}

// refund is the part about a refund in the data of several events. TotalCents is
// the sum of the order's refunds, this one included.
type refund struct {
	ID          string         `json:"payments_refund_id"`
	AmountCents commerce.Cents `json:"amount_refunded_cents"`
	TotalCents  commerce.Cents `json:"total_refunded_cents"`
	Reason      string         `json:"reason,omitzero"`
}

// change is the beginning of the data of every order.* webhook event. Previous is
// null if this change created the order.
type change struct {
	Order    order                 `json:"order"`
	Previous *commerce.OrderStatus `json:"previous_status"`
}

// EventData is the data of a webhook event as JSON.
func (e Encoder) EventData(event commerce.WebhookEvent) []byte {
	v := event.About
	r, about := &v.Refund, change{e.order(v.Order), OrNull(v.Previous)}
	switch event.Kind {
	case commerce.WebhookTest:
		return []byte("{}")
	case commerce.WebhookRefunded:
		return Encode(struct {
			change
			refund
			Status commerce.OrderStatus `json:"status"`
		}{about, refund{r.ID, r.AmountCents, v.Order.RefundedCents, r.Reason}, v.Order.Status})
	case commerce.WebhookRefundFailed:
		return Encode(struct {
			change
			ID          string               `json:"payments_refund_id"`
			AmountCents commerce.Cents       `json:"amount_cents"`
			TotalCents  commerce.Cents       `json:"total_refunded_cents"`
			Status      commerce.OrderStatus `json:"status"`
			Error       string               `json:"error"`
		}{about, r.ID, r.AmountCents, v.Order.RefundedCents, v.Order.Status, r.Error})
	case commerce.WebhookDeliveryCreated, commerce.WebhookDeliveryOut, commerce.WebhookDeliveryDone, commerce.WebhookDeliveryCancelled, commerce.WebhookCourierUpdate:
		return Encode(deliveryDataOf(commerce.DeliveryDataOf(v.Order, v.Delivery)))
	case commerce.WebhookStockChanged:
		return Encode(stockChange{v.Product.ID, v.Product.StoreID, OrNull(v.Product.SKU), v.Product.Stock.Quantity, v.PreviousQuantity, v.Product.Stock.Active})
	case commerce.WebhookProductUpdated:
		b := append(AppendProduct([]byte(`{"product":`), v.Product), `,"created":`...)
		return append(strconv.AppendBool(b, v.Created), '}')
	}
	return Encode(about)
}

// stockChange is the data of product.stock_changed.
type stockChange struct {
	ProductID string  `json:"product_id"`
	StoreID   string  `json:"store_id"`
	SKU       *string `json:"sku"`
	Quantity  int64   `json:"available_quantity"`
	Previous  int64   `json:"previous_quantity"`
	Active    bool    `json:"active"`
}

// delivery is the part about an order's delivery in answers and events.
type delivery struct {
	CourierDeliveryID  *string                 `json:"courier_delivery_id"`
	CourierTrackingURL *string                 `json:"courier_tracking_url"`
	Status             commerce.OrderStatus    `json:"status"`
	CourierStatus      *commerce.CourierStatus `json:"courier_delivery_status"`
}

// approach is the part about the courier in answers and events.
type approach struct {
	EstimatedDeliveryTime *string `json:"estimated_delivery_time"` // ISO 8601
	CourierImminent       bool    `json:"courier_imminent"`
	Courier               courier `json:"courier"` // {} while no courier is known
}

type courier struct {
	Name        string `json:"name,omitzero"`
	PhoneNumber string `json:"phone_number,omitzero"`
	VehicleType string `json:"vehicle_type,omitzero"`
	ImageURL    string `json:"img_href,omitzero"`
	Location    *point `json:"location,omitzero"`
}

type point struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

func approachOf(d commerce.DeliveryData) approach {
	a := approach{EstimatedDeliveryTime: ISOOrNull(d.DropoffETA), CourierImminent: d.Imminent,
		Courier: courier{Name: d.Courier.Name, PhoneNumber: d.Courier.Phone, VehicleType: d.Courier.Vehicle, ImageURL: d.Courier.ImageURL}}
	if at := d.Courier.At; at != nil {
		a.Courier.Location = &point{at.Lat, at.Lng}
	}
	return a
}

// deliveryData is the data of delivery.* events, in webhooks and in the timeline.
type deliveryData struct {
	delivery
	approach
}

func deliveryDataOf(d commerce.DeliveryData) deliveryData {
	return deliveryData{delivery{OrNull(d.CourierDeliveryID), OrNull(d.CourierTrackingURL), d.Status, OrNull(d.CourierStatus)}, approachOf(d)}
}

// tracking is the beginning of the answers of driver-location and tracking (SPEC).
type tracking struct {
	OK      bool   `json:"ok"`
	OrderID string `json:"order_id"`
	deliveryData
}

func trackingOf(v commerce.Order, d commerce.Delivery) tracking {
	return tracking{true, v.ID, deliveryDataOf(commerce.DeliveryDataOf(v, d))}
}

// DriverLocation is the answer of driver-location. live: the provider was asked just
// now.
func DriverLocation(v commerce.Order, d commerce.Delivery, live bool) any {
	source := "cache"
	if live {
		source = "live"
	}
	return struct {
		tracking
		Source string `json:"source"`
	}{trackingOf(v, d), source}
}

// TrackingSnapshot is the answer of tracking.
func (e Encoder) TrackingSnapshot(v commerce.Order, d commerce.Delivery, recent []commerce.TimelineEvent) any {
	return struct {
		tracking
		TrackingPageURL string          `json:"tracking_page_url"`
		RecentEvents    []TimelineEvent `json:"recent_events"`
	}{trackingOf(v, d), e.Pages.PageOf(v.ID), TimelineOf(recent)}
}

// StreamStatus is the data of a stream's event status.
func StreamStatus(v commerce.Order, d commerce.Delivery) any {
	return struct {
		OrderID string `json:"order_id"`
		delivery
	}{v.ID, deliveryDataOf(commerce.DeliveryDataOf(v, d)).delivery}
}

// StreamLocation is the data of a stream's event location.
func StreamLocation(v commerce.Order, d commerce.Delivery) any {
	return struct {
		OrderID string `json:"order_id"`
		approach
	}{v.ID, approachOf(commerce.DeliveryDataOf(v, d))}
}
