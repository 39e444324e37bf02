package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
)

// driverLocation answers with the position of the courier.
func (a *API) driverLocation(r *request, order commerce.Order) (reply, error) {
	now, live, err := a.service.TrackOrder(r.Context(), order, true)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: wire.AppendDriverLocation(nil, now.Order, now.Delivery, live)}, nil
}
