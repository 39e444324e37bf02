package storage

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
)

// Stores reads stores.
type Stores interface {
	Store(ctx context.Context, id string) (commerce.Store, error)
	StoreByNo(ctx context.Context, no int64) (commerce.Store, error)
	Stores(ctx context.Context, f StoreFilter) ([]commerce.Store, error)

	// Sites reads the coordinates of the stores of an area, in any order.
	Sites(ctx context.Context, f SiteFilter) ([]commerce.Site, error)
}

// Catalog reads products and their categories.
type Catalog interface {
	// Categories reads categories in the order of their names. A filter by stores
	// selects the categories that have products in at least one of the stores.
	Categories(ctx context.Context, f CategoryFilter) ([]commerce.Category, error)

	// Product reads one product by id, with the version in which it was read.
	Product(ctx context.Context, id string) (commerce.Item, Version, error)

	// Items reads products of a store by id. The map lacks unknown ids.
	Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error)

	// SKUs reads the SKUs of products of a store by id. The map lacks unknown ids.
	SKUs(ctx context.Context, storeID string, ids []string) (map[string]string, error)

	// ProductsBySKU finds the products of a store by SKU: the id, or, if several products
	// have a SKU, the first and the last id. The map lacks unknown SKUs, and the empty one.
	ProductsBySKU(ctx context.Context, storeID string, skus []string) (map[string][]string, error)

	// ProductPage reads one page of a list. It does not read products whose documents
	// the caller has: their items consist of a key and a stamp.
	ProductPage(ctx context.Context, f ProductFilter, have Documents) (ProductPage, error)

	// Unchanged reports whether the set is the same as in this version. It never misses a
	// change that any process committed before the call began. It may report a change
	// where there is none. If nothing changed, the caller passes the returned version next
	// time, so that the engine does not examine the same batches again.
	Unchanged(ctx context.Context, s ReadSet, v Version) (Version, bool, error)

	// Stock reads the stock rows of products by id. The map lacks unknown ids.
	Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error)
}

// ProductFollowing reads how far the follower of the product feed has come.
type ProductFollowing interface {
	FeedPlace(ctx context.Context, name string) (commerce.FeedPlace, error)

	// DueProductNews reads the keys of at most limit products whose news are due at a time,
	// those that are due first before others.
	DueProductNews(ctx context.Context, at commerce.Millis, limit int) ([]commerce.ProductKey, error)
}

// StockHistory reads the moves that led to the quantities.
type StockHistory interface {
	// StockPage reads at most limit stock rows behind the given key, in the order of keys;
	// of one store, or of all stores (empty).
	StockPage(ctx context.Context, storeID string, after commerce.ProductKey, limit int) ([]commerce.Stock, error)

	// StockMoves reads at most limit stock moves of a product, newest first, from the
	// position on. Moves never change, so reading from the NewestMove of a stock row
	// returns the moves that the row counts, even if more were added since. If it returns
	// fewer than limit moves, the next older one does not exist or is missing.
	StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) ([]commerce.StockMove, error)
}

// StoreFilter selects stores. They are read in the order of their ids.
type StoreFilter struct {
	Active bool
	IDs    []string // nil: all
	After  string   // id; empty: from the beginning
	Limit  int
}

// SiteFilter selects the sites of stores in an area.
type SiteFilter struct {
	Active bool
	Area   []commerce.Strip // they do not overlap
}

// CategoryFilter selects categories.
type CategoryFilter struct {
	StoreIDs []string // nil: all
	Active   *bool    // nil: both
}

// ProductFilter selects the products of a list, in the order of (UpdatedOn, ID). Its
// method where is the definition of the filter for SQL engines.
type ProductFilter struct {
	StoreIDs      []string // nil: all
	CategoryID    string   // empty: all
	Active        *bool    // nil: both
	AvailableOnly bool
	After         ProductPosition
	Limit         int
	// Bytes bounds the sum of the products' texts on a page. The first product is on the
	// page even if it is longer. 0: no bound.
	Bytes int
}

// ProductPosition is a position in the order of products: behind the product with this
// stamp and id.
type ProductPosition struct {
	UpdatedOn commerce.Millis
	ID        string
}

// PositionOf returns the position behind a product.
func PositionOf(v commerce.ProductVersion) ProductPosition {
	return ProductPosition{v.UpdatedOn, v.ProductID}
}

// Compare orders positions.
func (p ProductPosition) Compare(q ProductPosition) int {
	return cmp.Or(cmp.Compare(p.UpdatedOn, q.UpdatedOn), cmp.Compare(p.ID, q.ID))
}

// ProductPage is one page of a list, with the version in which it was read.
type ProductPage struct {
	Items   []commerce.Item
	More    bool // products follow that are not on the page
	ReadSet ReadSet
	Version Version
}

// Documents are the encoded products that a caller has. Engines use only their keys and
// lengths.
type Documents map[commerce.ProductVersion][]byte

// Version is a state of the database, in a number that only the engine understands. A
// caller keeps it with an answer and passes it to Unchanged.
type Version int64

