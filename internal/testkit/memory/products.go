package memory

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Product implements storage.Reader.
func (r reader) Product(_ context.Context, id string) (commerce.Item, storage.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.productKey(id)
	if _, there := get(r.tables, &schema.Stock, key); !there {
		return commerce.Item{}, 0, storage.ErrNotFound
	}
	return r.item(key), storage.Version(r.stamp), nil
}

// productKey is the key of a product, with an empty store if there is no such product.
func (d *Database) productKey(id string) commerce.ProductKey {
	of, _ := get(d.tables, &schema.ProductStores, id)
	return commerce.ProductKey{StoreID: of.StoreID, ProductID: id}
}

func (d *Database) item(key commerce.ProductKey) commerce.Item {
	product, _ := get(d.tables, &schema.Products, key)
	stock, _ := get(d.tables, &schema.Stock, key)
	return commerce.Item{Product: *clone(d.tables[schema.Products.Name].plan, product), Stock: *clone(d.tables[schema.Stock.Name].plan, stock)}
}

// Items implements storage.Reader.
func (r reader) Items(_ context.Context, storeID string, ids []string) (map[string]commerce.Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	items := map[string]commerce.Item{}
	for _, id := range ids {
		key := commerce.ProductKey{StoreID: storeID, ProductID: id}
		if _, there := get(r.tables, &schema.Stock, key); there {
			items[id] = r.item(key)
		}
	}
	return items, nil
}

func (r reader) SKUs(ctx context.Context, storeID string, ids []string) (map[string]string, error) {
	items, err := r.Items(ctx, storeID, ids)
	skus := make(map[string]string, len(items))
	for id, item := range items {
		skus[id] = item.SKU
	}
	return skus, err
}

// ProductsBySKU implements storage.Reader.
func (r reader) ProductsBySKU(_ context.Context, storeID string, skus []string) (map[string][]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string][]string{}
	for p := range each[commerce.Product](r.tables, &schema.Products) {
		if p.StoreID == storeID && p.SKU != "" && slices.Contains(skus, p.SKU) {
			found[p.SKU] = append(found[p.SKU], p.ID)
		}
	}
	for sku, ids := range found {
		found[sku] = slices.Compact([]string{slices.Min(ids), slices.Max(ids)})
	}
	return found, nil
}

// FeedPlace implements storage.Reader.
func (r reader) FeedPlace(_ context.Context, name string) (commerce.FeedPlace, error) {
	return one(r, &schema.FeedPlaces, name)
}

// DueProductNews implements storage.Reader.
func (r reader) DueProductNews(_ context.Context, at commerce.Millis, limit int) (keys []commerce.ProductKey, err error) {
	due, err := list(r, &schema.ProductNews, limit, func(n *commerce.ProductNews) bool { return n.NextOn <= at }, func(a, b *commerce.ProductNews) int {
		return cmp.Or(cmp.Compare(a.NextOn, b.NextOn), cmp.Compare(a.StoreID, b.StoreID), cmp.Compare(a.ProductID, b.ProductID))
	})
	for _, n := range due {
		keys = append(keys, n.ProductKey)
	}
	return keys, err
}

// ProductPage implements storage.Reader.
func (r reader) ProductPage(_ context.Context, f storage.ProductFilter, have storage.Documents) (storage.ProductPage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := r.versions(f)
	versions = versions[:min(len(versions), f.Limit+1)]
	list := f.List(versions, have)
	for _, v := range versions[:min(len(versions), f.Limit)] {
		item, ok := have.Unread(v)
		if !ok {
			item = r.item(v.ProductKey)
		}
		if !list.Add(item) {
			break
		}
	}
	return list.Page(storage.Version(r.stamp)), nil
}

// Unchanged implements storage.Reader. A version is the stamp of the newest batch.
func (r reader) Unchanged(_ context.Context, s storage.ReadSet, v storage.Version) (storage.Version, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Orders.PartnerID != "" {
		for _, m := range r.tables.since(s.Orders.PartnerID, commerce.Millis(v)+1) {
			if o := m.row.value.(*commerce.Order); slices.Contains(s.Orders.Modes, o.Mode) && o.UpdatedOn > commerce.Millis(v) {
				return v, false, nil
			}
		}
		return storage.Version(r.stamp), true, nil
	}
	if s.Product.ProductID != "" {
		stock, _ := get(r.tables, &schema.Stock, s.Product)
		return storage.Version(r.stamp), stock.UpdatedOn <= commerce.Millis(v), nil
	}
	versions := r.versions(s.Filter)
	if !s.Ends {
		versions = slices.DeleteFunc(versions, func(v commerce.ProductVersion) bool { return storage.PositionOf(v).Compare(s.Last) > 0 })
	}
	same := int64(len(versions)) == s.Count && (s.Count == 0 || storage.PositionOf(versions[s.Count-1]) == s.Last)
	return storage.Version(r.stamp), same, nil
}

// versions are all that follow the position of a filter, in order. The lock is
// held.
func (d *Database) versions(f storage.ProductFilter) (list []commerce.ProductVersion) {
	for s := range each[commerce.Stock](d.tables, &schema.Stock) {
		v := commerce.ProductVersion{ProductKey: s.Key(), UpdatedOn: s.UpdatedOn}
		if (f.StoreIDs == nil || slices.Contains(f.StoreIDs, s.StoreID)) && (f.CategoryID == "" || s.CategoryID == f.CategoryID) &&
			(f.Active == nil || s.Active == *f.Active) && (!f.AvailableOnly || s.Quantity > 0) &&
			storage.PositionOf(v).Compare(f.After) > 0 {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b commerce.ProductVersion) int {
		return storage.PositionOf(a).Compare(storage.PositionOf(b))
	})
	return list
}
