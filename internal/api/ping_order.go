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
		TrackingPageURL       string          `json:"tracking_page_url"`
		EstimatedDeliveryTime *string         `json:"estimated_delivery_time"`
		UpdatedOn             commerce.Millis `json:"updated_on"`
	}{true, o.ID, wire.OrNull(o.ExternalID), string(o.Status), string(o.Fulfillment),
		wire.OrNull(o.CourierDeliveryID), wire.OrNull(o.CourierTrackingURL), a.encoder.Pages.PageOf(o.ID), wire.ISOOrNull(tracked.Delivery.DropoffETA), o.UpdatedOn})
}
