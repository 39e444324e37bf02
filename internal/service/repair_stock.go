package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RepairStock is a product with a broken chain of stock moves. The use case sets Actor and
// After.
type RepairStock = command.RepairStock

// RepairStock begins the chain of stock moves of a product again at its current quantity.
// Sales are not affected.
func (s *Service) RepairStock(ctx context.Context, by commerce.Actor, in RepairStock) (commerce.StockMove, error) {
	stock, err := s.reader.Stock(ctx, []string{in.Product.ProductID})
	if err != nil {
		return commerce.StockMove{}, err
	}
	newest, err := s.reader.StockMoves(ctx, in.Product, stock[in.Product.ProductID].NewestMove(), 1)
	if err != nil {
		return commerce.StockMove{}, err
	}
	for _, m := range newest {
		in.After = m.Seq
	}
	in.Actor = by.Name()
	return act(ctx, s, by, deed{"repair_stock", in.Product.StoreID, in.Product.ProductID}, in)
}
