package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// Orders reads orders and what belongs to each of them.
type Orders interface {
	Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error)
	ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error)

	// Timeline reads the newest events of an order, at most limit, oldest first.
	Timeline(ctx context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error)

	// Delivery of an order.
	Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error)
}

// AttentionReader reads the reasons for the merchant to look at orders.
type AttentionReader interface {
	// Attention reads the open and resolved reasons of an order, in the order of the
	// codes.
	Attention(ctx context.Context, key commerce.OrderKey) ([]commerce.Attention, error)

	// OpenAttention reads at most limit open reasons of a store behind the given
	// position, in the order of (Since, OrderID, Code).
	OpenAttention(ctx context.Context, storeID string, after AttentionPosition, limit int) ([]commerce.Attention, error)
}

// AttentionPosition is a position in the order of a store's open reasons: behind the
// reason with this time, order and code.
type AttentionPosition struct {
	Since   commerce.Millis
	OrderID string
	Code    commerce.AttentionCode
}

// CourierFacts reads geocoded addresses, and callbacks about unknown deliveries.
type CourierFacts interface {
	// GeocodedAddress is the place of the address with this digest.
	GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error)

	// StrayCallbacks are the stored callbacks about an unknown delivery, oldest first.
	StrayCallbacks(ctx context.Context, deliveryID string) ([]commerce.StrayCallback, error)
}
