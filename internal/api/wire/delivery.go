package wire

import "purveyor/internal/commerce"

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
func TrackingSnapshot(v commerce.Order, d commerce.Delivery, recent []commerce.TimelineEvent) any {
	return struct {
		tracking
		RecentEvents []TimelineEvent `json:"recent_events"`
	}{trackingOf(v, d), TimelineOf(recent)}
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
