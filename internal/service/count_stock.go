package service

import (
	"context"

	"purveyor/internal/command"
)

// CountStock is a count of a product. The use case sets Actor.
type CountStock = command.CountStock

// Counted is the outcome of a count.
type Counted = command.Counted

// CountStock sets the quantity of a product to the pieces that staff counted.
func (s *Service) CountStock(ctx context.Context, by Caller, in CountStock, o Once[Counted]) (Outcome[Counted], error) {
	in.Actor = by.Actor
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"count_stock", in.Product.StoreID, in.Product.ProductID}, in), neverRefused)
}
