package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Handover is the input of MarkReady and MarkPickedUp.
type Handover struct {
	Order commerce.Order  // as the caller found it; only its unchanging facts are used
	At    commerce.Millis // when the goods were ready or picked up, in Unix ms; 0: now
}

// MarkReady records that a pickup order waits for its customer.
func (s *Service) MarkReady(ctx context.Context, by Caller, in Handover) (Outcome[Advanced], error) {
	return s.advance(ctx, by, deed{"mark_ready", in.Order.StoreID, in.Order.ID}, command.MarkReady{Facts: by.facts(in.Order), Actor: by.Actor, ReadyAt: in.At})
}
