package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// UpsertProduct is a product to create or update. The use case sets Actor, and the ID of a
// new product.
type UpsertProduct = command.UpsertProduct

// UpsertProduct creates a product, or updates it.
func (s *Service) UpsertProduct(ctx context.Context, by Caller, in UpsertProduct, o Once[commerce.Item]) (Outcome[commerce.Item], error) {
	if in.Create {
		in.ID = s.newID(commerce.PrefixProduct)
	}
	in.Actor = by.Actor
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"upsert_product", in.StoreID, in.ID}, in), neverRefused)
}
