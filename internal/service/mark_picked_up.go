package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// MarkPickedUp is the input of Service.MarkPickedUp.
type MarkPickedUp struct {
	Order      commerce.Order  // as the caller found it; only its unchanging facts are used
	PickedUpAt commerce.Millis // Unix ms; 0: now
}

// MarkPickedUp records that the customer has the goods of a pickup order.
func (s *Service) MarkPickedUp(ctx context.Context, by Caller, in MarkPickedUp) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"mark_picked_up", in.Order.StoreID, in.Order.ID}, command.MarkPickedUp{Facts: command.FactsOf(in.Order), Actor: by.Actor, PickedUpAt: in.PickedUpAt})
}
