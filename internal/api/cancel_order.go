package api

import (
	"net/http"

	"purveyor/internal/command"
	"purveyor/internal/wire"
)

type cancelIn struct {
	Reason *string `json:"reason"`
}

// cancelOrder ends an order before its goods were handed over.
func (a *API) cancelOrder(r *request) (reply, error) {
	key, err := r.keyRequired()
	if err != nil {
		return reply{}, err
	}
	var in cancelIn
	if err := r.decodeOptionalBody(&in); err != nil {
		return reply{}, err
	}
	var c check
	reason := c.Optional("reason", in.Reason, wire.MaxText)
	if c.Err != nil {
		return reply{}, c.Err
	}
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	cmd := command.CancelOrder{Facts: command.FactsOf(order), TraceID: r.traceID, Reason: reason}
	return do(a, r, r.Mode, key, in, cmd, func(done command.CancelResult) (int, []byte) {
		return http.StatusOK, encoded(struct {
			OK                bool   `json:"ok"`
			OrderID           string `json:"order_id"`
			Status            string `json:"status"`
			DeliveryCancelled bool   `json:"delivery_cancelled"`
			InventoryRestored bool   `json:"inventory_restored"`
		}{true, done.Order.ID, string(done.Order.Status), done.DeliveryCancelled, done.InventoryRestored})
	})
}
