package storage

import (
	"cmp"
	"slices"

	"purveyor/internal/commerce"
)

// OrderSequence is the sequence of a list of a partner's orders.
type OrderSequence int

// The sequences.
const (
	NewestFirst   OrderSequence = iota // by when the orders were made, descending
	InChangeOrder                      // by when they were last changed, ascending
	ByExternalID                       // by external id, ascending. Orders without one are left out
)

// PartnerOrderFilter selects orders of a partner.
type PartnerOrderFilter struct {
	PartnerID   string
	Modes       []commerce.Mode // one or both
	StoreIDs    []string        // nil: all
	Statuses    []commerce.OrderStatus
	Fulfillment commerce.Fulfillment // empty: both
	Since       commerce.Millis      // of CreatedOn, inclusive; 0: no bound
	Until       commerce.Millis      // exclusive; 0: no bound

	Sequence OrderSequence
	Prefix   string // of the external ids, with ByExternalID
	After    PartnerOrderPosition
	Limit    int
	// Examine bounds the rows that are read to find the page. More are read only where more
	// orders than that were made or changed at one time.
	Examine int
}

// PartnerOrderPosition is a position in a list: behind the order with this time and id, or
// with ByExternalID behind the order with this mode and external id. The zero position is
// the beginning.
type PartnerOrderPosition struct {
	At   commerce.Millis
	ID   string
	Mode commerce.Mode
}

// OrderVersion is an order as it was after its last change.
type OrderVersion struct {
	commerce.OrderKey
	UpdatedOn commerce.Millis
}

// PartnerOrder is an order on a page.
type PartnerOrder struct {
	Version OrderVersion
	At      PartnerOrderPosition
	Order   commerce.Order // empty if the caller has its document
}

// OrderDocuments are the encoded orders that a caller has. Engines use only their keys.
type OrderDocuments map[OrderVersion][]byte

// PartnerOrderPage is one page of a list.
type PartnerOrderPage struct {
	Orders []PartnerOrder
	// Next is the position behind the page; zero: no order follows. A page may be short, or
	// empty, and have one.
	Next    PartnerOrderPosition
	ReadSet ReadSet
	Version Version
}

// OrdersOf are all orders of a partner in one or both modes.
type OrdersOf struct {
	PartnerID string
	Modes     []commerce.Mode
}

// ReadSet is the set of a page. Any change of an order of the partner changes it.
func (f PartnerOrderFilter) ReadSet() ReadSet {
	return ReadSet{Orders: OrdersOf{f.PartnerID, f.Modes}}
}

// Whole reports whether the filter selects all orders of the partner.
func (f PartnerOrderFilter) Whole() bool {
	return f.StoreIDs == nil && f.Statuses == nil && f.Fulfillment == "" && (f.Sequence == NewestFirst || f.Since == 0 && f.Until == 0)
}

// Has reports whether the filter selects an order, wherever it stands.
func (f PartnerOrderFilter) Has(o commerce.Order) bool {
	return o.PartnerID == f.PartnerID && slices.Contains(f.Modes, o.Mode) && (f.StoreIDs == nil || slices.Contains(f.StoreIDs, o.StoreID)) &&
		(f.Statuses == nil || slices.Contains(f.Statuses, o.Status)) && (f.Fulfillment == "" || o.Fulfillment == f.Fulfillment) &&
		o.CreatedOn >= f.Since && (f.Until == 0 || o.CreatedOn < f.Until)
}

// Position is where an order stands in the list.
func (f PartnerOrderFilter) Position(o commerce.Order) PartnerOrderPosition {
	switch f.Sequence {
	case InChangeOrder:
		return PartnerOrderPosition{At: o.UpdatedOn, ID: o.ID}
	case ByExternalID:
		return PartnerOrderPosition{ID: o.ExternalID, Mode: o.Mode}
	}
	return PartnerOrderPosition{At: o.CreatedOn, ID: o.ID}
}

// Compare orders two positions as they follow each other in the list.
func (f PartnerOrderFilter) Compare(a, b PartnerOrderPosition) int {
	switch f.Sequence {
	case InChangeOrder:
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	case ByExternalID:
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Mode, b.Mode))
	}
	return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
}

// Follows reports whether a position is behind After.
func (f PartnerOrderFilter) Follows(p PartnerOrderPosition) bool {
	return f.After == (PartnerOrderPosition{}) || f.Compare(p, f.After) > 0
}
