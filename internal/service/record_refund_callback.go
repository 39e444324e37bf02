package service

import (
	"cmp"
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordRefundCallback is what a processor tells of a refund.
type RecordRefundCallback struct {
	OrderID     string
	RefundID    string // ours; empty: the refund was made at the processor
	Ref         string // of the refund at the processor
	AmountCents commerce.Cents
	Failed      bool   // the money did not arrive
	Message     string // why it failed
}

// RecordRefundCallback brings the ledger to what the processor says of a refund. by
// is the processor, as for RecordPayment. A conflict too_early asks for the
// callback to be sent again.
func (s *Service) RecordRefundCallback(ctx context.Context, by commerce.Actor, in RecordRefundCallback) error {
	facts, err := s.paymentFacts(ctx, by, in.OrderID)
	if err != nil {
		return err
	}
	return run(ctx, s, command.RecordRefundCallback{Facts: facts, RefundID: cmp.Or(in.RefundID, in.Ref), Ref: in.Ref,
		AmountCents: in.AmountCents, Failed: in.Failed, Message: in.Message, TraceID: by.TraceID})
}
