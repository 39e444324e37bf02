package service

import (
	"cmp"
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordRefundCallback is a callback about a refund.
type RecordRefundCallback struct {
	OrderID     string
	RefundID    string // our id; empty: the refund was made at the processor
	Ref         string // the processor's id of the refund
	AmountCents commerce.Cents
	Failed      bool   // the money did not arrive
	Message     string // why it failed
}

// RecordRefundCallback brings the ledger into agreement with a callback about a refund. by
// is the processor, as for RecordPayment. It returns the conflict too_early if the
// processor should send the callback again later.
func (s *Service) RecordRefundCallback(ctx context.Context, by commerce.Actor, in RecordRefundCallback) error {
	facts, err := s.paymentFacts(ctx, by, in.OrderID)
	if err != nil {
		return err
	}
	return run(ctx, s, command.RecordRefundCallback{Facts: facts, RefundID: cmp.Or(in.RefundID, in.Ref), Ref: in.Ref,
		AmountCents: in.AmountCents, Failed: in.Failed, Message: in.Message, Actor: by})
}
