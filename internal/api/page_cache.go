package api

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"purveyor/internal/storage"

	"github.com/maypok86/otter/v2"
)

// pageCache keeps whole answers of the product list, bounded in bytes. Whoever
// takes one asks the storage first whether it still holds, so there is nothing
// to invalidate. Only questions that were asked before are kept: a partner that
// walks through the catalog once does not push out what others poll.
type pageCache struct {
	entries *otter.Cache[string, encodedPage]
	seed    maphash.Seed
	asked   [1 << 12]atomic.Uint64 // hashes of questions, each in its place; the last one stays
}

type encodedPage struct {
	filter  storage.ProductFilter
	storeID string // that was named; empty: none
	mark    storage.PageMark
	body    []byte
}

func newPageCache(bytes int) *pageCache {
	const overhead = 400 // of an entry beside its body, in bytes
	return &pageCache{seed: maphash.MakeSeed(), entries: otter.Must(&otter.Options[string, encodedPage]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(key string, p encodedPage) uint32 { return uint32(len(key) + cap(p.body) + overhead) },
	})}
}

// pageKey tells questions apart: by their words, and the stores of their asker.
func pageKey(r *request) string {
	if len(r.Partner.StoreIDs) == 0 {
		return r.URL.RawQuery
	}
	return r.URL.RawQuery + "\x00" + strings.Join(r.Partner.StoreIDs, "\x00")
}

func (c *pageCache) get(key string) (encodedPage, bool) { return c.entries.GetIfPresent(key) }

// put keeps a page, unless it would push out all others.
func (c *pageCache) put(key string, p encodedPage) {
	if len(p.body) <= maxKept {
		c.entries.Set(strings.Clone(key), p)
	}
}

// wanted tells whether the question was asked before.
func (c *pageCache) wanted(key string) bool {
	hash := maphash.String(c.seed, key)
	return c.asked[hash%uint64(len(c.asked))].Swap(hash) == hash
}
