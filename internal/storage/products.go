package storage

import "purveyor/internal/commerce"

// ProductFilter selects products.
type ProductFilter struct {
	StoreIDs      []string // nil: all
	CategoryID    string   // empty: all
	Active        *bool    // nil: both
	AvailableOnly bool
	After         ProductPosition
	Limit         int
	// Bytes ends the page before the product that would make it larger; the first
	// product is on it in any case. 0: no bound.
	Bytes int
}

// ProductSink takes the products of a page, each with its place there. Both
// functions return how many bytes the product adds to the page.
type ProductSink struct {
	// Cached sees each version first; only products that it does not know are read.
	Cached func(int, commerce.ProductVersion) (bytes int, known bool)
	Fresh  func(int, commerce.Item) (bytes int)
}

// Room of a page of products, with none yet.
func (f ProductFilter) Room() Room { return Room{Limit: f.Limit, Bytes: f.Bytes} }

// Room is what a page has room for: rows are added in their order.
type Room struct {
	Limit int // of rows
	Bytes int // that they take together; 0: no bound
	Count int // of the rows that have room
	taken int // of the bytes
}

// Add the next row, which takes so many bytes; false: the page ends before it.
// The first row always has room.
func (r *Room) Add(bytes int) bool {
	r.taken += bytes
	if r.Count == r.Limit || r.Bytes > 0 && r.taken > r.Bytes && r.Count > 0 {
		return false
	}
	r.Count++
	return true
}

// ProductPosition is a place in the order of products: behind the product
// with this stamp and id.
type ProductPosition struct {
	UpdatedOn int64
	ID        string
}

// ProductPage is what there is on a page.
type ProductPage struct {
	Count int
	// Next is where the next page begins; nil on the last one.
	Next *ProductPosition
	Mark PageMark
}

// ProductMark is what a product is known by.
type ProductMark struct {
	StoreID   string // never changes
	UpdatedOn int64
	State     int64 // the engine's own, as in PageMark
}

// PageMark is what a page is known by. A product that changes moves behind all
// that readers have seen, so a page is the same while as many products as it
// had stand from its first position to its last, and the last of them is as old.
type PageMark struct {
	Count   int64           // of products in the page, and one more where there is a next page
	Through ProductPosition // the last of them
	Ends    bool            // the last page: its positions have no end
	// State is the engine's own: while it is the same, nothing at all has changed.
	State int64
}

// PageOfProducts makes the page of the first count of the versions that were
// read for it: there are more of them where another page follows. state is the
// engine's own.
func PageOfProducts(versions []commerce.ProductVersion, count int, state int64) ProductPage {
	page := ProductPage{Count: count, Mark: PageMark{Count: int64(count), Ends: count == len(versions), State: state}}
	if !page.Mark.Ends {
		page.Next = positionOf(versions[count-1])
		page.Mark.Count++
	}
	if n := page.Mark.Count; n > 0 {
		page.Mark.Through = *positionOf(versions[n-1])
	}
	return page
}

func positionOf(v commerce.ProductVersion) *ProductPosition {
	return &ProductPosition{v.UpdatedOn, v.ProductID}
}

// Room of a page of events, with none yet.
func (f EventFilter) Room() Room { return Room{Limit: f.Limit, Bytes: f.Bytes} }
