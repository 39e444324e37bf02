package service

import (
	"context"
	"maps"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Available is what could be sold of one line of a cart.
type Available struct {
	Line       commerce.OrderLine
	Found      bool           // the product is known, in a store that the caller may use
	Stock      commerce.Stock // if it was found
	WrongStore bool           // the product is of another store than the one asked for
	Available  bool
}

// CheckAvailability tells for each line whether it could be sold right now, and
// whether all could. storeID is the store that is to sell; nil: any. A product on
// several lines is available on each only if there is enough for all of them
// together. Nothing is reserved. It refuses a store that the caller may not use.
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
		if known && by.Partner.MayUse(product.StoreID) {
			it.Found, it.Stock = true, product
			it.Available = product.Active && selling[product.StoreID] && !it.WrongStore && wanted[l.ProductID] <= product.Quantity
		}
		items[i] = it
		all = all && it.Available
	}
	return items, all, nil
}

// selling holds the active stores among those of these products.
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
