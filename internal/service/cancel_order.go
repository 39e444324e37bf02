package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// CancelOrder is an order to be cancelled.
type CancelOrder struct {
	Order  commerce.Order // as it was found; only what never changes is used
	Reason string
	Refund bool // what is left of the payment goes back
}

// Cancelled is what cancelling undid.
type Cancelled = command.CancelResult

// CancelOrder ends an order before its goods were handed over. The answer waits
// for the courier to be sent home and for the refund.
func (s *Service) CancelOrder(ctx context.Context, by Caller, in CancelOrder, o Once[Cancelled]) (Outcome[Cancelled], error) {
	cmd := command.CancelOrder{Facts: command.FactsOf(in.Order), TraceID: by.TraceID, Reason: in.Reason,
		Refund: in.Refund, RefundID: s.newRefundID(in.Order)}
	return once(ctx, s, by, o, cmd, s.refundRefused)
}
