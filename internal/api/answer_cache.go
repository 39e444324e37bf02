package api

import (
	"context"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"purveyor/internal/storage"

	"github.com/maypok86/otter/v2"
)

// answerCache keeps whole answers about products, bounded in bytes. Before each
// use it asks the storage whether the answer still holds, so nothing has to be
// invalidated.
type answerCache struct {
	reader  storage.Reader
	entries *otter.Cache[question, *keptAnswer]
	seed    maphash.Seed
	asked   [1 << 12]atomic.Uint64 // hashes of questions; each slot holds the latest one that fell there
}

// question tells answers apart: by the id of a product, or by the words of a
// query and the stores of a partner that may use only some.
type question struct{ product, query, stores string }

type keptAnswer struct {
	set       storage.ReadSet
	version   atomic.Int64 // the storage.Version in which the answer was last seen to hold
	body      []byte
	documents storage.Documents // of a page: the parts of the body, for the page that follows this one
}

func newAnswerCache(reader storage.Reader, bytes int) *answerCache {
	const (
		overhead   = 400 // bytes of an entry beside its body
		ofDocument = 150 // bytes of a document beside its part of the body
	)
	return &answerCache{reader: reader, seed: maphash.MakeSeed(), entries: otter.Must(&otter.Options[question, *keptAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher: func(q question, a *keptAnswer) uint32 {
			return uint32(len(q.product) + len(q.query) + len(q.stores) + cap(a.body) + overhead + len(a.documents)*ofDocument)
		},
	})}
}

// get is the answer that was kept, or nil, and whether it still holds.
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

// put keeps an answer, unless it would push out all others.
func (c *answerCache) put(q question, v storage.Version, kept *keptAnswer) {
	if len(kept.body) > maxKept {
		return
	}
	kept.version.Store(int64(v))
	q.product, q.query = strings.Clone(q.product), strings.Clone(q.query) // else each holds its whole request
	c.entries.Set(q, kept)
}

// askedBefore reports that the query was asked before. Only the answers of such
// queries are kept: a partner that walks through the catalog once does not push
// out what others poll.
func (c *answerCache) askedBefore(q question) bool {
	hash := maphash.Comparable(c.seed, q)
	return c.asked[hash%uint64(len(c.asked))].Swap(hash) == hash
}
