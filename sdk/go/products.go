package purveyor

import (
	"context"
	"iter"
)

// longestPage is the most entries that a page can have.
const longestPage = 300

// ProductsService is about the catalog.
type ProductsService struct{ client *Client }

// List reads one page of products, the least recently changed first.
func (s *ProductsService) List(ctx context.Context, query ListProductsQuery, options ...Option) (*ProductList, error) {
	return call(ctx, s.client, opListProducts, nil, query, nil, options...)
}

// All ranges over the products of all pages.
func (s *ProductsService) All(ctx context.Context, query ListProductsQuery, options ...Option) iter.Seq2[Product, error] {
	return pages(ctx, func(ctx context.Context, cursor string) ([]Product, string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		list, err := s.List(ctx, query, options...)
		if err != nil {
			return nil, "", err
		}
		return list.Products, list.NextCursor, nil
	})
}

// Sync ranges over the products that were changed at or after a time, active or not unless
// the query says, in the order of their changes. Since 0 it ranges over all. Keep the
// UpdatedOn of the last product that you have stored: it is the since of the next Sync, also
// after a crash. The products of that very time come again then.
func (s *ProductsService) Sync(ctx context.Context, since UnixMillis, query ListProductsQuery, options ...Option) iter.Seq2[Product, error] {
	query.UpdatedSince = since
	if query.Active == "" {
		query.Active = "all"
	}
	if query.Limit == 0 {
		query.Limit = longestPage
	}
	return s.All(ctx, query, options...)
}

// Get reads a product.
func (s *ProductsService) Get(ctx context.Context, productID string, options ...Option) (*ProductReply, error) {
	return call(ctx, s.client, opGetProduct, []string{productID}, none{}, nil, options...)
}

// Availability tells whether quantities are in stock now.
func (s *ProductsService) Availability(ctx context.Context, body AvailabilityRequest, options ...Option) (*AvailabilityReply, error) {
	return call(ctx, s.client, opCheckAvailability, nil, none{}, &body, append(options, harmless)...)
}

// UpsertBySKU updates the product of the store with the SKU, or creates it. Two such calls at
// once create one product.
func (s *ProductsService) UpsertBySKU(ctx context.Context, body ProductInput, options ...Option) (*UpsertReply, error) {
	var either any = body
	return call(ctx, s.client, opUpsertProduct, nil, UpsertProductQuery{Match: "sku"}, &either, options...)
}

// Upsert creates a product, or updates the one that body.ID names.
func (s *ProductsService) Upsert(ctx context.Context, body ProductInput, options ...Option) (*UpsertReply, error) {
	var either any = body
	return call(ctx, s.client, opUpsertProduct, nil, UpsertProductQuery{}, &either, options...)
}

// BulkUpsert upserts 1 to 200 products, which succeed or fail alone: look at Failed, and at
// the Results, which are in the order of the products.
func (s *ProductsService) BulkUpsert(ctx context.Context, body BulkUpsertRequest, options ...Option) (*BulkUpsertReply, error) {
	return call(ctx, s.client, opBulkUpsertProducts, nil, none{}, &body, options...)
}

// InventoryService moves stock by deltas.
type InventoryService struct{ client *Client }

// Adjust makes all adjustments, or none.
func (s *InventoryService) Adjust(ctx context.Context, body AdjustmentsRequest, options ...Option) (*AdjustmentsReply, error) {
	return call(ctx, s.client, opAdjustInventory, nil, none{}, &body, options...)
}
