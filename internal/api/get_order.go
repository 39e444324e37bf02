package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
)

// getOrder reads an order by its id.
func (a *API) getOrder(r *request, order commerce.Order) (reply, error) {
	return orderReply(order), nil
}

func orderReply(o commerce.Order) reply {
	b := append(make([]byte, 0, 1024), `{"ok":true,"order":`...)
	return reply{status: http.StatusOK, body: append(wire.AppendOrder(b, o), '}')}
}
