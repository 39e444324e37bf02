package storage

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
)

// OrderFinder finds the orders that staff work with.
type OrderFinder interface {
	// OpenOrders reads open orders of one status, the oldest first: in the order of
	// (CreatedOn, StoreID, ID). At the limit it may choose any of the orders that one store
	// made in one millisecond.
	OpenOrders(ctx context.Context, f OpenFilter) ([]commerce.Order, error)
}

// OpenFilter selects open orders.
type OpenFilter struct {
	Stores []string // nil: all
	Status commerce.OrderStatus
	Limit  int
}

// ByAge orders orders, the oldest first.
func ByAge(a, b commerce.Order) int {
	return cmp.Or(cmp.Compare(a.CreatedOn, b.CreatedOn), cmp.Compare(a.StoreID, b.StoreID), cmp.Compare(a.ID, b.ID))
}
