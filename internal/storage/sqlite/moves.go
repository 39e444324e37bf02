package sqlite

import (
	"cmp"
	"slices"
	"sync"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// moves remembers which products the latest batches of this process moved, so
// that most pages are known to be as they were without a look at the database,
// whose pages a reader reads again after each commit. Each batch names the stamp
// before its own: where another process wrote between two, the chain is broken
// and nothing is known.
type moves struct {
	mu      sync.Mutex
	batches []batchMoves // the latest last
}

type batchMoves struct {
	before, stamp int64
	products      []move
}

// move is a product that left its place in the feed for the end; one that is
// new had none.
type move struct {
	was, is commerce.Stock
}

const (
	mostBatches = 512
	mostMoves   = 1000 // of one batch; a larger one breaks the chain
)

func (m *moves) add(b batchMoves) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(b.products) > mostMoves {
		m.batches = m.batches[:0]
		return
	}
	if len(m.batches) == 2*mostBatches {
		m.batches = append(m.batches[:0], m.batches[mostBatches:]...)
	}
	m.batches = append(m.batches, b)
}

// touched tells whether any product of the page moved after mark.State, until
// the batch with this stamp; known is false where that cannot be told.
func (m *moves) touched(f storage.ProductFilter, mark storage.PageMark, until int64) (touched, known bool) {
	known = m.each(mark.State, until, func(p move) bool {
		touched = touched || p.touches(f, mark)
		return !touched
	})
	return touched, known
}

// unmoved tells that a product has not moved after the batch with one stamp,
// until that with the other; false also where that cannot be told.
func (m *moves) unmoved(id string, after, until int64) bool {
	moved := false
	known := m.each(after, until, func(p move) bool {
		moved = p.is.ProductID == id
		return !moved
	})
	return known && !moved
}

// each calls f with the moves after the batch with one stamp, until that with
// the other or until f has seen enough. It is false if they are not all known.
func (m *moves) each(after, until int64, f func(move) bool) bool {
	if after == until {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, found := slices.BinarySearchFunc(m.batches, after, func(b batchMoves, state int64) int { return cmp.Compare(b.before, state) })
	if !found {
		return false
	}
	for ; i < len(m.batches) && m.batches[i].before == after; i++ {
		for _, p := range m.batches[i].products {
			if !f(p) {
				return true
			}
		}
		if after = m.batches[i].stamp; after == until {
			return true
		}
	}
	return false
}

// touches tells whether the page changes with this move.
func (m move) touches(f storage.ProductFilter, mark storage.PageMark) bool {
	from := position(m.was)
	left := m.was.UpdatedOn != 0 && matches(f, m.was) && behind(from, f.After) && (mark.Ends || !behind(from, mark.Through))
	return left || mark.Ends && matches(f, m.is)
}

func position(s commerce.Stock) storage.ProductPosition {
	return storage.ProductPosition{UpdatedOn: s.UpdatedOn, ID: s.ProductID}
}

// matches is what feedSQL asks for, but for the position.
func matches(f storage.ProductFilter, s commerce.Stock) bool {
	return (f.StoreIDs == nil || slices.Contains(f.StoreIDs, s.StoreID)) && (f.CategoryID == "" || f.CategoryID == s.CategoryID) &&
		(f.Active == nil || *f.Active == s.Active) && (!f.AvailableOnly || s.Quantity > 0)
}

func behind(a, b storage.ProductPosition) bool {
	return cmp.Or(cmp.Compare(a.UpdatedOn, b.UpdatedOn), cmp.Compare(a.ID, b.ID)) > 0
}

// loadedStock is the stock of a batch as it was before it.
func (b *batch) loadedStock() map[commerce.ProductKey]commerce.Stock {
	keys := b.rows.Stock.Keys()
	if len(keys) == 0 {
		return nil
	}
	was := make(map[commerce.ProductKey]commerce.Stock, len(keys))
	for _, k := range keys {
		if s, stored := b.rows.Stock.Get(k); stored {
			was[k] = s
		}
	}
	return was
}

// moved is what the batch did to the feed.
func (b *batch) moved() batchMoves {
	done := batchMoves{before: b.before, stamp: b.stamp}
	_ = b.rows.Stock.EachChanged(func(s, _ *commerce.Stock) error { // no callback fails
		done.products = append(done.products, move{b.was[s.Key()], *s})
		return nil
	})
	return done
}
