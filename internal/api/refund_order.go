package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type refundIn struct {
	AmountCents *jsonin.Int `json:"amount_cents"`
	Reason      *string     `json:"reason"`
}

// refundOrder refunds a card payment. The job that asks the processor decides the answer.
var refundOrder = keyed[refundIn](needsKey|needsNoBody, (*service.Service).RefundOrder, func(*request, commerce.Refund) (int, []byte) { return 0, nil })

func (in refundIn) call(r *request) (service.RefundOrder, error) {
	var c check
	refund := service.RefundOrder{Reason: c.Optional("reason", in.Reason, jsonin.MaxText)}
	if given := c.OptBetween("amount_cents", in.AmountCents, 1, int64(commerce.MaxTotal)); given != nil {
		refund.AmountCents = commerce.Cents(*given)
	}
	if c.Err != nil {
		return refund, c.Err
	}
	var err error
	refund.Order, err = r.order()
	return refund, err
}

// Refunded answers POST /v1/orders/{order_id}/refund with a refund that was made.
func (Answers) Refunded(r commerce.Refund) (status int, body []byte) {
	return http.StatusOK, wire.Encode(struct {
		OK                  bool                 `json:"ok"`
		OrderID             string               `json:"order_id"`
		PaymentsRefundID    string               `json:"payments_refund_id"`
		AmountRefundedCents commerce.Cents       `json:"amount_refunded_cents"`
		TotalRefundedCents  commerce.Cents       `json:"total_refunded_cents"`
		Status              commerce.OrderStatus `json:"status"`
	}{true, r.OrderID, r.ID, r.AmountCents, r.TotalRefundedCents, r.OrderStatus})
}
