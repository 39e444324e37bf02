package api

import (
	"purveyor/internal/commerce"

	"github.com/maypok86/otter/v2"
)

// storeCache keeps stores that searches have found, bounded in bytes. An entry
// is good for the version that a search has just seen in the index, so there is
// nothing to invalidate.
type storeCache struct {
	entries *otter.Cache[string, commerce.Store]
}

func newStoreCache(bytes int) *storeCache {
	const overhead = 500 // of an entry beside its texts, in bytes
	return &storeCache{otter.Must(&otter.Options[string, commerce.Store]{
		MaximumWeight: uint64(bytes),
		Weigher: func(_ string, s commerce.Store) uint32 {
			return uint32(len(s.Name) + len(s.Slug) + len(s.Address) + len(s.City) + len(s.State) + len(s.ZipCode) + len(s.Email) + len(s.Phone) + overhead)
		},
	})}
}

// get is the store in this version; false: it is not kept.
func (c *storeCache) get(id string, updatedOn int64) (commerce.Store, bool) {
	s, ok := c.entries.GetIfPresent(id)
	return s, ok && s.UpdatedOn == commerce.Millis(updatedOn)
}

func (c *storeCache) put(s commerce.Store) { c.entries.Set(s.ID, s) }
