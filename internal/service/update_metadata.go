package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// UpdateMetadata is a change of an order's metadata.
type UpdateMetadata struct {
	Order   commerce.Order     // as the caller found it; only its unchanging facts are used
	Changes map[string]*string // nil removes a name
}

// UpdateMetadata changes the metadata of an order.
func (s *Service) UpdateMetadata(ctx context.Context, by Caller, in UpdateMetadata, o Once[commerce.Order]) (Outcome[commerce.Order], error) {
	cmd := command.UpdateMetadata{Facts: by.facts(in.Order), Actor: by.Actor, Changes: in.Changes}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"update_metadata", in.Order.StoreID, in.Order.ID}, cmd), neverRefused)
}
