package postgres

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Product implements storage.Reader.
func (r reader) Product(ctx context.Context, id string, known storage.ProductMark, cached func(commerce.ProductVersion) bool) (item commerce.Item, mark storage.ProductMark, err error) {
	if mark.StoreID = known.StoreID; mark.StoreID == "" {
		of, err := one(ctx, r, productStores, id)
		if err != nil {
			return item, mark, err
		}
		mark.StoreID = of.StoreID
	}
	key := commerce.ProductKey{StoreID: mark.StoreID, ProductID: id}
	found := false
	err = r.read(ctx, func(ctx context.Context) (err error) {
		mark.UpdatedOn, found, err = r.e.stamps.Get(ctx, key)
		return err
	})
	switch {
	case err != nil:
		return item, mark, err
	case !found:
		return item, mark, storage.ErrNotFound
	case cached(commerce.ProductVersion{ProductKey: key, UpdatedOn: mark.UpdatedOn}):
		return item, mark, nil
	}
	// The item may be newer than the version by now; it carries its own stamp.
	err = r.rows(ctx, itemsSQL, []any{mark.StoreID, []string{id}}, func(s *scanner) { item = scanItem(s, mark.StoreID) })
	mark.UpdatedOn = item.Stock.UpdatedOn
	return item, mark, err
}

var itemsSQL = "SELECT products.id, " + schema.Qualified("products", products.Values()) + ", " + schema.Qualified("stock", stock.Values()) +
	" FROM products JOIN stock ON stock.store_id = products.store_id AND stock.product_id = products.id" +
	" WHERE products.store_id = $1 AND products.id = ANY($2)"

func scanItem(s *scanner, storeID string) commerce.Item {
	key := commerce.ProductKey{StoreID: storeID, ProductID: s.Text()}
	return commerce.Item{Product: products.Scan(s, key), Stock: stock.Scan(s, key)}
}

// Items implements storage.Reader.
func (r reader) Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error) {
	items := make(map[string]commerce.Item, len(ids))
	err := r.rows(ctx, itemsSQL, []any{storeID, ids}, func(s *scanner) {
		item := scanItem(s, storeID)
		items[item.ID] = item
	})
	return items, err
}

// Readers that come upon what an open batch may still write below wait for it,
// a batch's time or two, then do with what is complete.
const (
	horizonPause = 2 * time.Millisecond
	horizonTries = 500
)

// ProductPage implements storage.Reader.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, to storage.ProductSink) (page storage.ProductPage, err error) {
	for tries := 1; ; tries++ {
		p := pageRead{filter: f, to: to, last: tries == horizonTries}
		err = r.read(ctx, func(ctx context.Context) error { return p.run(ctx, r.e.readers) })
		if err != nil || !p.cut || p.last {
			return p.page, err
		}
		select {
		case <-ctx.Done():
			return p.page, ctx.Err()
		case <-time.After(horizonPause):
		}
	}
}

// pageRead reads a page in two round trips over one snapshot: its versions,
// then the products that are not cached. Where these are many and the page is
// bounded in bytes, a round trip between them asks how long they are, so that no
// more is read than the page has room for.
type pageRead struct {
	filter storage.ProductFilter
	to     storage.ProductSink
	last   bool // take what there is, even if it is cut
	page   storage.ProductPage
	cut    bool
}

const (
	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	endSnapshot   = "COMMIT"
	// readUnmeasured is how many products are read without asking for their length.
	readUnmeasured = 8
)

func (p *pageRead) run(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // one that is still in its transaction is closed
	versions, newest, err := p.versions(ctx, conn)
	if err != nil {
		return err
	}
	var q pgx.Batch
	var bytes []int
	if !p.cut || p.last {
		if bytes, err = p.queueProducts(ctx, conn, &q, versions[:min(len(versions), p.filter.Limit)]); err != nil {
			return err
		}
	}
	q.Queue(seen(endSnapshot))
	if err := conn.SendBatch(ctx, &q).Close(); err != nil || p.cut && !p.last {
		return err
	}
	p.page = storage.PageOfProducts(versions, p.fitting(bytes), newest)
	if p.cut {
		p.page.Mark.Count = -1 // it may be short: nothing is to be known by it
	}
	return nil
}

