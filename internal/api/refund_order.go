package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type refundIn struct {
	AmountCents *jsonin.Int                               `json:"amount_cents"`
	Reason      *string                                   `json:"reason"`
	Lines       *jsonin.List[refundLineIn, maxOrderLines] `json:"lines,omitzero"` // an empty list is not all that is left
	Restock     bool                                      `json:"restock,omitzero"`
}

type refundLineIn struct {
	ProductID *string     `json:"product_id"`
	Quantity  *jsonin.Int `json:"quantity"`
}

// refundOrder refunds a card payment. The job that asks the processor decides the answer.
var refundOrder = keyed[refundIn](needsKey|needsNoBody, (*service.Service).RefundOrder, func(*request, commerce.Refund) (int, []byte) { return 0, nil })

func (in refundIn) call(r *request) (service.RefundOrder, error) {
	var c check
	refund := service.RefundOrder{Reason: c.Optional("reason", in.Reason, jsonin.MaxText)}
	if given := c.OptBetween("amount_cents", in.AmountCents, 1, int64(commerce.MaxTotal)); given != nil {
		refund.AmountCents = commerce.Cents(*given)
	}
	switch {
	case in.Lines != nil:
		refund.Lines, refund.Restock = c.refundLines(*in.Lines), in.Restock
		if in.AmountCents != nil {
			c.Fail("amount_cents", "must be left out with lines, which have an amount of their own")
		}
	case in.Restock:
		c.Fail("restock", "needs lines")
	}
	if c.Err != nil {
		return refund, c.Err
	}
	var err error
	refund.Order, err = r.order()
	return refund, err
}

func (c *check) refundLines(in []refundLineIn) []commerce.RefundLine {
	c.NotEmpty("lines", len(in))
	lines := make([]commerce.RefundLine, len(in))
	c.Each("lines", len(in), func(i int) {
		lines[i] = commerce.RefundLine{ProductID: c.ID("product_id", in[i].ProductID), Quantity: c.Between("quantity", in[i].Quantity, 1, commerce.MaxQuantity)}
	})
	return lines
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
