package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// RefundOrder is money to be given back.
type RefundOrder struct {
	Order       commerce.Order        // as the caller found it; only its unchanging facts are used
	AmountCents commerce.Cents        // 0: all that is left, or what the lines are worth
	Lines       []commerce.RefundLine // without their tax; nil: the refund is by amount
	Restock     bool                  // the pieces of the lines go back into stock
	Reason      string
}

// RefundOrder gives money of a card payment back. The answer waits for the
// processor.
func (s *Service) RefundOrder(ctx context.Context, by Caller, in RefundOrder, o Once[commerce.Refund]) (Outcome[commerce.Refund], error) {
	cmd := command.RefundOrder{Facts: by.facts(in.Order), Actor: by.Actor, RefundID: s.newRefundID(in.Order),
		AmountCents: in.AmountCents, Lines: in.Lines, Restock: in.Restock, Reason: in.Reason}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"refund_order", in.Order.StoreID, in.Order.ID}, cmd), s.refundRefused)
}

// refundRefused returns the error of a call whose refund the processor refused.
func (s *Service) refundRefused(ctx context.Context, job commerce.Job) error {
	refund, err := s.reader.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &ProcessorError{refund.Error, madeOrder(job)}
}
