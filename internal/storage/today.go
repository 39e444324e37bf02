package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Overview reads what the first page of the back office shows. Stores that are nil stand for
// all.
type Overview interface {
	// OpenCounts counts the open orders of each status, up to a number of each. Statuses
	// without orders are left out.
	OpenCounts(ctx context.Context, stores []string, most int) ([]OpenCount, error)

	// AttentionCounts counts the open reasons of stores by their codes, in any order, up to a
	// number of all.
	AttentionCounts(ctx context.Context, stores []string, most int) ([]AttentionCount, error)

	// LateDeliveries reads deliveries under way that their provider had promised for a time
	// before at. It looks at the oldest orders, up to a number of each status.
	LateDeliveries(ctx context.Context, stores []string, at commerce.Millis, most int) ([]commerce.Delivery, error)
}

// OpenCount is how many open orders have a status.
type OpenCount struct {
	Status commerce.OrderStatus
	Count  int64
	Oldest commerce.Millis // when the oldest of them was made
}

// AttentionCount is how many orders have an open reason.
type AttentionCount struct {
	Code   commerce.AttentionCode
	Count  int64
	Oldest commerce.Millis
}

// UnderWay are the statuses of orders that a courier may have.
var UnderWay = []commerce.OrderStatus{commerce.Shipped, commerce.OutForDelivery}
