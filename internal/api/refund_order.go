package api

import (
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
