package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type cancelIn struct {
	Reason *string `json:"reason"`
	Refund bool    `json:"refund"`
}

// cancelOrder ends an order before its goods are handed over. The answer of the command
// alone still lacks the outcome of the courier's cancellation and of the refund.
var cancelOrder = keyed[cancelIn](needsKey|needsNoBody, (*service.Service).CancelOrder, func(_ *request, done service.Cancelled) (int, []byte) {
	return Answers{}.Cancelled(done.Order, commerce.Delivery{}, done.Refund)
})

func (in cancelIn) call(r *request) (service.CancelOrder, error) {
	var c check
	reason := c.Optional("reason", in.Reason, jsonin.MaxText)
	if c.Err != nil {
		return service.CancelOrder{}, c.Err
	}
	order, err := r.order()
	return service.CancelOrder{Order: order, Reason: reason, Refund: in.Refund}, err
}
