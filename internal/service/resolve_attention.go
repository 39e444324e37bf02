package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResolveAttention is a reason to look at an order that staff have dealt with.
type ResolveAttention struct {
	Order commerce.Order // as the caller found it; only its unchanging facts are used
	Code  commerce.AttentionCode
	Since commerce.Millis // when the reason was raised, as the person saw it; 0: any time
	Note  string
}

// ResolveAttention closes a reason to look at an order.
func (s *Service) ResolveAttention(ctx context.Context, by Caller, in ResolveAttention) (commerce.Attention, error) {
	return act(ctx, s, by.Actor, deed{"resolve_attention", in.Order.StoreID, in.Order.ID},
		command.ResolveAttention{Facts: command.FactsOf(in.Order), Actor: by.Actor, Code: in.Code, Since: in.Since, Note: in.Note})
}
