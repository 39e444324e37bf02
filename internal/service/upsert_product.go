package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// UpsertProduct is a product to create or update. The use case sets Actor, the ID of a
// new product, and what BySKU holds.
type UpsertProduct = command.UpsertProduct

// BySKU in an UpsertProduct asks to find the product by its store and SKU.
func BySKU() *command.SKUMatch { return &command.SKUMatch{} }

// UpsertProduct creates a product, or updates it.
func (s *Service) UpsertProduct(ctx context.Context, by Caller, in UpsertProduct, o Once[commerce.Item]) (Outcome[commerce.Item], error) {
	if in.Create {
		in.ID = s.newID(commerce.PrefixProduct)
	}
	in.Actor = by.Actor
	return matchSKUs(ctx, s, []*UpsertProduct{&in}, func() (Outcome[commerce.Item], error) {
		return once(ctx, s, by, o, auditPeople(by.Actor, deed{"upsert_product", in.StoreID, in.ID}, in), neverRefused)
	})
}

// triesAtSKUs is how often upserts by SKU are tried while the SKUs change.
const triesAtSKUs = 20

// matchSKUs finds the products of upserts by SKU, and then runs the command with them.
func matchSKUs[R any](ctx context.Context, s *Service, in []*UpsertProduct, run func() (R, error)) (result R, err error) {
	for try := range triesAtSKUs {
		if err := s.findSKUs(ctx, in, try+1); err != nil {
			return result, err
		}
		if result, err = run(); !errors.Is(err, command.ErrSKUsMoved) {
			return result, err
		}
	}
	return result, err
}

// findSKUs sets the products that upserts by SKU may be about, with so many ids for a new
// one.
func (s *Service) findSKUs(ctx context.Context, in []*UpsertProduct, ids int) error {
	byStore := map[string][]string{}
	for _, p := range in {
		if p.BySKU != nil {
			byStore[p.StoreID] = append(byStore[p.StoreID], *p.SKU)
		}
	}
	found := make(map[string]map[string][]string, len(byStore))
	for store, skus := range byStore {
		var err error
		if found[store], err = s.reader.ProductsBySKU(ctx, store, skus); err != nil {
			return err
		}
	}
	for _, p := range in {
		if p.BySKU == nil {
			continue
		}
		p.BySKU = &command.SKUMatch{Found: found[p.StoreID][*p.SKU]}
		for try := range ids {
			p.BySKU.New = append(p.BySKU.New, commerce.ProductIDOfSKU(p.StoreID, *p.SKU, try))
		}
	}
	return nil
}
