package storage

import (
	"cmp"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
)

// ProductFilter selects the products of a list. They come in the order of
// (UpdatedOn, ID). where says what a filter selects, for
// every engine that has SQL.
type ProductFilter struct {
	StoreIDs      []string // nil: all
	CategoryID    string   // empty: all
	Active        *bool    // nil: both
	AvailableOnly bool
	After         ProductPosition
	Limit         int
	// Bytes ends the page before the product with which the texts of the page
	// would take more. The first product is on the page in any case. 0: no bound.
	Bytes int
}

// ProductPosition is a place in the order of products: behind the product
// with this stamp and id.
type ProductPosition struct {
	UpdatedOn int64
	ID        string
}

// PositionOf is the position behind a product.
func PositionOf(v commerce.ProductVersion) ProductPosition {
	return ProductPosition{int64(v.UpdatedOn), v.ProductID}
}

// Compare orders positions.
func (p ProductPosition) Compare(q ProductPosition) int {
	return cmp.Or(cmp.Compare(p.UpdatedOn, q.UpdatedOn), cmp.Compare(p.ID, q.ID))
}

// ProductPage is one page of a list, with the state in which it was read.
type ProductPage struct {
	Items   []commerce.Item
	More    bool // products follow that are not on the page
	ReadSet ReadSet
	Version Version
}

// Documents are encoded products that a caller has. Engines look at their keys and
// their lengths.
type Documents map[commerce.ProductVersion][]byte

// Version is a state of the database, in numbers that mean something to one
// engine only. A caller keeps it beside an answer and passes it to Unchanged.
type Version int64

// ReadSet is what an answer was made of: one product, or one page of a list.
type ReadSet struct {
	Product commerce.ProductKey // empty: a page

	Filter ProductFilter
	// Count products stood behind Filter.After, up to Last: the products of the page
	// and, if another page follows, the first product of that. A product that
	// changes moves behind every position that was read before. So the page is
	// unchanged while Count products stand there and Last is the newest of them.
	Count int64
	Last  ProductPosition
	Ends  bool // the page is the last one: every product behind Filter.After counts
}

// ProductList collects the products of a page, in their order.
type ProductList struct {
	filter   ProductFilter
	versions []commerce.ProductVersion
	have     Documents
	room     Room
	items    []commerce.Item
}

// List begins a page of these versions, which are those that Nearest gave.
func (f ProductFilter) List(versions []commerce.ProductVersion, have Documents) ProductList {
	return ProductList{filter: f, versions: versions, have: have, room: Room{Limit: f.Limit, Bytes: f.Bytes},
		items: make([]commerce.Item, 0, min(f.Limit, len(versions)))}
}

// Add the next product; false: the page has no room for it.
func (l *ProductList) Add(p commerce.Item) bool {
	bytes := textBytes(p)
	if document, ok := l.have[p.Version()]; ok {
		bytes = len(document)
	}
	if !l.room.Add(bytes) {
		return false
	}
	l.items = append(l.items, p)
	return true
}

// Unread is the item that stands for a product whose document the caller has; false
// if the caller does not have it.
func (d Documents) Unread(v commerce.ProductVersion) (commerce.Item, bool) {
	_, ok := d[v]
	return commerce.Item{Product: commerce.Product{StoreID: v.StoreID, ID: v.ProductID},
		Stock: commerce.Stock{StoreID: v.StoreID, ProductID: v.ProductID, UpdatedOn: v.UpdatedOn}}, ok
}

// textBytes is how long the texts of a product are. Its JSON is longer.
func textBytes(p commerce.Item) int {
	n := len(p.Stock.Name) + len(p.Description)
	for _, image := range p.Images {
		n += len(image)
	}
	return n
}

// Page makes the page.
func (l *ProductList) Page(v Version) ProductPage {
	n := len(l.items)
	page := ProductPage{Items: l.items, More: n < len(l.versions), Version: v,
		ReadSet: ReadSet{Filter: l.filter, Count: int64(min(n+1, len(l.versions))), Ends: n == len(l.versions)}}
	if last := page.ReadSet.Count - 1; last >= 0 {
		page.ReadSet.Last = PositionOf(l.versions[last])
	}
	return page
}

// Stores are the stores to read, one after another. A single empty id means all
// stores at once.
func (f ProductFilter) Stores() []string {
	if f.StoreIDs == nil {
		return []string{""}
	}
	return f.StoreIDs
}

// VersionsSQL selects the first products of a store (empty: of all), one more
// than a page holds. The first columns are those of a commerce.ProductVersion.
// from is the table, as the engine wants it named.
func (f ProductFilter) VersionsSQL(storeID, columns, from string) (string, []any) {
	where, args := f.where(storeID)
	args = append(args, int64(f.Limit+1))
	return "SELECT store_id, product_id, updated_on" + columns + " FROM " + from + where +
		" ORDER BY updated_on, product_id LIMIT $" + strconv.Itoa(len(args)), args
}

// CountSQL selects how many products of a store (empty: of all) stand at the
// positions of the page, and their newest stamp.
func (s ReadSet) CountSQL(storeID, from string) (string, []any) {
	where, args := s.Filter.where(storeID)
	if !s.Ends {
		n := len(args)
		where += " AND (updated_on, product_id) <= ($" + strconv.Itoa(n+1) + ", $" + strconv.Itoa(n+2) + ")"
		args = append(args, s.Last.UpdatedOn, s.Last.ID)
	}
	return "SELECT count(*), max(updated_on) FROM " + from + where, args
}

// where is the condition for the products of a store (empty: of all). The
// store is the first parameter.
func (f ProductFilter) where(storeID string) (sql string, args []any) {
	sql = " WHERE "
	and := func(condition string, v any) {
		args = append(args, v)
		sql += condition + " = $" + strconv.Itoa(len(args)) + " AND "
	}
	if storeID != "" {
		and("store_id", storeID)
	}
	if f.CategoryID != "" {
		and("category_id", f.CategoryID)
	}
	if f.Active != nil {
		and("active", *f.Active)
	}
	if f.AvailableOnly {
		sql += "quantity > 0 AND "
	}
	args = append(args, f.After.UpdatedOn, f.After.ID)
	n := len(args)
	return sql + "(updated_on, product_id) > ($" + strconv.Itoa(n-1) + ", $" + strconv.Itoa(n) + ")", args
}

// Nearest merges the versions that were read of each store and keeps the first,
// one more than a page holds.
func (f ProductFilter) Nearest(all []commerce.ProductVersion) []commerce.ProductVersion {
	if len(f.StoreIDs) > 1 {
		slices.SortFunc(all, func(a, b commerce.ProductVersion) int {
			return PositionOf(a).Compare(PositionOf(b))
		})
	}
	return all[:min(len(all), f.Limit+1)]
}

// Room of a page of events, with none yet.
func (f EventFilter) Room() Room { return Room{Limit: f.Limit, Bytes: f.Bytes} }

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