// queueProducts asks for the products that are not cached. When they are there,
// bytes is what each of the first products takes, as many as may have room.
func (p *pageRead) queueProducts(ctx context.Context, conn *pgxpool.Conn, q *pgx.Batch, versions []commerce.ProductVersion) (bytes []int, err error) {
	bytes = make([]int, len(versions))
	missing, count := map[string][]place{}, 0
	for i, v := range versions {
		n, known := p.to.Cached(i, v)
		if bytes[i] = n; !known {
			missing[v.StoreID] = append(missing[v.StoreID], place{i, v.ProductID})
			count++
		}
	}
	if p.filter.Bytes > 0 && count > readUnmeasured {
		if err := measure(ctx, conn, missing, bytes); err != nil {
			return nil, err
		}
		bytes = bytes[:p.fitting(bytes)] // what has no room by the least that it takes is not read
	}
	for store, places := range missing {
		places = slices.DeleteFunc(places, func(at place) bool { return at.i >= len(bytes) })
		queuePlaces(q, itemsSQL, store, places, func(s *scanner, at map[string]int) {
			item := scanItem(s, store)
			bytes[at[item.ID]] = p.to.Fresh(at[item.ID], item)
		})
	}
	return bytes, nil
}

// measure fills in the least that each of these products takes.
func measure(ctx context.Context, conn *pgxpool.Conn, missing map[string][]place, bytes []int) error {
	var q pgx.Batch
	for store, places := range missing {
		queuePlaces(&q, lengthsSQL, store, places, func(s *scanner, at map[string]int) {
			i := at[s.Text()]
			bytes[i] = int(s.Int())
		})
	}
	return conn.SendBatch(ctx, &q).Close()
}

// fitting is how many products have room.
func (p *pageRead) fitting(bytes []int) int {
	room := p.filter.Room()
	for _, n := range bytes {
		if !room.Add(n) {
			break
		}
	}
	return room.Count
}

// place is where on the page a product stands.
type place struct {
	i  int
	id string
}

// lengthsSQL asks for the texts of products that may be long.
const lengthsSQL = "SELECT id, octet_length(images) + octet_length(description) FROM products WHERE store_id = $1 AND id = ANY($2)"

// queuePlaces runs a statement for products of a store. row also gets their
// places by id.
func queuePlaces(q *pgx.Batch, sql, store string, places []place, row func(s *scanner, at map[string]int)) {
	at := make(map[string]int, len(places))
	ids := make([]string, len(places))
	for n, p := range places {
		at[p.id], ids[n] = p.i, p.id
	}
	if len(ids) == 0 {
		return
	}
	q.Queue(seen(sql), store, ids).Query(func(rows pgx.Rows) error {
		return each(rows, func(s *scanner) { row(s, at) })
	})
}

// versions begins the snapshot and reads one more than the page holds, to know
// whether there is another; of several stores, each gives its own page and the
// nearest are merged. newest is the newest stamp of the one store that was asked
// for, if no open batch may still write below it; else -1.
func (p *pageRead) versions(ctx context.Context, conn *pgxpool.Conn) (all []commerce.ProductVersion, newest int64, err error) {
	floor := int64(math.MaxInt64)
	newest = -1
	f := p.filter
	var q pgx.Batch
	q.Queue(seen(beginSnapshot))
	eachStore(f, func(storeID string) {
		where, args := feedSQL(f, storeID)
		latest := "-1::bigint"
		if len(f.StoreIDs) == 1 {
			latest = "(" + newestSQL + ")" // whose parameter is the first one here, too
		}
		args = append(args, f.Limit+1)
		q.Queue(seen("SELECT store_id, product_id, updated_on, "+horizon+", "+latest+where+
			" ORDER BY updated_on, product_id LIMIT $"+strconv.Itoa(len(args))), args...).Query(func(rows pgx.Rows) error {
			return each(rows, func(s *scanner) {
				all = append(all, commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}, UpdatedOn: s.Int()})
				if lowest := s.Int(); lowest != 0 {
					floor = lowest
				}
				newest = s.Int()
			})
		})
	})
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return nil, -1, err
	}
	if len(f.StoreIDs) > 1 {
		slices.SortFunc(all, func(a, b commerce.ProductVersion) int {
			return cmp.Or(cmp.Compare(a.UpdatedOn, b.UpdatedOn), cmp.Compare(a.ProductID, b.ProductID))
		})
	}
	if newest >= floor {
		newest = -1
	}
	all = all[:min(len(all), f.Limit+1)]
	complete := slices.IndexFunc(all, func(v commerce.ProductVersion) bool { return v.UpdatedOn >= floor })
	if p.cut = complete >= 0; p.cut {
		all = all[:complete]
	}
	return all, newest, nil
}

const newestSQL = "SELECT max(updated_on) FROM stock WHERE store_id = $1"

