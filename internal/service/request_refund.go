package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ForReason is the input of what staff do with an order for a reason.
type ForReason struct {
	Order  commerce.Order // as the caller found it; only its unchanging facts are used
	Reason string
}

// RequestRefund records that the customer of an order wants the money back.
func (s *Service) RequestRefund(ctx context.Context, by Caller, in ForReason) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"request_refund", in.Order.StoreID, in.Order.ID},
		command.RequestRefund{Facts: by.facts(in.Order), Actor: by.Actor, Reason: in.Reason})
}
