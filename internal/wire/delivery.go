package wire

import "purveyor/internal/commerce"

// DeliveryEventData is the data of delivery.* webhook events, and of those of
// the timeline: the delivery as far as there is one, and the courier as far as
// it is known.
func DeliveryEventData(v commerce.Order, d commerce.Delivery) []byte {
	o := open(nil)
	o.nullStr("courier_delivery_id", v.CourierDeliveryID)
	o.nullStr("courier_tracking_url", v.CourierTrackingURL)
	o.str("status", string(v.Status))
	o.nullStr("courier_delivery_status", string(d.Status))
	o.nullTime("estimated_delivery_time", d.DropoffETA)
	o.bool("courier_imminent", d.Imminent)
	o.courier(d.Courier)
	return o.close()
}

// appendTracking appends what driver-location and tracking have in common
// (SPEC): an open object, which the caller goes on with and closes.
func appendTracking(o *object, v commerce.Order, d commerce.Delivery) {
	o.bool("ok", true)
	o.str("order_id", v.ID)
	o.str("status", string(v.Status))
	o.nullStr("courier_delivery_status", string(d.Status))
	o.nullStr("courier_delivery_id", v.CourierDeliveryID)
	o.nullStr("courier_tracking_url", v.CourierTrackingURL)
	o.bool("courier_imminent", d.Imminent)
	o.courier(d.Courier)
	o.nullTime("estimated_delivery_time", d.DropoffETA)
}

// AppendDriverLocation appends the answer of driver-location. live: the
// provider was asked just now.
func AppendDriverLocation(b []byte, v commerce.Order, d commerce.Delivery, live bool) []byte {
	o := open(b)
	appendTracking(&o, v, d)
	source := "cache"
	if live {
		source = "live"
	}
	o.str("source", source)
	return o.close()
}

// AppendTrackingSnapshot appends the answer of tracking.
func AppendTrackingSnapshot(b []byte, v commerce.Order, d commerce.Delivery, recent []commerce.TimelineEvent) []byte {
	o := open(b)
	appendTracking(&o, v, d)
	o.name("recent_events")
	o.b = AppendTimelineEvents(o.b, recent)
	return o.close()
}

// AppendStreamStatus appends the data of a stream's event status.
func AppendStreamStatus(b []byte, v commerce.Order, d commerce.Delivery) []byte {
	o := open(b)
	o.str("order_id", v.ID)
	o.str("status", string(v.Status))
	o.nullStr("courier_delivery_status", string(d.Status))
	o.nullStr("courier_delivery_id", v.CourierDeliveryID)
	o.nullStr("courier_tracking_url", v.CourierTrackingURL)
	return o.close()
}

// AppendStreamLocation appends the data of a stream's event location.
func AppendStreamLocation(b []byte, v commerce.Order, d commerce.Delivery) []byte {
	o := open(b)
	o.str("order_id", v.ID)
	o.bool("courier_imminent", d.Imminent)
	o.courier(d.Courier)
	o.nullTime("estimated_delivery_time", d.DropoffETA)
	return o.close()
}

// AppendTimelineEvents appends a list of them.
func AppendTimelineEvents(b []byte, events []commerce.TimelineEvent) []byte {
	b = append(b, '[')
	for i, e := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendTimelineEvent(b, e)
	}
	return append(b, ']')
}

// courier appends the courier block (SPEC); it may be empty.
func (o *object) courier(c commerce.Courier) {
	o.name("courier")
	in := open(o.b)
	in.optStr("name", c.Name)
	in.optStr("phone_number", c.Phone)
	in.optStr("vehicle_type", c.Vehicle)
	in.optStr("img_href", c.ImageURL)
	if c.At != nil {
		in.name("location")
		at := open(in.b)
		at.float("lat", c.At.Lat)
		at.float("lng", c.At.Lng)
		in.b = at.close()
	}
	o.b = in.close()
}

// nullTime appends a time in Unix ms as ISO 8601, and null for 0.
func (o *object) nullTime(name string, ms int64) {
	if ms == 0 {
		o.raw(name, []byte("null"))
		return
	}
	o.str(name, ISO(ms))
}
