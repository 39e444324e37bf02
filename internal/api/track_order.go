package api

import (
	"purveyor/internal/commerce"
)

const recentEvents = 10

// trackOrder is the delivery of an order with the last of its history.
func (a *API) trackOrder(r *request, order commerce.Order) (reply, error) {
	now, _, err := a.service.TrackOrder(r.Context(), order, false)
	if err != nil {
		return reply{}, err
	}
	events, err := a.reader.Timeline(r.Context(), order.Key(), recentEvents)
	if err != nil {
		return reply{}, err
	}
	return ok(a.encoder.TrackingSnapshot(now.Order, now.Delivery, events))
}
