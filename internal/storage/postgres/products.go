package postgres

import (
	"context"
	"math"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The version of a product is its stamp. The version of a page is the newest
// stamp of its store, because later batches write above that. noVersion is the
// version of a page that shows several stores, and of a page that was read while
// an open batch could still write below the newest stamp.
const noVersion storage.Version = -1

// Product implements storage.Reader.
func (r reader) Product(ctx context.Context, id string) (item commerce.Item, v storage.Version, err error) {
	of, err := r.ProductStore(ctx, id)
	if err != nil {
		return item, v, err
	}
	err = r.rows(ctx, itemsSQL, []any{of.StoreID, []string{id}}, func(s schema.Scanner) { item = reads.ScanItem(s, of.StoreID) })
	if err == nil && item.ID == "" {
		err = storage.ErrNotFound
	}
	return item, storage.Version(item.Stock.UpdatedOn), err
}

var itemsSQL = reads.ItemsSQL("products.id = ANY($2)")

// A page ends before the low watermark. If the watermark cuts the page, the reader
// waits for as long as a batch or two take, and at last gives the part below it.
const (
	watermarkPause = 2 * time.Millisecond
	watermarkTries = 500
)

// belowWatermark reads a page until it is not cut. The last read gives the page even if it is cut.
func belowWatermark(ctx context.Context, read func(last bool) (cut bool, err error)) error {
	for tries := 1; ; tries++ {
		cut, err := read(tries >= watermarkTries)
		if err != nil || !cut || tries >= watermarkTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watermarkPause):
		}
	}
}

// ProductPage implements storage.Reader.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, have storage.Documents) (storage.ProductPage, error) {
	p := pageRead{engine: r.e, filter: f, have: have}
	err := belowWatermark(ctx, func(last bool) (bool, error) {
		p.last = last
		for {
			err := r.read(ctx, func(ctx context.Context) error { return p.run(ctx, r.e.readers) })
			if err != nil || p.done || p.cut && !last {
				return p.cut && !p.done, err
			}
		}
	})
	return p.page, err
}

// pageRead reads a page in two round trips over one snapshot: its versions, then
// its products. The second reads only products whose texts are so short that all
// of them have room. Where others are found, the page is long: it is read again,
// and those others one after another until the page is full.
type pageRead struct {
	engine *Engine
	filter storage.ProductFilter
	have   storage.Documents
	last   bool // give the page even if it is cut
	long   bool
	cut    bool // the versions ended where an open batch may still write
	page   storage.ProductPage
	done   bool // the page is complete
}

const (
	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	endSnapshot   = "COMMIT"
)

func (p *pageRead) run(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // one that is still in its transaction is closed
	all, newest, err := p.versions(ctx, conn)
	if err != nil {
		return err
	}
	if p.cut && !p.last {
		_, err := conn.Exec(ctx, seen(endSnapshot))
		return err
	}
	versions := all[:min(len(all), p.filter.Limit)]
	items, found, err := p.shortItems(ctx, conn, versions)
	if err != nil || found < len(items) && !p.long {
		p.long = err == nil
		return err
	}
	list := p.filter.List(all, p.have)
	for i, v := range versions {
		if items[i].ID == "" {
			if items[i], err = readItem(ctx, conn, v.ProductKey); err != nil {
				return err
			}
		}
		if !list.Add(items[i]) {
			break
		}
	}
	p.page, p.done = list.Page(newest), true
	if p.cut {
		p.page.ReadSet.Count = -1 // products may be missing: no count proves the page
	}
	if p.long {
		_, err = conn.Exec(ctx, seen(endSnapshot))
	}
	return err
}

func readItem(ctx context.Context, q querier, key commerce.ProductKey) (item commerce.Item, err error) {
	err = query(ctx, q, func(s *scanner) { item = reads.ScanItem(s, key.StoreID) }, itemsSQL, key.StoreID, []string{key.ProductID})
	return item, err
}

// shortSQL reads products whose texts take no more than so many bytes.
var shortSQL = itemsSQL + " AND octet_length(images) + octet_length(description) <= $3"

// shortItems reads the short products that the caller does not have. It puts each
// product at its place, counts them, and ends the snapshot unless the page is long.
func (p *pageRead) shortItems(ctx context.Context, conn *pgxpool.Conn, versions []commerce.ProductVersion) (items []commerce.Item, found int, err error) {
	most := math.MaxInt32
	if p.filter.Bytes > 0 {
		most = p.filter.Bytes / max(1, len(versions))
	}
	places, ids := map[string]int{}, map[string][]string{}
	items = make([]commerce.Item, len(versions))
	for i, v := range versions {
		item, ok := p.have.Unread(v)
		if ok {
			items[i], found = item, found+1
			continue
		}
		places[v.ProductID] = i
		ids[v.StoreID] = append(ids[v.StoreID], v.ProductID)
	}
	var q pgx.Batch
	for store, of := range ids {
		queue(&q, func(s *scanner) {
			item := reads.ScanItem(s, store)
			items[places[item.ID]], found = item, found+1
		}, shortSQL, store, of, most)
	}
	if !p.long {
		q.Queue(seen(endSnapshot))
	}
	err = conn.SendBatch(ctx, &q).Close()
	return items, found, err
}

