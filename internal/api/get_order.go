package api

import (
	"purveyor/internal/commerce"
)

// getOrder reads an order by its id.
func (a *API) getOrder(_ *request, order commerce.Order) (reply, error) {
	return ok(struct {
		OK    bool `json:"ok"`
		Order any  `json:"order"`
	}{true, a.encoder.Order(order)})
}
