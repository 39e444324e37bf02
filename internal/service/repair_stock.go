package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RepairStock is a product with a broken chain of stock moves. The use case sets Actor.
type RepairStock = command.RepairStock

// RepairStock begins the chain of stock moves of a product again at its current quantity.
// Sales are not affected.
func (s *Service) RepairStock(ctx context.Context, by commerce.Actor, in RepairStock) (commerce.StockMove, error) {
	in.Actor = by.Name()
	return act(ctx, s, by, deed{"repair_stock", in.Product.StoreID, in.Product.ProductID}, in)
}