// versions begins the snapshot and reads the versions of the page, which end
// before the low watermark.
func (p *pageRead) versions(ctx context.Context, conn *pgxpool.Conn) (all []commerce.ProductVersion, newest storage.Version, err error) {
	watermark := int64(noWatermark)
	newest = noVersion
	f := p.filter
	latest, lowest := "-1::bigint", p.engine.lowest(guardOfStores)
	var q pgx.Batch
	switch {
	case len(f.StoreIDs) == 1:
		latest = "(" + newestSQL + ")" // the store is the first parameter here, too
	case p.engine.spread:
		p.engine.queueLowest(&q, &watermark, "SELECT min(floor) FROM store_writers WHERE until > now()")
		lowest = "NULL::bigint"
	}
	q.Queue(seen(beginSnapshot))
	for _, id := range f.Stores() {
		sql, args := f.VersionsSQL(id, ", "+lowest+", "+latest, "stock")
		queue(&q, func(s *scanner) {
			all = append(all, commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}, UpdatedOn: commerce.Millis(s.Int())})
			if lowest := s.Int(); lowest != 0 {
				watermark = lowest
			}
			newest = storage.Version(s.Int())
		}, sql, args...)
	}
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return nil, noVersion, err
	}
	all = f.Nearest(all)
	if int64(newest) >= watermark {
		newest = noVersion
	}
	complete := slices.IndexFunc(all, func(v commerce.ProductVersion) bool { return v.UpdatedOn >= commerce.Millis(watermark) })
	if p.cut = complete >= 0; p.cut {
		all = all[:complete]
	}
	return all, newest, nil
}

const newestSQL = "SELECT max(updated_on) FROM stock WHERE store_id = $1"

// newestOfSQL is newestSQL for many stores of one server.
const newestOfSQL = "SELECT id, (SELECT max(updated_on) FROM stock WHERE store_id = id) FROM unnest($1::text[]) AS id"

// readNewest reads the newest stamps of stores.
func (e *Engine) readNewest(ctx context.Context, stores []string) (map[string]int64, error) {
	newest := make(map[string]int64, len(stores))
	if !e.spread {
		return newest, query(ctx, e.readers, func(s *scanner) {
			id := s.Text()
			newest[id] = s.Int()
		}, newestOfSQL, stores)
	}
	var q pgx.Batch
	for _, id := range stores {
		queue(&q, func(s *scanner) { newest[id] = s.Int() }, newestSQL, id)
	}
	return newest, e.readers.SendBatch(ctx, &q).Close()
}

// stamps are the stamps of products: the stock table with nothing else of its rows.
var stamps = schema.Table[commerce.ProductKey, commerce.Millis]{Name: schema.Stock.Name, Key: schema.Stock.Key, Mutable: "updated_on",
	BindKey: schema.Stock.BindKey, Traits: schema.Stock.Traits,
	Scan: func(s schema.Scanner, _ commerce.ProductKey) commerce.Millis { return commerce.Millis(s.Int()) }}

// Unchanged implements storage.Reader.
func (r reader) Unchanged(ctx context.Context, s storage.ReadSet, v storage.Version) (storage.Version, bool, error) {
	same := false
	err := r.read(ctx, func(ctx context.Context) error {
		switch {
		case s.Orders.PartnerID != "":
			var err error
			same, err = r.unchangedOrders(ctx, s.Orders, v)
			return err
		case s.Product.ProductID != "":
			stamp, _, err := r.e.stamps.Get(ctx, s.Product)
			same = storage.Version(stamp) == v
			return err
		case len(s.Filter.StoreIDs) == 1 && v != noVersion:
			newest, _, err := r.e.newest.Get(ctx, s.Filter.StoreIDs[0])
			if same = newest == int64(v); same || err != nil {
				return err
			}
		}
		count, newest, err := r.count(ctx, s)
		same = count == s.Count && newest == int64(s.Last.UpdatedOn)
		return err
	})
	return v, same, err
}

// count counts the products at the positions of a page, and finds their newest
// stamp.
func (r reader) count(ctx context.Context, s storage.ReadSet) (count, newest int64, err error) {
	var q pgx.Batch
	for _, id := range s.Filter.Stores() {
		sql, args := s.CountSQL(id, "stock")
		queue(&q, func(row *scanner) { count, newest = count+row.Int(), max(newest, row.Int()) }, sql, args...)
	}
	err = r.e.readers.SendBatch(ctx, &q).Close()
	return count, newest, err
}
