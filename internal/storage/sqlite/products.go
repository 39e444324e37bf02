package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"
)

// Product implements storage.Reader.
func (r reader) Product(ctx context.Context, id string) (item commerce.Item, v storage.Version, err error) {
	// The stamp is read first: the product may then be newer than the version says, but never older.
	stamp, err := r.e.freshness.stamp(ctx)
	if err != nil {
		return item, 0, err
	}
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, itemByIDSQL, func(b schema.Binder) { b.Text(id) }, func(s *scanner) {
			key := commerce.ProductKey{StoreID: conn.storeID(s), ProductID: id}
			item = commerce.Item{Product: schema.Products.Scan(s, key), Stock: schema.Stock.Scan(s, key)}
		})
	})
	if err == nil && item.ID == "" {
		err = storage.ErrNotFound
	}
	return item, storage.Version(stamp), err
}

var itemByIDSQL = "SELECT product_stores.store_id, " + schema.Qualified("products", schema.Products.Values()) + ", " + schema.Qualified("stock", schema.Stock.Mutable) +
	" FROM product_stores JOIN products ON products.store_id = product_stores.store_id AND products.id = product_stores.product_id" +
	" JOIN stock ON stock.store_id = product_stores.store_id AND stock.product_id = product_stores.product_id" +
	" WHERE product_stores.product_id = ?"

var itemSQL = reads.ItemsSQL("products.id = $2")

func readItem(conn *connection, key commerce.ProductKey) (item commerce.Item, err error) {
	err = query(conn, itemSQL, func(b schema.Binder) { schema.Products.BindKey(b, key) }, func(s *scanner) { item = reads.ScanItem(s, key.StoreID) })
	return item, err
}

// ProductPage implements storage.Reader. The versions come from a covering
// index, then the products are read.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, have storage.Documents) (page storage.ProductPage, err error) {
	err = r.snapshot(ctx, func(conn *connection) error {
		stamp, err := meta(conn, "stamp")
		if err != nil {
			return err
		}
		versions, err := readVersions(conn, f)
		if err != nil {
			return err
		}
		list := f.List(versions, have)
		for _, v := range versions[:min(len(versions), f.Limit)] {
			item, ok := have.Unread(v)
			if !ok {
				if item, err = readItem(conn, v.ProductKey); err != nil {
					return err
				}
			}
			if !list.Add(item) {
				break
			}
		}
		page = list.Page(storage.Version(stamp))
		return nil
	})
	return page, err
}

func readVersions(conn *connection, f storage.ProductFilter) ([]commerce.ProductVersion, error) {
	list := make([]commerce.ProductVersion, 0, f.Limit+1)
	for _, id := range f.Stores() {
		sql, args := f.VersionsSQL(id, "", stockIndex(f, id))
		err := query(conn, sql, bind(args...), func(s *scanner) {
			list = append(list, commerce.ProductVersion{
				ProductKey: commerce.ProductKey{StoreID: conn.storeID(s), ProductID: s.Text()}, UpdatedOn: commerce.Millis(s.Int())})
		})
		if err != nil {
			return nil, err
		}
	}
	return f.Nearest(list), nil
}

// stockIndex is stock with the covering index that has the products of a store
// (empty: of all) in their order.
func stockIndex(f storage.ProductFilter, storeID string) string {
	switch {
	case storeID != "":
		return "stock INDEXED BY stock_feed_by_store"
	case f.CategoryID != "":
		return "stock INDEXED BY stock_feed_by_category"
	}
	return "stock INDEXED BY stock_feed"
}
