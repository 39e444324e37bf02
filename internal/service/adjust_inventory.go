package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Adjustment is one delta. Of Product only the product's id must be set.
type Adjustment = command.AdjustmentLine

// Adjusted is the outcome of one adjustment.
type Adjusted = command.Adjusted

// AdjustInventory adds deltas to the stock of products: all of them, or none if one is
// refused.
func (s *Service) AdjustInventory(ctx context.Context, by Caller, lines []Adjustment, o Once[[]Adjusted]) (Outcome[[]Adjusted], error) {
	if err := s.findStores(ctx, lines); err != nil {
		return Outcome[[]Adjusted]{}, err
	}
	d := deed{action: "adjust_inventory"}
	if len(lines) == 1 { // else the entry names the products
		d.storeID, d.object = lines[0].Product.StoreID, lines[0].Product.ProductID
	}
	return once(ctx, s, by, o, auditPeople(by.Actor, d, command.AdjustInventory{Actor: by.Actor, Lines: lines}), neverRefused)
}

// findStores sets the store of each product. A product never changes its store.
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
