package sqlite

import (
	"context"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Product implements storage.Reader.
func (r reader) Product(ctx context.Context, id string, known storage.ProductMark, cached func(commerce.ProductVersion) bool) (item commerce.Item, mark storage.ProductMark, err error) {
	// Read before the product, which may then be newer than the stamp says, never older.
	state, err := r.e.newest.stamp(ctx)
	if err != nil {
		return item, known, err
	}
	mark = storage.ProductMark{StoreID: known.StoreID, State: state}
	if known.StoreID != "" && r.e.moves.unmoved(id, known.State, state) && cached(versionOf(id, known)) {
		mark.UpdatedOn = known.UpdatedOn
		return item, mark, nil
	}
	err = r.with(ctx, func(conn *connection) error {
		if mark.StoreID == "" {
			err := query(conn, productStores.selectSQL, func(b schema.Binder) { b.Text(id) }, func(s *scanner) { mark.StoreID = conn.storeID(s) })
			if err != nil {
				return err
			}
		}
		err := query(conn, "SELECT updated_on FROM stock WHERE store_id = ? AND product_id = ?",
			func(b schema.Binder) { b.Text(mark.StoreID).Text(id) }, func(s *scanner) { mark.UpdatedOn = s.Int() })
		if err != nil || mark.UpdatedOn == 0 || cached(versionOf(id, mark)) {
			return err
		}
		// The item may be newer than the version by now; it carries its own stamp.
		item, err = readItem(conn, commerce.ProductKey{StoreID: mark.StoreID, ProductID: id})
		mark.UpdatedOn = item.Stock.UpdatedOn
		return err
	})
	if err == nil && mark.UpdatedOn == 0 {
		err = storage.ErrNotFound
	}
	return item, mark, err
}

func versionOf(id string, m storage.ProductMark) commerce.ProductVersion {
	return commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: m.StoreID, ProductID: id}, UpdatedOn: m.UpdatedOn}
}

var itemSQL = "SELECT " + schema.Qualified("products", products.Values()) + ", " + schema.Qualified("stock", stock.Mutable) +
	" FROM products JOIN stock ON stock.store_id = products.store_id AND stock.product_id = products.id" +
	" WHERE products.store_id = ? AND products.id = ?"

func readItem(conn *connection, key commerce.ProductKey) (item commerce.Item, err error) {
	err = query(conn, itemSQL, func(b schema.Binder) { products.BindKey(b, key) }, func(s *scanner) {
		item = commerce.Item{Product: products.Scan(s, key), Stock: stock.Scan(s, key)}
	})
	return item, err
}

// Items implements storage.Reader.
func (r reader) Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error) {
	items := make(map[string]commerce.Item, len(ids))
	err := r.snapshot(ctx, func(conn *connection) error {
		for _, id := range ids {
			item, err := readItem(conn, commerce.ProductKey{StoreID: storeID, ProductID: id})
			if err != nil {
				return err
			}
			if item.ID != "" {
				items[id] = item
			}
		}
		return nil
	})
	return items, err
}

// ProductPage implements storage.Reader. A page is read from a covering index;
// of several stores, each gives its own page and the nearest are merged.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, to storage.ProductSink) (page storage.ProductPage, err error) {
	err = r.snapshot(ctx, func(conn *connection) error {
		state, err := meta(conn, "stamp")
		if err != nil {
			return err
		}
		versions, err := readVersions(conn, f)
		if err != nil {
			return err
		}
		room := f.Room()
		for i, v := range versions[:min(len(versions), f.Limit)] {
			n, known := to.Cached(i, v)
			if !known {
				item, err := readItem(conn, v.ProductKey)
				if err != nil {
					return err
				}
				n = to.Fresh(i, item)
			}
			if !room.Add(n) {
				break // what follows is not read
			}
		}
		page = storage.PageOfProducts(versions, room.Count, state)
		return nil
	})
	return page, err
}

// StillThere implements storage.Reader. Every batch of every process moves the
// stamp; what batches of this process did since then is remembered.
func (r reader) StillThere(ctx context.Context, f storage.ProductFilter, mark storage.PageMark) (storage.PageMark, bool, error) {
	// Read before the count, which may then see more than the stamp says, never less.
	state, err := r.e.newest.stamp(ctx)
	if err != nil || state == mark.State {
		return mark, err == nil, err
	}
	touched, known := r.e.moves.touched(f, mark, state)
	same := known && !touched
	if !known {
		if same, err = r.countAgain(ctx, f, mark); err != nil {
			return mark, false, err
		}
	}
	if same {
		mark.State = state
	}
	return mark, same, nil
}

