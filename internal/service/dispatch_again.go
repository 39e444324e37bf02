package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// DispatchAgain has another courier looked for. It does not wait for one.
func (s *Service) DispatchAgain(ctx context.Context, by Caller, in ForReason) (commerce.Delivery, error) {
	return act(ctx, s, by.Actor, deed{"dispatch_again", in.Order.StoreID, in.Order.ID},
		command.DispatchAgain{Facts: by.facts(in.Order), Actor: by.Actor, Reason: in.Reason})
}
