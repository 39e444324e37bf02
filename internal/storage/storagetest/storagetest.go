// Package storagetest is the conformance suite of storage engines: basics, reads,
// concurrency (several processes on one database) and crashes. An engine's own
// test opens a database and calls Run.
package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Database opens one fresh database. Each call of Open gives another engine
// on it, as another process would have.
type Database interface {
	Open(t testing.TB, now func() time.Time) storage.Engine
}

// Run runs the suite; fresh makes an empty database for one test.
func Run(t *testing.T, fresh func(t testing.TB) Database) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*testing.T, Database)
	}{
		{"basics", basics}, {"attention", attentionTests}, {"reads", reads}, {"finds", finds}, {"partner orders", partnerOrders}, {"freshness", freshness}, {"histories", histories}, {"rates", rates}, {"jobs", jobs}, {"events", events}, {"sums", sums}, {"today", today}, {"concurrency", concurrency}, {"crash", crash},
	} {
		t.Run(group.name, func(t *testing.T) {
			for name, test := range group.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, fresh(t))
				})
			}
		})
	}
}

// Change runs one batch: load, change, save.
func Change(t testing.TB, e storage.Engine, needs commerce.Needs, change func(rows *commerce.Rows, now commerce.Millis) commerce.Changes) {
	t.Helper()
	if err := tryChange(e, needs, change); err != nil {
		t.Fatal(err)
	}
}

func tryChange(e storage.Engine, needs commerce.Needs, change func(*commerce.Rows, commerce.Millis) commerce.Changes) error {
	b, err := e.Load(context.Background(), needs)
	if err != nil {
		return err
	}
	defer b.Discard()
	Apply(b, WithMoves(b.Rows(), change(b.Rows(), b.Stamp()), b.Stamp()))
	return b.Save(context.Background())
}

// of are needs of partners whose events a batch appends, and nothing else.
func of(partners ...string) (n commerce.Needs) {
	for _, id := range partners {
		n.External = append(n.External, commerce.ExternalKey{PartnerID: id})
	}
	return n
}

// Apply puts changes into the rows of a batch.
func Apply(b storage.Batch, c commerce.Changes) { schema.Apply(b.Rows(), &c) }

// WithMoves gives each stock row its move where its quantity changes, unless the
// change has moves of its own.
func WithMoves(rows *commerce.Rows, c commerce.Changes, now commerce.Millis) commerce.Changes {
	if len(c.StockMoves) > 0 {
		return c
	}
	for i, s := range c.Stock {
		was, known := rows.Stock.Get(s.Key())
		if known && s.Quantity == was.Quantity {
			continue
		}
		stamp := s.UpdatedOn
		next, move := s.MovedFrom(was, commerce.MoveSet, now)
		next.UpdatedOn = stamp
		c.Stock[i], c.StockMoves = next, append(c.StockMoves, move)
	}
	return c
}

// look runs a batch that only reads.
func look(t testing.TB, e storage.Engine, needs commerce.Needs, f func(*commerce.Rows)) {
	t.Helper()
	b, err := e.Load(context.Background(), needs)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	f(b.Rows())
}

// seedProducts makes stores sto_0, sto_1, ... with n products each, prd_S_I,
// in one batch.
func seedProducts(t testing.TB, e storage.Engine, storeCount, n int, quantity int64) []commerce.ProductKey {
	t.Helper()
	needs := commerce.Needs{NextStoreNo: true}
	var keys []commerce.ProductKey
	for s := range storeCount {
		needs.Stores = append(needs.Stores, storeName(s))
		for i := range n {
			keys = append(keys, commerce.ProductKey{StoreID: storeName(s), ProductID: fmt.Sprintf("prd_%d_%03d", s, i)})
		}
	}
	for _, k := range keys {
		needs.ProductStores = append(needs.ProductStores, k.ProductID)
	}
	needs.Products, needs.Stock = keys, keys
	Change(t, e, needs, func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
		for s := range storeCount {
			c.Stores = append(c.Stores, commerce.Store{ID: storeName(s), No: rows.NextStoreNo + int64(s), Name: "Store", Active: true, UpdatedOn: now})
		}
		for _, k := range keys {
			c.Products = append(c.Products, commerce.Product{StoreID: k.StoreID, ID: k.ProductID, SKU: "SKU of " + k.ProductID, CreatedOn: now})
			c.Stock = append(c.Stock, commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: "Product " + k.ProductID, Active: true, Quantity: quantity, UpdatedOn: now})
		}
		return c
	})
	return keys
}

// SeedProducts makes stores with n products each, for an engine's own tests.
func SeedProducts(t testing.TB, e storage.Engine, storeCount, n int, quantity int64) {
	t.Helper()
	seedProducts(t, e, storeCount, n, quantity)
}

func storeName(i int) string { return fmt.Sprintf("sto_%d", i) }

func stockOf(keys ...commerce.ProductKey) commerce.Needs { return commerce.Needs{Stock: keys} }

// add changes the quantity of one product.
func add(k commerce.ProductKey, delta int64) func(*commerce.Rows, commerce.Millis) commerce.Changes {
	return func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		s, _ := rows.Stock.Get(k)
		s.Quantity += delta
		s.UpdatedOn = now
		return WithMoves(rows, commerce.Changes{Stock: []commerce.Stock{s}}, now)
	}
}

func quantity(t testing.TB, e storage.Engine, k commerce.ProductKey) int64 {
	t.Helper()
	found, err := e.Reader().Stock(context.Background(), []string{k.ProductID})
	if err != nil {
		t.Fatal(err)
	}
	return found[k.ProductID].Quantity
}

var reads = map[string]func(*testing.T, Database){
	"product pages agree with a plain filter":   productPages,
	"a page ends where it has no room":          pageBytes,
	"stores and categories":                     storesAndCategories,
	"sites of an area":                          sites,
	"a store is found where it is now":          moveStores,
	"a timeline gives the newest, oldest first": newestEvents,
	"items of a store":                          itemsOfStore,
	"places in feeds, and news that are due":    productNews,
	"rows that are asked for at once":           atOnce,
	"a key finds its holder":                    keyHolder,
	"people and their sign-ins":                 people,
}
