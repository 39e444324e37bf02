package api

import (
	"errors"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/wire"
)

// getOrder reads an order by its id.
func (a *API) getOrder(r *request) (reply, error) {
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	return orderReply(order), nil
}

// getOrderByExternal reads an order by the partner's own id: of the request's
// mode first, and with a live key else the test order.
func (a *API) getOrderByExternal(r *request) (reply, error) {
	modes := []commerce.Mode{r.Mode}
	if r.Mode == commerce.Live {
		modes = append(modes, commerce.Test)
	}
	for _, mode := range modes {
		key, err := a.reader.ExternalOrder(r.Context(), commerce.ExternalKey{
			PartnerID: r.Partner.ID, Mode: mode, ExternalID: r.param("external_order_id")})
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return reply{}, err
		}
		order, err := a.visible(r, key)
		if err != nil {
			return reply{}, err
		}
		return orderReply(order), nil
	}
	return reply{}, commerce.NotFound("order")
}

func orderReply(o commerce.Order) reply {
	b := append(make([]byte, 0, 1024), `{"ok":true,"order":`...)
	return reply{status: http.StatusOK, body: append(wire.AppendOrder(b, o), '}')}
}