// readNewest reads the newest stamps of stores, in one round trip.
func (e *Engine) readNewest(ctx context.Context, stores []string) (map[string]int64, error) {
	newest := make(map[string]int64, len(stores))
	var q pgx.Batch
	for _, id := range stores {
		q.Queue(seen(newestSQL), id).Query(func(rows pgx.Rows) error {
			return each(rows, func(s *scanner) { newest[id] = s.Int() })
		})
	}
	return newest, e.readers.SendBatch(ctx, &q).Close()
}

// The two are the same, as it is with byKeysSQL.
const (
	stampsSQL = `SELECT u.store_id, u.product_id, s.updated_on FROM unnest($1::text[], $2::text[]) AS u (store_id, product_id)
		CROSS JOIN LATERAL (SELECT updated_on FROM stock WHERE store_id = u.store_id AND product_id = u.product_id LIMIT 1) AS s`
	spreadStampsSQL = `SELECT u.store_id, u.product_id, s.updated_on FROM unnest($1::text[], $2::text[]) AS u (store_id, product_id)
		JOIN stock AS s ON s.store_id = u.store_id AND s.product_id = u.product_id WHERE s.store_id = ANY($1)`
)

// readStamps reads the stamps of single products.
func (e *Engine) readStamps(ctx context.Context, keys []commerce.ProductKey) (map[commerce.ProductKey]int64, error) {
	stamps := make(map[commerce.ProductKey]int64, len(keys))
	stores, ids := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		stores[i], ids[i] = k.StoreID, k.ProductID
	}
	sql := stampsSQL
	if e.spread {
		sql = spreadStampsSQL
	}
	rows, err := query(ctx, e.readers, sql, stores, ids)
	if err == nil {
		err = each(rows, func(s *scanner) {
			key := commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}
			stamps[key] = s.Int()
		})
	}
	return stamps, err
}

// StillThere implements storage.Reader. While the newest stamp of a store is
// the same, nothing in the store has changed: later batches write above it.
func (r reader) StillThere(ctx context.Context, f storage.ProductFilter, mark storage.PageMark) (storage.PageMark, bool, error) {
	if len(f.StoreIDs) == 1 && mark.State >= 0 {
		same := false
		err := r.read(ctx, func(ctx context.Context) error {
			newest, known, err := r.e.newest.Get(ctx, f.StoreIDs[0])
			same = known && newest == mark.State
			return err
		})
		if err != nil || same {
			return mark, same, err
		}
	}
	same, err := r.countAgain(ctx, f, mark)
	return mark, same, err
}

// countAgain counts what stands where the page stood, and looks at the newest
// of it.
func (r reader) countAgain(ctx context.Context, f storage.ProductFilter, mark storage.PageMark) (same bool, err error) {
	err = r.read(ctx, func(ctx context.Context) error {
		var count, newest int64
		var q pgx.Batch
		eachStore(f, func(storeID string) {
			where, args := feedSQL(f, storeID)
			if !mark.Ends {
				n := len(args)
				where += " AND (updated_on, product_id) <= ($" + strconv.Itoa(n+1) + ", $" + strconv.Itoa(n+2) + ")"
				args = append(args, mark.Through.UpdatedOn, mark.Through.ID)
			}
			q.Queue(seen("SELECT count(*), max(updated_on)"+where), args...).Query(func(rows pgx.Rows) error {
				return each(rows, func(s *scanner) { count, newest = count+s.Int(), max(newest, s.Int()) })
			})
		})
		if err := r.e.readers.SendBatch(ctx, &q).Close(); err != nil {
			return err
		}
		same = count == mark.Count && newest == mark.Through.UpdatedOn
		return nil
	})
	return same, err
}

func eachStore(f storage.ProductFilter, do func(storeID string)) {
	if f.StoreIDs == nil {
		do("")
	}
	for _, id := range f.StoreIDs {
		do(id)
	}
}

// feedSQL is what is wanted of the products of a store (empty: of all): all
// that follow f.After.
func feedSQL(f storage.ProductFilter, storeID string) (where string, args []any) {
	and := func(condition string, v any) {
		args = append(args, v)
		where += condition + "$" + strconv.Itoa(len(args)) + " AND "
	}
	if storeID != "" {
		and("store_id = ", storeID)
	}
	if f.CategoryID != "" {
		and("category_id = ", f.CategoryID)
	}
	if f.Active != nil {
		and("active = ", *f.Active)
	}
	if f.AvailableOnly {
		where += "quantity > 0 AND "
	}
	args = append(args, f.After.UpdatedOn, f.After.ID)
	n := len(args)
	return " FROM stock WHERE " + where + "(updated_on, product_id) > ($" + strconv.Itoa(n-1) + ", $" + strconv.Itoa(n) + ")", args
}
