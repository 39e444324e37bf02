package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// CancelOrder is the input of Service.CancelOrder.
type CancelOrder struct {
	Order  commerce.Order // as the caller found it; only its unchanging facts are used
	Reason string
	Refund bool // also refund the rest of the payment
}

// Cancelled is the cancelled order with the refund that was started.
type Cancelled = command.CancelResult

// CancelOrder ends an order before its goods are handed over. The answer waits until the
// courier is called off and the refund is decided.
func (s *Service) CancelOrder(ctx context.Context, by Caller, in CancelOrder, o Once[Cancelled]) (Outcome[Cancelled], error) {
	cmd := command.CancelOrder{Facts: by.facts(in.Order), Actor: by.Actor, Reason: in.Reason,
		Refund: in.Refund, RefundID: s.newRefundID(in.Order)}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"cancel_order", in.Order.StoreID, in.Order.ID}, cmd), s.refundRefused)
}
