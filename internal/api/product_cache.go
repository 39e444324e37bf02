package api

import (
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/wire"

	"github.com/maypok86/otter/v2"
)

// productCache keeps encoded products, bounded in bytes. An entry is good for
// exactly the version it was made from, and whoever asks has just read the
// version, so there is nothing to invalidate.
type productCache struct {
	entries *otter.Cache[string, encodedProduct]
}

type encodedProduct struct {
	storeID   string
	updatedOn int64
	json      []byte
	state     *atomic.Int64 // of the storage, when the version was last seen to be the newest
}

func newProductCache(bytes int) *productCache {
	const overhead = 190 // of an entry beside its JSON, in bytes
	return &productCache{otter.Must(&otter.Options[string, encodedProduct]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ string, p encodedProduct) uint32 { return uint32(len(p.json) + overhead) },
	})}
}

func (c *productCache) get(v commerce.ProductVersion) ([]byte, bool) {
	entry, ok := c.entries.GetIfPresent(v.ProductID)
	if !ok || entry.updatedOn != v.UpdatedOn {
		return nil, false
	}
	return entry.json, true
}

// mark is what a product is known by; empty if it is not cached.
func (c *productCache) mark(id string) storage.ProductMark {
	entry, ok := c.entries.GetIfPresent(id)
	if !ok {
		return storage.ProductMark{}
	}
	return storage.ProductMark{StoreID: entry.storeID, UpdatedOn: entry.updatedOn, State: entry.state.Load()}
}

// seen notes that a version was still the newest in a later state.
func (c *productCache) seen(id string, m storage.ProductMark) {
	if entry, ok := c.entries.GetIfPresent(id); ok && entry.updatedOn == m.UpdatedOn {
		entry.state.Store(m.State)
	}
}

// put encodes a product as it was read, with the version that it carries.
func (c *productCache) put(p commerce.Item) []byte {
	data := wire.AppendProduct(make([]byte, 0, 512), p)
	c.entries.Set(p.ID, encodedProduct{p.StoreID, p.Stock.UpdatedOn, data, new(atomic.Int64)})
	return data
}
