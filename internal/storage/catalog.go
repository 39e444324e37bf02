package storage

import (
	"context"

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
