package service

import (
	"context"
	"errors"
	"maps"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/productcsv"
	"purveyor/internal/storage"
)

// PreviewProducts tells what a file of products, whose rows all have ids, would change if a
// user imported it, and whether it would set quantities of known products, too. It
// reads the products in several steps, so a sale between them may be in the one and not in
// the other; the import compares again.
func (s *Service) PreviewProducts(ctx context.Context, by Caller, file productcsv.File, quantities bool) (productcsv.Preview, error) {
	current := productcsv.Current{Products: map[string]commerce.Item{}, Stores: map[string]bool{}, Categories: map[string]commerce.Category{}}
	categories, err := s.reader.Categories(ctx, storage.CategoryFilter{})
	if err != nil {
		return productcsv.Preview{}, err
	}
	for _, c := range categories {
		current.Categories[c.ID] = c
	}
	for rows := range slices.Chunk(file.Rows, checkPage) {
		var ids []string
		for _, row := range rows {
			current.Stores[row.StoreID] = false
			ids = append(ids, row.ID)
		}
		if err := s.itemsOf(ctx, ids, current.Products); err != nil {
			return productcsv.Preview{}, err
		}
	}
	for _, item := range current.Products {
		current.Stores[item.StoreID] = false
	}
	if err := s.mayImport(ctx, by.User, current.Stores, quantities); err != nil {
		return productcsv.Preview{}, err
	}
	return productcsv.Compare(file, current, quantities), nil
}

// itemsOf adds products of any stores by their ids.
func (s *Service) itemsOf(ctx context.Context, ids []string, found map[string]commerce.Item) error {
	stock, err := s.reader.Stock(ctx, ids)
	if err != nil {
		return err
	}
	byStore := map[string][]string{}
	for id, row := range stock {
		byStore[row.StoreID] = append(byStore[row.StoreID], id)
	}
	for store, ids := range byStore {
		items, err := s.reader.Items(ctx, store, ids)
		if err != nil {
			return err
		}
		maps.Copy(found, items)
	}
	return nil
}

// mayImport marks the stores that exist and whose products the user may change.
func (s *Service) mayImport(ctx context.Context, user commerce.User, stores map[string]bool, quantities bool) error {
	for id := range stores {
		if !user.May(commerce.MayWriteProducts, id) || quantities && !user.May(commerce.MayWriteInventory, id) {
			continue
		}
		_, err := s.storeNo(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		stores[id] = err == nil
	}
	return nil
}
