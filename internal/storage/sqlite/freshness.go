package sqlite

import (
	"context"
	"sync"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// A version is the stamp of the newest batch of the database. Every batch has a
// stamp above all that were saved before, and every row that it changes carries
// that stamp. So an answer of version v still holds if nothing that it shows has
// a stamp above v.

// Unchanged implements storage.Reader. It asks three sources, the cheapest first:
// the stamp of the database, the latest changes of this process, and the rows.
func (r reader) Unchanged(ctx context.Context, s storage.Scope, v storage.Version) (storage.Version, bool, error) {
	// The stamp is read first: what is read after it may show later batches, but
	// misses none that the stamp covers.
	stamp, err := r.e.freshness.stamp(ctx)
	if err != nil || stamp == int64(v) {
		return v, err == nil, err
	}
	same := r.e.recent.unchanged(s, int64(v), stamp)
	if !same {
		same, err = r.compare(ctx, s, int64(v))
	}
	if err != nil || !same {
		return v, false, err
	}
	return storage.Version(stamp), true, nil
}

// compare looks at the rows themselves.
func (r reader) compare(ctx context.Context, s storage.Scope, v int64) (same bool, err error) {
	err = r.with(ctx, func(conn *connection) error {
		if key := s.Product; key.ProductID != "" {
			return query(conn, "SELECT updated_on FROM stock WHERE store_id = ? AND product_id = ?",
				func(b schema.Binder) { stock.BindKey(b, key) }, func(row *scanner) { same = row.Int() <= v })
		}
		var count, newest int64
		for _, id := range s.Filter.Stores() {
			sql, args := s.CountSQL(id, stockIndex(s.Filter, id))
			err := query(conn, sql, bindAll(args), func(row *scanner) { count, newest = count+row.Int(), max(newest, row.Int()) })
			if err != nil {
				return err
			}
		}
		same = count == s.Count && newest == s.Last.UpdatedOn
		return nil
	})
	return same, err
}

// freshness knows the newest stamp of the database, whichever process wrote it.
type freshness struct {
	index *walIndex // nil: the stamp is asked of SQLite each time
	seen  atomic.Pointer[seenStamp]
	mu    sync.Mutex // while the stamp is read: callers that wait for it need not read it again
	read  func(context.Context) (int64, error)
	own   atomic.Int64 // the stamp of the newest batch of this process
}

// seenStamp is a stamp that was read after the index had this header. While the
// header is the same, no process has committed anything since.
type seenStamp struct {
	header walHeader
	stamp  int64
}

// stamp is that of the newest batch that was committed before the call, or of a
// later one.
func (f *freshness) stamp(ctx context.Context) (int64, error) {
	if stamp, known := f.known(); known {
		return stamp, nil
	}
	if f.index == nil {
		return f.read(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if stamp, known := f.known(); known {
		return stamp, nil
	}
	header, ok := f.index.read()
	stamp, err := f.read(ctx)
	if err == nil && ok {
		f.seen.Store(&seenStamp{header, stamp})
	}
	return stamp, err
}

// known is the stamp that was seen last, if nothing was committed since. An
// index that fails to show a batch of this process is not believed: the batch's
// stamp is loaded first, so that the header is at least as new.
func (f *freshness) known() (int64, bool) {
	seen, own := f.seen.Load(), f.own.Load()
	if seen == nil || seen.stamp < own {
		return 0, false
	}
	header, ok := f.index.read()
	return seen.stamp, ok && header == seen.header
}

// newestStamp reads the newest stamp, if another connection has committed since
// this one has read it.
func (c *connection) newestStamp() (int64, error) {
	var version int64
	err := query(c, "PRAGMA data_version", noArgs, func(s *scanner) { version = s.Int() })
	if err != nil || version == c.dataVersion {
		return c.stamp, err
	}
	stamp, err := meta(c, "stamp")
	if err == nil {
		c.dataVersion, c.stamp = version, stamp
	}
	return stamp, err
}

// recentChanges remembers by stamp which products the latest batches of this
// process have changed, and products of which stores. Most answers are known by
// it to hold, without a look at the database, whose pages a reader reads again
// after each commit.
type recentChanges struct {
	mu sync.RWMutex
	// since and until bound what is known: every batch with a stamp above since
	// and up to until.
	since, until int64
	products     map[string]int64 // stamps of the newest changes, by product
	stores       map[string]int64 // the same by store; by "" of any product
}

// mostChanges bounds the products that are remembered, at some 80 bytes each.
const mostChanges = 20_000

// add remembers a batch and the stamp that was the newest before it. Where
// another process wrote between two batches, all that was known is forgotten.
func (c *recentChanges) add(before, stamp int64, changed []commerce.ProductKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.products == nil || c.until != before || len(c.products) > mostChanges {
		c.since, c.products, c.stores = before, map[string]int64{}, map[string]int64{}
	}
	c.until = stamp
	for _, k := range changed {
		c.products[k.ProductID], c.stores[k.StoreID], c.stores[""] = stamp, stamp, stamp
	}
}

// changedProducts are those of which the batch changes the stock row, as every
// change of a product does.
func (b *batch) changedProducts() (keys []commerce.ProductKey) {
	_ = b.rows.Stock.EachChanged(func(s, _ *commerce.Stock) error { // no callback fails
		keys = append(keys, s.Key())
		return nil
	})
	return keys
}

// unchanged reports that no batch with a stamp above v and up to stamp has
// changed the product or, of a page, any product of its stores. It is false
// where that is not known.
func (c *recentChanges) unchanged(s storage.Scope, v, stamp int64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if v < c.since || stamp > c.until {
		return false
	}
	if s.Product.ProductID != "" {
		return c.products[s.Product.ProductID] <= v
	}
	for _, id := range s.Filter.Stores() {
		if c.stores[id] > v {
			return false
		}
	}
	return true
}
