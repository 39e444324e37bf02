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
func (r reader) Product(ctx context.Context, id string, cached func(commerce.ProductVersion) bool) (item commerce.Item, err error) {
	var version commerce.ProductVersion
	err = r.with(ctx, func(conn *connection) error {
		err := query(conn, `SELECT stock.store_id, stock.updated_on FROM product_stores
			JOIN stock ON stock.store_id = product_stores.store_id AND stock.product_id = product_stores.product_id
			WHERE product_stores.product_id = ?`,
			func(b schema.Binder) { b.Text(id) },
			func(s *scanner) {
				version = commerce.ProductVersion{ProductKey: commerce.ProductKey{StoreID: s.Text(), ProductID: id}, UpdatedOn: s.Int()}
			})
		if err != nil || version.StoreID == "" || cached(version) {
			return err
		}
		// The item may be newer than the version by now; it carries its own stamp.
		item, err = readItem(conn, version.ProductKey)
		return err
	})
	if err == nil && version.StoreID == "" {
		err = storage.ErrNotFound
	}
	return item, err
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

// ProductPage implements storage.Reader. A page is read from a covering index;
// of several stores, each gives its own page and the nearest are merged.
func (r reader) ProductPage(ctx context.Context, f storage.ProductFilter, cached func(int, commerce.ProductVersion) bool,
	fresh func(int, commerce.Item)) (page storage.ProductPage, err error) {
	err = r.snapshot(ctx, func(conn *connection) error {
		versions, err := readVersions(conn, f)
		if err != nil {
			return err
		}
		if len(versions) > f.Limit {
			last := versions[f.Limit-1]
			page.Next = &storage.ProductPosition{UpdatedOn: last.UpdatedOn, ID: last.ProductID}
			versions = versions[:f.Limit]
		}
		page.Count = len(versions)
		for i, v := range versions {
			if cached(i, v) {
				continue
			}
			item, err := readItem(conn, v.ProductKey)
			if err != nil {
				return err
			}
			fresh(i, item)
		}
		return nil
	})
	return page, err
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
	err := query(conn, versionsSQL(f, storeID != ""), func(b schema.Binder) {
		if storeID != "" {
			b.Text(storeID)
		}
		if f.CategoryID != "" {
			b.Text(f.CategoryID)
		}
		if f.Active != nil {
			b.Bool(*f.Active)
		}
		b.Int(f.After.UpdatedOn).Text(f.After.ID).Int(int64(f.Limit + 1))
	}, func(s *scanner) {
		list = append(list, commerce.ProductVersion{
			ProductKey: commerce.ProductKey{StoreID: conn.storeID(s), ProductID: s.Text()}, UpdatedOn: s.Int()})
	})
	return list, err
}

func versionsSQL(f storage.ProductFilter, ofStore bool) string {
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
	return "SELECT store_id, product_id, updated_on FROM stock INDEXED BY " + index +
		" WHERE " + strings.Join(where, " AND ") + " ORDER BY updated_on, product_id LIMIT ?"
}
