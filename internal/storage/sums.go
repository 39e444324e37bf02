package storage

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
)

// Sums reads the sums that reports are made from, and what they are made from.
type Sums interface {
	// HourSums calls f for each sum of an hour, in any order. f must not keep the sum.
	HourSums(ctx context.Context, q SumFilter, f func(commerce.DaySumsKey, *commerce.HourSum)) error

	SumPosition(ctx context.Context, name string) (commerce.SumPosition, error)

	// ChangedOrders reads when orders of a partner (empty: the merchant) and mode were made
	// and when they were last changed, in the order of these times, at most limit, from a
	// time (inclusive) on. An order that was changed later stands there twice. A change of a
	// batch that is still open may appear later, before what was read.
	ChangedOrders(ctx context.Context, partnerID string, mode commerce.Mode, from commerce.Millis, limit int) ([]OrderChange, error)

	// OrdersToSum reads the facts of at most limit orders of a store whose ids lie between
	// two others (from is inclusive, to is exclusive), in the order of ids.
	OrdersToSum(ctx context.Context, storeID, from, to string, limit int) ([]commerce.SumFacts, error)

	// EventsToSum reads the facts of at most limit webhook events of a partner whose ids
	// lie between two others (from is inclusive, to is exclusive), in the order of ids.
	// Events without a store are left out, but count for the limit: through is the id of
	// the last event that was read; empty: there was none.
	EventsToSum(ctx context.Context, partnerID, from, to string, limit int) (facts []commerce.WebhookFacts, through string, err error)
}

// OrderChange is when an order was made, or last changed.
type OrderChange struct {
	ID string
	At commerce.Millis
}

// Compare orders changes by their times.
func (c OrderChange) Compare(d OrderChange) int {
	return cmp.Or(cmp.Compare(c.At, d.At), cmp.Compare(c.ID, d.ID))
}

// SumFilter selects sums.
type SumFilter struct {
	StoreIDs []string
	Mode     commerce.Mode
	// From and Until are full hours. Until is exclusive.
	From, Until commerce.Millis
}

// Has reports whether the filter selects an hour of a day. The days of the filter are
// selected before.
func (q SumFilter) Has(day commerce.Millis, h *commerce.HourSum) bool {
	at := day + commerce.Millis(h.Hour*hourMs)
	return at >= q.From && at < q.Until
}

const hourMs = 60 * 60 * 1000
