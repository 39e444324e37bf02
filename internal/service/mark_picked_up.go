package service

import (
	"context"

	"purveyor/internal/command"
)

// MarkPickedUp records that the customer has the goods of a pickup order.
func (s *Service) MarkPickedUp(ctx context.Context, by Caller, in Handover) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"mark_picked_up", in.Order.StoreID, in.Order.ID}, command.MarkPickedUp{Facts: by.facts(in.Order), Actor: by.Actor, PickedUpAt: in.At})
}
