package service

import (
	"context"
	"maps"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Available is the availability of one line of a cart.
type Available struct {
	Line       commerce.OrderLine
	Found      bool           // the product exists in a store that the caller may use
	Stock      commerce.Stock // set if Found
	WrongStore bool           // the product belongs to another store than the requested one
	Available  bool
}

// CheckAvailability reports for each line whether it could be sold right now, and whether
// all lines could be sold. storeID is the store that is to sell; nil stands for any store.
// If several lines name one product, each is available only if there is enough stock for
// all of them together. Nothing is reserved. It refuses a store that the caller may not
// use.
func (s *Service) CheckAvailability(ctx context.Context, by Caller, storeID *string, lines []commerce.OrderLine) ([]Available, bool, error) {
	if storeID != nil {
		if err := s.MayReadStore(ctx, by.Partner, *storeID); err != nil {
			return nil, false, err
		}
	}

	wanted := make(map[string]int64, len(lines))
	ids := make([]string, 0, len(lines))
	for _, d := range commerce.Demands(lines) {
		wanted[d.ProductID] = d.Quantity
		ids = append(ids, d.ProductID)
	}
	stock, err := s.reader.Stock(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	selling, err := s.selling(ctx, stock)
	if err != nil {
		return nil, false, err
	}
	items, all := make([]Available, len(lines)), true
	for i, l := range lines {
		product, known := stock[l.ProductID]
		it := Available{Line: l, WrongStore: known && storeID != nil && product.StoreID != *storeID}
		if known && by.Partner.MayUse(product.StoreID) == nil {
			_, refused := product.Sell(commerce.Demand{ProductID: l.ProductID, Quantity: wanted[l.ProductID]}, by.Mode)
			it.Found, it.Stock = true, product
			it.Available = refused == nil && selling[product.StoreID] && !it.WrongStore
		}
		items[i] = it
		all = all && it.Available
	}
	return items, all, nil
}

// selling returns the active stores of these products.
func (s *Service) selling(ctx context.Context, stock map[string]commerce.Stock) (map[string]bool, error) {
	stores := make(map[string]bool, 1)
	for _, p := range stock {
		stores[p.StoreID] = false
	}
	if len(stores) == 0 {
		return stores, nil
	}
	active, err := s.reader.Stores(ctx, storage.StoreFilter{Active: true, IDs: slices.Collect(maps.Keys(stores)), Limit: len(stores)})
	for _, store := range active {
		stores[store.ID] = true
	}
	return stores, err
}
