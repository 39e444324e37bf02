package wire

import (
	"testing"

	"purveyor/internal/commerce"
)

func TestDelivery(t *testing.T) {
	for i, text := range texts {
		o := commerce.Order{ID: text, CourierDeliveryID: text, CourierTrackingURL: text, Status: "shipped"}
		d := commerce.Delivery{}
		courier, eta := map[string]any{}, any(nil)
		if i%2 == 1 {
			d = commerce.Delivery{Status: commerce.CourierEnRoute, DropoffETA: 1_700_000_000_123, Imminent: true,
				Courier: commerce.Courier{Name: text, Phone: text, Vehicle: text, ImageURL: text, At: &commerce.Point{Lat: -0.5, Lng: 179.123456}}}
			courier, eta = map[string]any{"location": map[string]any{"lat": -0.5, "lng": 179.123456}}, "2023-11-14T22:13:20.123Z"
			if text != "" {
				courier["name"], courier["phone_number"], courier["vehicle_type"], courier["img_href"] = text, text, text, text
			}
		}
		status := orNil(string(d.Status))
		both := func(more map[string]any) map[string]any {
			m := map[string]any{"order_id": text, "status": "shipped", "courier_delivery_status": status, "courier_delivery_id": orNil(text),
				"courier_tracking_url": orNil(text), "courier_imminent": d.Imminent, "courier": courier, "estimated_delivery_time": eta}
			for k, v := range more {
				if m[k] = v; v == nil {
					delete(m, k)
				}
			}
			return m
		}
		same(t, event(commerce.WebhookDeliveryOut, commerce.EventData{Order: o, Delivery: d}), both(map[string]any{"order_id": nil}))
		same(t, Encode(DriverLocation(o, d, false)), both(map[string]any{"ok": true, "source": "cache"}))
		same(t, Encode(DriverLocation(o, d, true)), both(map[string]any{"ok": true, "source": "live"}))
		same(t, Encode(Encoder{}.TrackingSnapshot(o, d, nil)), both(map[string]any{"ok": true, "tracking_page_url": "", "recent_events": []any{}}))
		same(t, Encode(StreamLocation(o, d)), map[string]any{"order_id": text, "courier_imminent": d.Imminent, "courier": courier, "estimated_delivery_time": eta})
		same(t, Encode(StreamStatus(o, d)), map[string]any{"order_id": text, "status": "shipped", "courier_delivery_status": status,
			"courier_delivery_id": orNil(text), "courier_tracking_url": orNil(text)})
	}
}
