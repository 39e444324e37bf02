package storage

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
)

// OrderFinder finds the orders that staff work with. A list of stores that is nil stands for
// all stores.
type OrderFinder interface {
	// OpenOrders reads open orders of one status, the oldest first: in the order of
	// (CreatedOn, StoreID, ID). At the limit it may choose any of the orders that one store
	// made in one millisecond.
	OpenOrders(ctx context.Context, f OpenFilter) ([]commerce.Order, error)

	// OpenOrdersEnding reads the newest open orders whose ids end with a text, at most limit.
	// It looks at the newest orders of each status, at most EndingExamined.
	OpenOrdersEnding(ctx context.Context, stores []string, end string, limit int) ([]commerce.Order, error)

	// OrderPage reads one page of a list, the newest first.
	OrderPage(ctx context.Context, f OrderFilter) (OrderPage, error)

	// OrdersByKey reads orders by key. The map lacks unknown keys.
	OrdersByKey(ctx context.Context, keys []commerce.OrderKey) (map[commerce.OrderKey]commerce.Order, error)

	// ExternalOrders are the keys of the orders that any partner calls so, live or test.
	ExternalOrders(ctx context.Context, externalID string) ([]commerce.OrderKey, error)

	// ContactOrders reads the newest orders of the customers with a contact, at most limit.
	// The stores must be named. Orders without an address and an e-mail address have no
	// contact, and are not looked at. Of a customer with more than CustomerExamined orders
	// some may be missing.
	ContactOrders(ctx context.Context, stores []string, contact string, limit int) ([]commerce.Order, error)

	// AllOpenAttention reads the open reasons of stores, at most limit. The stores must be
	// named. The most urgent reason stands first, and of one code the oldest.
	AllOpenAttention(ctx context.Context, stores []string, limit int) ([]commerce.Attention, error)
}

// Bounds of reads that look at more rows than they return.
const (
	EndingExamined   = 2000
	CustomerExamined = 5000
)

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

// Newest orders orders, the newest first, and keeps at most limit.
func Newest(orders []commerce.Order, limit int) []commerce.Order {
	slices.SortFunc(orders, func(a, b commerce.Order) int { return ByAge(b, a) })
	return orders[:min(len(orders), limit)]
}

// ByUrgency orders reasons, the most urgent first.
func ByUrgency(a, b commerce.Attention) int {
	return cmp.Or(cmp.Compare(a.Code.Rank(), b.Code.Rank()), cmp.Compare(a.Since, b.Since), cmp.Compare(a.OrderID, b.OrderID), cmp.Compare(a.Code, b.Code))
}

// OrderStore is a store whose orders are selected. Ids of orders begin with its number.
type OrderStore struct {
	ID string
	No int64
}

// OrderFilter selects the orders of a list. The list is read in lanes, each of which an index
// has in its order: the orders of each store by their ids or, by when they were made, those of
// each partner and mode or of each open status.
type OrderFilter struct {
	Stores    []OrderStore // nil: all, which needs other lanes than those of stores
	Partners  []string     // nil: all, which must not be with ByPartner; an empty id is the merchant
	ByPartner bool
	ByStatus  bool          // all of Statuses are open
	Mode      commerce.Mode // empty: both
	Source    string        // empty: all
	Statuses  []commerce.OrderStatus
	Since     commerce.Millis // of CreatedOn, inclusive; 0: no bound
	Until     commerce.Millis // exclusive; 0: no bound
	MinCents  commerce.Cents
	MaxCents  commerce.Cents // 0: no bound
	After     OrderPosition
	Limit     int
	Examine   int // how many rows may be read, about
}

// OrderPosition is a position in a list: behind the order with this time and id. The zero
// position is the beginning.
type OrderPosition struct {
	At commerce.Millis
	ID string
}

// Compare orders positions. The newer one is greater.
func (p OrderPosition) Compare(q OrderPosition) int {
	return cmp.Or(cmp.Compare(p.At, q.At), cmp.Compare(p.ID, q.ID))
}

// OrderPage is one page of a list.
type OrderPage struct {
	Orders []commerce.Order
	// Next is the position behind the page; zero: no order follows.
	Next OrderPosition
	// Further: the page ends because as many rows were read as may be. The orders that
	// follow were not looked at.
	Further bool
}

// ByTime reports whether lanes are in the order of when the orders were made.
func (f OrderFilter) ByTime() bool { return f.ByPartner || f.ByStatus }

// Position is where an order stands in the list.
func (f OrderFilter) Position(id string, createdOn commerce.Millis) OrderPosition {
	if !f.ByTime() {
		createdOn = commerce.TimeOfOrder(id)
	}
	return OrderPosition{createdOn, id}
}

// Has reports whether the filter selects an order, wherever it stands.
func (f OrderFilter) Has(o commerce.Order) bool {
	return (f.Stores == nil || slices.ContainsFunc(f.Stores, func(s OrderStore) bool { return s.ID == o.StoreID })) &&
		(f.Partners == nil || slices.Contains(f.Partners, o.PartnerID)) && (f.Mode == "" || o.Mode == f.Mode) &&
		(f.Source == "" || o.Source == f.Source) && (f.Statuses == nil || slices.Contains(f.Statuses, o.Status)) &&
		o.CreatedOn >= f.Since && (f.Until == 0 || o.CreatedOn < f.Until) &&
		o.TotalCents >= f.MinCents && (f.MaxCents == 0 || o.TotalCents <= f.MaxCents)
}

// StoreIDs are the ids of the stores.
func (f OrderFilter) StoreIDs() []string {
	ids := make([]string, len(f.Stores))
	for i, s := range f.Stores {
		ids[i] = s.ID
	}
	return ids
}
