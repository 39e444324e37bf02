package api

import (
	"purveyor/internal/commerce"

	"github.com/maypok86/otter/v2"
)

// storeCache keeps stores that searches found, by their ids, bounded in bytes. An entry is
// used only in the version that a search has just seen in the index, so nothing has to be
// invalidated.
type storeCache = otter.Cache[string, commerce.Store]

func newStoreCache(bytes int) *storeCache {
	const overhead = 500 // bytes of an entry without its texts
	return otter.Must(&otter.Options[string, commerce.Store]{
		MaximumWeight: uint64(bytes),
		Weigher: func(_ string, s commerce.Store) uint32 {
			return uint32(len(s.Name) + len(s.Slug) + len(s.Address) + len(s.City) + len(s.State) + len(s.ZipCode) + len(s.Email) + len(s.Phone) + overhead)
		},
	})
}
