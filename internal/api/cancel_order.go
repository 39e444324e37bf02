package api

import (
	"net/http"

	"purveyor/internal/api/wire"
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

// Cancelled answers POST /v1/orders/{order_id}/cancel, also while the outcome of the
// courier's cancellation or of the refund is unknown. refund is the refund that the call
// asked for, or nil.
func (Answers) Cancelled(o commerce.Order, d commerce.Delivery, refund *commerce.Refund) (status int, body []byte) {
	return http.StatusOK, wire.Encode(struct {
		OK                bool                 `json:"ok"`
		OrderID           string               `json:"order_id"`
		Status            commerce.OrderStatus `json:"status"`
		DeliveryCancelled bool                 `json:"delivery_cancelled"`
		InventoryRestored bool                 `json:"inventory_restored"`
		Refund            *cancelRefund        `json:"refund,omitempty"`
	}{true, o.ID, commerce.Cancelled, d.CalledOff, o.Restocked, cancelRefundOf(refund)})
}

// cancelRefund is the refund in the answer to a cancellation. While its outcome is
// unknown, and after a refusal, the refunded amount is 0. That a bank has returned it since is
// told by an event: an answer that is made again, because the courier is called off late, says the
// same.
type cancelRefund struct {
	PaymentsRefundID    string         `json:"payments_refund_id"`
	AmountRefundedCents commerce.Cents `json:"amount_refunded_cents"`
	Error               string         `json:"error,omitempty"` // why it was refused
}

func cancelRefundOf(r *commerce.Refund) *cancelRefund {
	if r == nil {
		return nil
	}
	if r.Made() {
		return &cancelRefund{PaymentsRefundID: r.ID, AmountRefundedCents: r.AmountCents}
	}
	return &cancelRefund{PaymentsRefundID: r.ID, Error: r.Error}
}