// ReadSet is the data that an answer was made of: one product, one page of a list of
// products, or the orders of a partner.
type ReadSet struct {
	Product commerce.ProductKey // empty: a page
	Orders  OrdersOf            // without a partner: products

	Filter ProductFilter
	// Count is the number of products between Filter.After and Last: the products of the
	// page and, if another page follows, the first product of that page. A product that
	// changes moves behind every position that was read before. So the page is unchanged
	// while there are Count products in between and Last is the newest of them.
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

// List begins a page of these versions, which Nearest returned.
func (f ProductFilter) List(versions []commerce.ProductVersion, have Documents) ProductList {
	return ProductList{filter: f, versions: versions, have: have, room: Room{Limit: f.Limit, Bytes: f.Bytes},
		items: make([]commerce.Item, 0, min(f.Limit, len(versions)))}
}

// Add adds the next product. It returns false if the page has no room for it.
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

// Unread returns an item without content for a product whose document the caller has, or
// false if the caller does not have it.
func (d Documents) Unread(v commerce.ProductVersion) (commerce.Item, bool) {
	_, ok := d[v]
	return commerce.Item{Product: commerce.Product{StoreID: v.StoreID, ID: v.ProductID},
		Stock: commerce.Stock{StoreID: v.StoreID, ProductID: v.ProductID, UpdatedOn: v.UpdatedOn}}, ok
}

// textBytes is the length of the texts of a product. Its JSON is longer.
func textBytes(p commerce.Item) int {
	n := len(p.Stock.Name) + len(p.Description)
	for _, image := range p.Images {
		n += len(image)
	}
	return n
}

// Page returns the page.
func (l *ProductList) Page(v Version) ProductPage {
	n := len(l.items)
	page := ProductPage{Items: l.items, More: n < len(l.versions), Version: v,
		ReadSet: ReadSet{Filter: l.filter, Count: int64(min(n+1, len(l.versions))), Ends: n == len(l.versions)}}
	if last := page.ReadSet.Count - 1; last >= 0 {
		page.ReadSet.Last = PositionOf(l.versions[last])
	}
	return page
}

// Stores returns the stores to read one after another. A single empty id means all stores
// at once.
func (f ProductFilter) Stores() []string {
	if f.StoreIDs == nil {
		return []string{""}
	}
	return f.StoreIDs
}

// VersionsSQL is the SQL that selects the first products of a store (empty: of all
// stores), one more than a page holds. The first columns are those of a
// commerce.ProductVersion. from is the name of the table in the engine.
func (f ProductFilter) VersionsSQL(storeID, columns, from string) (string, []any) {
	where, args := f.where(storeID)
	args = append(args, int64(f.Limit+1))
	return "SELECT store_id, product_id, updated_on" + columns + " FROM " + from + where +
		" ORDER BY updated_on, product_id LIMIT $" + strconv.Itoa(len(args)), args
}

// CountSQL is the SQL that counts the products of a store (empty: of all stores) at the
// positions of the page, and selects their newest stamp.
func (s ReadSet) CountSQL(storeID, from string) (string, []any) {
	where, args := s.Filter.where(storeID)
	if !s.Ends {
		n := len(args)
		where += " AND (updated_on, product_id) <= ($" + strconv.Itoa(n+1) + ", $" + strconv.Itoa(n+2) + ")"
		args = append(args, int64(s.Last.UpdatedOn), s.Last.ID)
	}
	return "SELECT count(*), max(updated_on) FROM " + from + where, args
}

// where returns the condition for the products of a store (empty: of all stores). The
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
	args = append(args, int64(f.After.UpdatedOn), f.After.ID)
	n := len(args)
	return sql + "(updated_on, product_id) > ($" + strconv.Itoa(n-1) + ", $" + strconv.Itoa(n) + ")", args
}

// Nearest merges the versions that were read for each store, and keeps the first, one more
// than a page holds.
func (f ProductFilter) Nearest(all []commerce.ProductVersion) []commerce.ProductVersion {
	if len(f.StoreIDs) > 1 {
		slices.SortFunc(all, func(a, b commerce.ProductVersion) int {
			return PositionOf(a).Compare(PositionOf(b))
		})
	}
	return all[:min(len(all), f.Limit+1)]
}

// Room returns the room of an empty page of events.
func (f EventFilter) Room() Room { return Room{Limit: f.Limit, Bytes: f.Bytes} }

// Room is the room on a page. Rows are added in their order.
type Room struct {
	Limit int // of rows
	Bytes int // of all rows together; 0: no bound
	Count int // rows added so far
	taken int // bytes added so far
}

// Add adds the next row, which takes this many bytes. It returns false if the page ends
// before the row. There is always room for the first row.
func (r *Room) Add(bytes int) bool {
	r.taken += bytes
	if r.Count == r.Limit || r.Bytes > 0 && r.taken > r.Bytes && r.Count > 0 {
		return false
	}
	r.Count++
	return true
}
