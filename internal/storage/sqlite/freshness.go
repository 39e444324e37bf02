package sqlite

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// A version is the stamp of the newest batch in the database. Each batch has a
// higher stamp than all batches before, and writes it into every stock row that it
// changes. So an answer of version v holds while no row that it shows has a higher
// stamp than v.

// Unchanged implements storage.Reader. It asks three sources, the cheapest first:
// the stamp of the database, the latest changes of this process, and the rows.
func (r reader) Unchanged(ctx context.Context, s storage.ReadSet, v storage.Version) (storage.Version, bool, error) {
	// The stamp is read first: later reads may show more batches than those up to the
	// stamp, but never fewer.
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

// compare reads the rows.
func (r reader) compare(ctx context.Context, s storage.ReadSet, v int64) (same bool, err error) {
	err = r.with(ctx, func(conn *connection) error {
		if s.Orders.PartnerID != "" {
			same, err = unchangedOrders(conn, s.Orders, v)
			return err
		}
		if key := s.Product; key.ProductID != "" {
			return query(conn, "SELECT updated_on FROM stock WHERE store_id = ? AND product_id = ?",
				func(b schema.Binder) { schema.Stock.BindKey(b, key) }, func(row *scanner) { same = row.Int() <= v })
		}
		var count, newest int64
		for _, id := range s.Filter.Stores() {
			sql, args := s.CountSQL(id, stockIndex(s.Filter, id))
			err := query(conn, sql, bind(args...), func(row *scanner) { count, newest = count+row.Int(), max(newest, row.Int()) })
			if err != nil {
				return err
			}
		}
		same = count == s.Count && newest == int64(s.Last.UpdatedOn)
		return nil
	})
	return same, err
}

// freshness knows the newest stamp of the database, whichever process wrote it.
type freshness struct {
	index *walIndex // nil: the stamp is asked of SQLite each time
	seen  atomic.Pointer[seenStamp]
	mu    sync.Mutex // held while the stamp is read, so that waiting callers need not read it again
	read  func(context.Context) (int64, error)
	own   atomic.Int64 // the stamp of the newest batch of this process
}

// seenStamp is a stamp that was read after the index had this header. While the
// header is the same, no process has committed anything since.
type seenStamp struct {
	header walHeader
	stamp  int64
}

// stamp is the stamp of the newest batch that was committed before the call, or of
// a later batch.
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

// known is the stamp that was seen last, if no process has committed since. It does
// not believe an index that fails to show a batch of this process: own is loaded
// before the header is read, so the header must be as new.
func (f *freshness) known() (int64, bool) {
	seen, own := f.seen.Load(), f.own.Load()
	if seen == nil || seen.stamp < own {
		return 0, false
	}
	header, ok := f.index.read()
	return seen.stamp, ok && header == seen.header
}

// newestStamp is the newest stamp. It is read again only if another connection has
// committed since.
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

// recentChanges remembers which products, and the products of which stores and the orders of
// which partners, the latest batches of this process have changed. It saves most reads of the database, which are slow after
// each commit because a connection then drops its cached pages.
type recentChanges struct {
	mu sync.RWMutex
	// since and until bound what is known: every batch with a stamp above since
	// and up to until.
	since, until int64
	products     map[string]int64 // stamps of the newest changes, by product
	stores       map[string]int64 // the same by store; by "" of any product
	orders       map[ordersKey]int64
}

// ordersKey names the orders of a partner in one mode.
type ordersKey struct {
	partnerID string
	mode      commerce.Mode
}

// mostChanges bounds the products that are remembered, at some 80 bytes each.
const mostChanges = 20_000

// add remembers a batch; before was the newest stamp when the batch began. If
// another process wrote between two batches, add forgets everything from before.
func (c *recentChanges) add(before, stamp int64, changed []commerce.ProductKey, orders []ordersKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.products == nil || c.until != before || len(c.products) > mostChanges {
		c.since, c.products, c.stores, c.orders = before, map[string]int64{}, map[string]int64{}, map[ordersKey]int64{}
	}
	c.until = stamp
	for _, k := range changed {
		c.products[k.ProductID], c.stores[k.StoreID], c.stores[""] = stamp, stamp, stamp
	}
	for _, k := range orders {
		c.orders[k] = stamp
	}
}

// changedProducts are the products that the batch changes. Every change of a
// product changes its stock row.
func (b *batch) changedProducts() (keys []commerce.ProductKey) {
	for i := range b.rows.Stock.Changed() {
		k, _, _ := b.rows.Stock.Change(i)
		keys = append(keys, k)
	}
	return keys
}

// changedOrders names the orders that the batch makes or changes, each partner and mode
// once.
func (b *batch) changedOrders() (keys []ordersKey) {
	for i := range b.rows.Orders.Changed() {
		if _, o, _ := b.rows.Orders.Change(i); o != nil {
			if k := (ordersKey{o.PartnerID, o.Mode}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// unchanged reports that no batch after v, up to stamp, has changed the product,
// any product of the page's stores, or any of the orders. It is false also if that is not known.
func (c *recentChanges) unchanged(s storage.ReadSet, v, stamp int64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if v < c.since || stamp > c.until {
		return false
	}
	if s.Orders.PartnerID != "" {
		return !slices.ContainsFunc(s.Orders.Modes, func(mode commerce.Mode) bool { return c.orders[ordersKey{s.Orders.PartnerID, mode}] > v })
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
