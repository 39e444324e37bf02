package service

import (
	"context"

	"purveyor/internal/command"
)

// DeclineRefund takes an order back to where it stood before its refund was requested.
func (s *Service) DeclineRefund(ctx context.Context, by Caller, in ForReason) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"decline_refund", in.Order.StoreID, in.Order.ID},
		command.DeclineRefund{Facts: by.facts(in.Order), Actor: by.Actor, Reason: in.Reason})
}
