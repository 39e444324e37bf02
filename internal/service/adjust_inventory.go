package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Adjustment is one delta. Its Product needs only the id of the product.
type Adjustment = command.AdjustmentLine

// Adjusted is what one adjustment did.
type Adjusted = command.Adjusted

// AdjustInventory adds deltas to the stock of products: all of them, or none.
func (s *Service) AdjustInventory(ctx context.Context, by Caller, lines []Adjustment, o Once[[]Adjusted]) (Outcome[[]Adjusted], error) {
	if err := s.findStores(ctx, lines); err != nil {
		return Outcome[[]Adjusted]{}, err
	}
	return once(ctx, s, by, o, command.AdjustInventory{Actor: by.Actor, Lines: lines}, neverRefused)
}

// findStores fills in the store of each product, which never changes.
func (s *Service) findStores(ctx context.Context, lines []Adjustment) error {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.Product.ProductID
	}
	stock, err := s.reader.Stock(ctx, ids)
	if err != nil {
		return err
	}
	for i := range lines {
		found, ok := stock[lines[i].Product.ProductID]
		if !ok {
			e := commerce.NotFound("product")
			e.Message = "product " + lines[i].Product.ProductID + " not found"
			return e
		}
		lines[i].Product.StoreID = found.StoreID
	}
	return nil
}
