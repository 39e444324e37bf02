package memory

import (
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func inStores(stores []string, id string) bool { return stores == nil || slices.Contains(stores, id) }

func (r reader) OpenOrders(_ context.Context, f storage.OpenFilter) ([]commerce.Order, error) {
	return list(r, &schema.Orders, f.Limit, func(o commerce.Order) bool {
		return o.Status == f.Status && o.Status.Open() && inStores(f.Stores, o.StoreID)
	}, storage.ByAge)
}
