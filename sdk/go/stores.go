package purveyor

import (
	"context"
	"iter"
)

// StoresService is about the stores that the key may use.
type StoresService struct{ client *Client }

// List reads one page of stores.
func (s *StoresService) List(ctx context.Context, query ListStoresQuery, options ...Option) (*StoreList, error) {
	return call(ctx, s.client, opListStores, nil, query, nil, options...)
}

// All ranges over the stores of all pages.
func (s *StoresService) All(ctx context.Context, query ListStoresQuery, options ...Option) iter.Seq2[Store, error] {
	return pages(ctx, func(ctx context.Context, cursor string) ([]Store, string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		list, err := s.List(ctx, query, options...)
		if err != nil {
			return nil, "", err
		}
		return list.Stores, list.NextCursor, nil
	})
}

// Nearby finds the stores near an address.
func (s *StoresService) Nearby(ctx context.Context, body NearbyRequest, options ...Option) (*NearbyReply, error) {
	return call(ctx, s.client, opFindNearbyStores, nil, none{}, &body, append(options, harmless)...)
}

// Categories lists the categories that have products in a store.
func (s *StoresService) Categories(ctx context.Context, storeID string, options ...Option) (*CategoryList, error) {
	return call(ctx, s.client, opListStoreCategories, []string{storeID}, none{}, nil, options...)
}

// CategoriesService is about the categories of products.
type CategoriesService struct{ client *Client }

// List lists the categories. The list has no pages.
func (s *CategoriesService) List(ctx context.Context, query ListCategoriesQuery, options ...Option) (*CategoryList, error) {
	return call(ctx, s.client, opListCategories, nil, query, nil, options...)
}
