package api

import (
	"net/http"

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
		Refund: in.Refund, RefundID: a.newRefundID(order), Answers: r.replyKey(r.Mode, key)}
	return awaiting(a, r, cmd.Answers, in, cmd, encodeCancelled, a.refundRefused)
}

// encodeCancelled is the answer, and with a refund on its way that for the
// meantime.
func encodeCancelled(done command.CancelResult) (int, []byte) {
	answer := wire.CancelAnswer{OK: true, OrderID: done.Order.ID, Status: commerce.Cancelled,
		DeliveryCancelled: done.DeliveryCancelled, InventoryRestored: done.InventoryRestored}
	if done.Refund != nil {
		answer.Refund = &wire.CancelRefund{PaymentsRefundID: done.Refund.ID}
	}
	return http.StatusOK, wire.Encode(answer)
}
