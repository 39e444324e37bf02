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

	// Sites reads where the stores of an area are, in any order.
	Sites(ctx context.Context, f SiteFilter) ([]commerce.Site, error)
}

// Catalog reads products and their categories.
type Catalog interface {
	// Categories in the order of their names; of stores: those that have products
	// in at least one of them.
	Categories(ctx context.Context, f CategoryFilter) ([]commerce.Category, error)

	// Product reads one product by id, with the version in which it was read.
	Product(ctx context.Context, id string) (commerce.Item, Version, error)

	// Items reads products of a store by id; those not known are absent.
	Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error)

	// ProductPage reads one page of a list. Products whose documents the caller has
	// are not read: their items have a key and a stamp only.
	ProductPage(ctx context.Context, f ProductFilter, have Documents) (ProductPage, error)

	// Unchanged reports whether reading the set again would give what it gave in this
	// version. It never misses a change that was committed before the call began, by
	// any process. It may report a change where there is none. If nothing changed, the
	// caller passes the returned version next time, so that the engine need not look
	// at the same batches again.
	Unchanged(ctx context.Context, s ReadSet, v Version) (Version, bool, error)

	// Stock reads the stock rows of products by id; those not known are absent.
	Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error)
}

// StockHistory reads how quantities came about.
type StockHistory interface {
	// StockPage reads at most limit stock rows in the order of their keys, those
	// after the given one; of one store, or of all (empty).
	StockPage(ctx context.Context, storeID string, after commerce.ProductKey, limit int) ([]commerce.Stock, error)

	// StockMoves reads stock moves of a product, newest first, at most limit of
	// them from the position on. Moves never change, so from the NewestMove of a
	// stock row they are those that the row counts, whatever was moved since. Fewer
	// than limit moves: the next older one does not exist, or is missing.
	StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) ([]commerce.StockMove, error)
}

// StoreFilter selects stores; they come in the order of their ids.
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
