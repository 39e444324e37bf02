package api

import (
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

type cancelIn struct {
	Reason *string `json:"reason"`
	Refund bool    `json:"refund"`
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
	cmd := command.CancelOrder{Facts: command.FactsOf(order), TraceID: r.traceID, Reason: reason,
		Refund: in.Refund, RefundID: a.newRefundID(order)}
	return awaiting(a, r, r.replyKey(r.Mode, key), in, cmd, func(done command.CancelResult) (int, []byte) {
		return Answers{}.Cancelled(done.Order, commerce.Delivery{}, done.Refund)
	}, a.refundRefused)
}
