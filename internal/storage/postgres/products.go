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
)

// Product implements storage.Reader.
func (r reader) Product(ctx context.Context, id, storeID string, cached func(commerce.ProductVersion) bool) (item commerce.Item, err error) {
	if storeID == "" {
		of, err := one(ctx, r, productStores, id)
		if err != nil {
			return item, err
		}
		storeID = of.StoreID
	}
	version := commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: storeID, ProductID: id}}
	err = r.read(ctx, func(ctx context.Context) (err error) {
		version.UpdatedOn, err = r.e.look.up(ctx, version.ProductKey)
		return err
	})
	switch {
	case err != nil:
		return item, err
	case version.UpdatedOn == 0:
		return item, storage.ErrNotFound
	case cached(version):
		return item, nil
	}
	// The item may be newer than the version by now; it carries its own stamp.
	err = r.rows(ctx, itemsSQL, []any{storeID, []string{id}}, func(s *scanner) { item = scanItem(s, storeID) })
	return item, err
}

var itemsSQL = "SELECT products.id, " + schema.Qualified("products", products.Values()) + ", " + schema.Qualified("stock", stock.Values()) +
	" FROM products JOIN stock ON stock.store_id = products.store_id AND stock.product_id = products.id" +
	" WHERE products.store_id = $1 AND products.id = ANY($2)"

func scanItem(s *scanner, storeID string) commerce.Item {
	key := commerce.ProductKey{StoreID: storeID, ProductID: s.Text()}
	return commerce.Item{Product: products.Scan(s, key), Stock: stock.Scan(s, key)}
}

// Readers that come upon what an open batch may still write below wait for it,
// a batch's time or two, then do with what is complete.
const (
	horizonPause = 2 * time.Millisecond
	horizonTries = 500
)

// ProductPage implements storage.Reader.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, cached func(int, commerce.ProductVersion) bool,
	fresh func(int, commerce.Item)) (page storage.ProductPage, err error) {
	for tries := 1; ; tries++ {
		var cut bool
		page, cut, err = r.productPage(ctx, f, tries, cached, fresh)
		if err != nil || !cut || tries >= horizonTries {
			return page, err
		}
		select {
		case <-ctx.Done():
			return page, ctx.Err()
		case <-time.After(horizonPause):
		}
	}
}

// productPage reads the versions of a page, and, in the same snapshot, the
// products that are not cached. The first try hopes that all are, and needs no
// transaction.
func (r reader) productPage(ctx context.Context, f storage.ProductFilter, try int, cached func(int, commerce.ProductVersion) bool,
	fresh func(int, commerce.Item)) (page storage.ProductPage, cut bool, err error) {
	var missing map[string][]place
	versionsOn := func(ctx context.Context, q sender) error {
		var versions []commerce.ProductVersion
		if versions, cut, err = readVersions(ctx, q, f); err != nil || (cut && try < horizonTries) {
			return err
		}
		page = storage.ProductPage{Mark: storage.MarkOf(versions, f.Limit, 0)}
		if cut {
			page.Mark.Count = -1 // it may be short: nothing is to be known by it
		}
		if len(versions) > f.Limit {
			versions = versions[:f.Limit]
			last := versions[f.Limit-1]
			page.Next = &storage.ProductPosition{UpdatedOn: last.UpdatedOn, ID: last.ProductID}
		}
		page.Count = len(versions)
		missing = map[string][]place{}
		for i, v := range versions {
			if !cached(i, v) {
				missing[v.StoreID] = append(missing[v.StoreID], place{i, v.ProductID})
			}
		}
		return nil
	}
	if len(f.StoreIDs) <= 1 {
		err := r.read(ctx, func(ctx context.Context) error { return versionsOn(ctx, r.e.readers) })
		if err != nil || cut || len(missing) == 0 {
			return page, cut, err
		}
	}
	err = r.snapshot(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := versionsOn(ctx, tx); err != nil || len(missing) == 0 {
			return err
		}
		return readItems(ctx, tx, missing, fresh)
	})
	return page, cut, err
}

// place is where on the page a product stands.
type place struct {
	i  int
	id string
}

type sender interface {
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
}

func readItems(ctx context.Context, q sender, missing map[string][]place, fresh func(int, commerce.Item)) error {
	var b pgx.Batch
	for store, places := range missing {
		at := make(map[string]int, len(places))
		ids := make([]string, len(places))
		for n, p := range places {
			at[p.id], ids[n] = p.i, p.id
		}
		b.Queue(seen(itemsSQL), store, ids).Query(func(rows pgx.Rows) error {
			return each(rows, func(s *scanner) {
				item := scanItem(s, store)
				fresh(at[item.ID], item)
			})
		})
	}
	return q.SendBatch(ctx, &b).Close()
}

// readVersions reads one more than the page holds, to know whether there is
// another; of several stores, each gives its own page and the nearest are
// merged. cut tells that it stopped before what an open batch may write.
func readVersions(ctx context.Context, q sender, f storage.ProductFilter) (all []commerce.ProductVersion, cut bool, err error) {
	floor := int64(math.MaxInt64)
	var b pgx.Batch
	eachStore(f, func(storeID string) {
		where, args := feedSQL(f, storeID)
		args = append(args, f.Limit+1)
		b.Queue(seen("SELECT store_id, product_id, updated_on, "+horizon+where+" ORDER BY updated_on, product_id LIMIT $"+strconv.Itoa(len(args))), args...).
			Query(func(rows pgx.Rows) error {
				return each(rows, func(s *scanner) {
					all = append(all, commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}, UpdatedOn: s.Int()})
					if lowest := s.Int(); lowest != 0 {
						floor = lowest
					}
				})
			})
	})
	if err := q.SendBatch(ctx, &b).Close(); err != nil {
		return nil, false, err
	}
	if len(f.StoreIDs) > 1 {
		slices.SortFunc(all, func(a, b commerce.ProductVersion) int {
			return cmp.Or(cmp.Compare(a.UpdatedOn, b.UpdatedOn), cmp.Compare(a.ProductID, b.ProductID))
		})
	}
	all = all[:min(len(all), f.Limit+1)]
	complete := slices.IndexFunc(all, func(v commerce.ProductVersion) bool { return v.UpdatedOn >= floor })
	if complete < 0 {
		return all, false, nil
	}
	return all[:complete], true, nil
}

// StillThere implements storage.Reader.
func (r reader) StillThere(ctx context.Context, f storage.ProductFilter, mark storage.PageMark) (storage.PageMark, bool, error) {
	var count, newest int64
	err := r.read(ctx, func(ctx context.Context) error {
		count, newest = 0, 0
		var b pgx.Batch
		eachStore(f, func(storeID string) {
			where, args := feedSQL(f, storeID)
			if !mark.Ends {
				n := len(args)
				where += " AND (updated_on, product_id) <= ($" + strconv.Itoa(n+1) + ", $" + strconv.Itoa(n+2) + ")"
				args = append(args, mark.Through.UpdatedOn, mark.Through.ID)
			}
			b.Queue(seen("SELECT count(*), max(updated_on)"+where), args...).Query(func(rows pgx.Rows) error {
				return each(rows, func(s *scanner) { count, newest = count+s.Int(), max(newest, s.Int()) })
			})
		})
		return r.e.readers.SendBatch(ctx, &b).Close()
	})
	return mark, err == nil && count == mark.Count && newest == mark.Through.UpdatedOn, err
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
