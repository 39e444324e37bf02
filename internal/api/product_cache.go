package api

import (
	"purveyor/internal/commerce"
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
}

func newProductCache(bytes int) *productCache {
	const overhead = 170 // of an entry beside its JSON, in bytes
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

// storeOf is the store of a product, which never changes; empty if the
// product is not cached.
func (c *productCache) storeOf(id string) string {
	entry, _ := c.entries.GetIfPresent(id)
	return entry.storeID
}

// put encodes a product as it was read, with the version that it carries.
func (c *productCache) put(p commerce.Item) []byte {
	data := wire.AppendProduct(make([]byte, 0, 512), p)
	c.entries.Set(p.ID, encodedProduct{p.StoreID, p.Stock.UpdatedOn, data})
	return data
}