// countAgain counts what stands where the page stood, and looks at the newest
// of it.
func (r reader) countAgain(ctx context.Context, f storage.ProductFilter, mark storage.PageMark) (same bool, err error) {
	err = r.with(ctx, func(conn *connection) error {
		stores := f.StoreIDs
		if stores == nil {
			stores = []string{""}
		}
		var count, newest int64
		for _, id := range stores {
			of, last, err := countVersions(conn, f, mark, id)
			if err != nil {
				return err
			}
			count, newest = count+of, max(newest, last)
		}
		same = count == mark.Count && newest == mark.Through.UpdatedOn
		return nil
	})
	return same, err
}

// readVersions reads one more than the page holds, to know whether there is
// another.
func readVersions(conn *connection, f storage.ProductFilter) ([]commerce.ProductVersion, error) {
	if f.StoreIDs == nil {
		return scanVersions(conn, f, "")
	}
	var all []commerce.ProductVersion
	for _, id := range f.StoreIDs {
		of, err := scanVersions(conn, f, id)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	if len(f.StoreIDs) > 1 {
		slices.SortFunc(all, func(a, b commerce.ProductVersion) int {
			if a.UpdatedOn != b.UpdatedOn {
				return int(a.UpdatedOn - b.UpdatedOn)
			}
			return strings.Compare(a.ProductID, b.ProductID)
		})
	}
	return all[:min(len(all), f.Limit+1)], nil
}

func scanVersions(conn *connection, f storage.ProductFilter, storeID string) ([]commerce.ProductVersion, error) {
	list := make([]commerce.ProductVersion, 0, f.Limit+1)
	sql := "SELECT store_id, product_id, updated_on" + feedSQL(f, storeID != "") + " ORDER BY updated_on, product_id LIMIT ?"
	err := query(conn, sql, func(b schema.Binder) {
		bindFeed(b, f, storeID)
		b.Int(int64(f.Limit + 1))
	}, func(s *scanner) {
		list = append(list, commerce.ProductVersion{
			ProductKey: commerce.ProductKey{StoreID: conn.storeID(s), ProductID: s.Text()}, UpdatedOn: s.Int()})
	})
	return list, err
}

// countVersions counts what stands where the page stood, and tells the newest
// of it.
func countVersions(conn *connection, f storage.ProductFilter, mark storage.PageMark, storeID string) (count, newest int64, err error) {
	sql := "SELECT count(*), max(updated_on)" + feedSQL(f, storeID != "")
	if !mark.Ends {
		sql += " AND (updated_on, product_id) <= (?, ?)"
	}
	err = query(conn, sql, func(b schema.Binder) {
		bindFeed(b, f, storeID)
		if !mark.Ends {
			b.Int(mark.Through.UpdatedOn).Text(mark.Through.ID)
		}
	}, func(s *scanner) { count, newest = s.Int(), s.Int() })
	return count, newest, err
}

func bindFeed(b schema.Binder, f storage.ProductFilter, storeID string) {
	if storeID != "" {
		b.Text(storeID)
	}
	if f.CategoryID != "" {
		b.Text(f.CategoryID)
	}
	if f.Active != nil {
		b.Bool(*f.Active)
	}
	b.Int(f.After.UpdatedOn).Text(f.After.ID)
}

// feedSQL names the covering index that has the products in order, and what
// is wanted of it, all that follows f.After.
func feedSQL(f storage.ProductFilter, ofStore bool) string {
	index := "stock_feed"
	where := make([]string, 0, 5)
	if ofStore {
		index = "stock_feed_by_store"
		where = append(where, "store_id = ?")
	}
	if f.CategoryID != "" {
		if !ofStore {
			index = "stock_feed_by_category"
		}
		where = append(where, "category_id = ?")
	}
	if f.Active != nil {
		where = append(where, "active = ?")
	}
	if f.AvailableOnly {
		where = append(where, "quantity > 0")
	}
	where = append(where, "(updated_on, product_id) > (?, ?)")
	return " FROM stock INDEXED BY " + index + " WHERE " + strings.Join(where, " AND ")
}
