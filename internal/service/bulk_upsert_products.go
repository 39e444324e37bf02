package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// BulkItem is one product of many.
type BulkItem = command.BulkItem

// Upserted is the outcome of one of many products.
type Upserted = command.Upserted

// BulkUpsertProducts creates or updates products. Each is accepted or refused alone.
func (s *Service) BulkUpsertProducts(ctx context.Context, by Caller, items []BulkItem, o Once[[]Upserted]) (Outcome[[]Upserted], error) {
	readable := make([]*UpsertProduct, 0, len(items))
	for i := range items {
		if items[i].Refused != nil {
			continue
		}
		in := &items[i].UpsertProduct
		in.Actor = by.Actor
		if in.Create {
			in.ID = s.newID(commerce.PrefixProduct)
		}
		readable = append(readable, in)
	}
	return matchSKUs(ctx, s, readable, func() (Outcome[[]Upserted], error) {
		cmd := command.BulkUpsertProducts{Actor: by.Actor, Items: items}
		return once(ctx, s, by, o, auditPeople(by.Actor, deed{"bulk_upsert_products", "", "products"}, cmd), neverRefused)
	})
}
