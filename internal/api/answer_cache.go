package api

import (
	"context"
	"strings"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"

	"github.com/maypok86/otter/v2"
)

// answerCache keeps encoded answers about products and pages of orders, bounded in bytes. Before each use it
// asks the storage whether the answer is still current, so nothing has to be invalidated.
// Answers that are asked for often stay while a partner reads the whole catalog once.
type answerCache struct {
	reader  storage.Catalog
	entries *otter.Cache[question, *keptAnswer]
}

// question identifies an answer: by the id of a product, or by the text of a query and the
// stores of a partner that may use only some. For orders, it also names the partner and the
// mode of its key.
type question struct{ product, query, stores, orders string }

type keptAnswer struct {
	set       storage.ReadSet
	version   atomic.Int64 // the last storage.Version in which the answer was current
	body      []byte
	tag       etag                                // of the body
	documents []document[commerce.ProductVersion] // in the body of a page, in their order
	orders    []document[storage.OrderVersion]
}

// document is one element in the body of a page, as it was in a version. It ends before this byte.
type document[V comparable] struct {
	version V
	end     int
}

// parts returns the documents of a kept page, which are used again in the page that replaces it.
func parts[V comparable](body []byte, documents []document[V]) map[V][]byte {
	if len(documents) == 0 {
		return nil
	}
	parts, begin := make(map[V][]byte, len(documents)), 0
	elements := body[len(body)-len(endOfPage)-documents[len(documents)-1].end:]
	for _, d := range documents {
		parts[d.version] = elements[begin:d.end:d.end]
		begin = d.end + len(",")
	}
	return parts
}

func newAnswerCache(reader storage.Catalog, bytes int) *answerCache {
	const (
		overhead   = 460 // bytes of an entry without its body
		ofDocument = 48  // bytes of a document
		ofOrder    = 120
	)
	return &answerCache{reader: reader, entries: otter.Must(&otter.Options[question, *keptAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher: func(q question, a *keptAnswer) uint32 {
			return uint32(len(q.product) + len(q.query) + len(q.stores) + len(q.orders) + cap(a.body) + overhead + len(a.documents)*ofDocument + len(a.orders)*ofOrder)
		},
	})}
}

// get returns the kept answer, or nil, and whether it is current.
func (c *answerCache) get(ctx context.Context, q question) (kept *keptAnswer, holds bool, err error) {
	kept, ok := c.entries.GetIfPresent(q)
	if !ok {
		return nil, false, nil
	}
	known := storage.Version(kept.version.Load())
	newer, holds, err := c.reader.Unchanged(ctx, kept.set, known)
	if holds && newer != known {
		kept.version.Store(int64(newer))
	}
	return kept, holds, err
}

// put keeps an answer, unless it is so large that it would push out all others.
func (c *answerCache) put(q question, v storage.Version, kept *keptAnswer) {
	if len(kept.body) > maxKept {
		return
	}
	kept.version.Store(int64(v))
	q.product, q.query = strings.Clone(q.product), strings.Clone(q.query) // otherwise the key keeps its whole request in memory
	c.entries.Set(q, kept)
}

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
