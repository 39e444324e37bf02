package service

import (
	"cmp"
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordRefundCallback is a callback about a refund. RefundID is empty for a refund that
// was made at the processor. The use case sets Facts and Actor.
type RecordRefundCallback = command.RecordRefundCallback

// RecordRefundCallback brings the ledger into agreement with a callback about a refund. by
// is the processor, as for RecordPayment. It returns the conflict too_early if the
// processor should send the callback again later.
func (s *Service) RecordRefundCallback(ctx context.Context, by commerce.Actor, orderID string, in RecordRefundCallback) (err error) {
	if in.Facts, err = s.paymentFacts(ctx, by, orderID); err != nil {
		return err
	}
	in.Actor, in.RefundID = by, cmp.Or(in.RefundID, in.Ref)
	return run(ctx, s, in)
}
