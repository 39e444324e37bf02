package api

import (
	"purveyor/internal/commerce"

	"purveyor/internal/api/wire"
)

// pingOrder answers with the few fields that partners poll.
func (a *API) pingOrder(r *request, o commerce.Order) (reply, error) {
	tracked, err := a.service.StoredDelivery(r.Context(), o)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK                    bool            `json:"ok"`
		OrderID               string          `json:"order_id"`
		ExternalOrderID       *string         `json:"external_order_id"`
		Status                string          `json:"status"`
		FulfillmentType       string          `json:"fulfillment_type"`
		CourierDeliveryID     *string         `json:"courier_delivery_id"`
		CourierTrackingURL    *string         `json:"courier_tracking_url"`
		EstimatedDeliveryTime *string         `json:"estimated_delivery_time"`
		UpdatedOn             commerce.Millis `json:"updated_on"`
	}{true, o.ID, orNull(o.ExternalID), string(o.Status), string(o.Fulfillment),
		orNull(o.CourierDeliveryID), orNull(o.CourierTrackingURL), timeOrNull(tracked.Delivery.DropoffETA), o.UpdatedOn})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func timeOrNull(ms commerce.Millis) *string {
	if ms == 0 {
		return nil
	}
	text := wire.ISO(ms)
	return &text
}
