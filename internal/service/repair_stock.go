package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RepairStock is a product whose chain of stock moves is broken. The use case
// fills in Actor.
type RepairStock = command.RepairStock

// RepairStock lets the chain of a product begin again at the quantity that it
// has. What can be sold does not change.
func (s *Service) RepairStock(ctx context.Context, by commerce.Actor, in RepairStock) (commerce.StockMove, error) {
	in.Actor = by.Name()
	return act(ctx, s, by, in)
}
