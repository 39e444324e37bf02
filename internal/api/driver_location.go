package api

import (
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
)

// driverLocation answers with the position of the courier.
func (a *API) driverLocation(r *request, order commerce.Order) (reply, error) {
	now, live, err := a.service.TrackOrder(r.Context(), order, true)
	if err != nil {
		return reply{}, err
	}
	return ok(wire.DriverLocation(now.Order, now.Delivery, live))
}
