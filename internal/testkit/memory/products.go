package memory

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Product implements storage.Reader.
func (r reader) Product(_ context.Context, id string, _ storage.ProductMark, cached func(commerce.ProductVersion) bool) (item commerce.Item, mark storage.ProductMark, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := commerce.ProductKey{StoreID: r.tables.productStores.rows[id].StoreID, ProductID: id}
	s, there := r.tables.stock.rows[key]
	if !there {
		return item, mark, storage.ErrNotFound
	}
	mark = storage.ProductMark{StoreID: key.StoreID, UpdatedOn: s.UpdatedOn, State: r.stamp}
	if !cached(commerce.ProductVersion{ProductKey: key, UpdatedOn: s.UpdatedOn}) {
		item = r.item(key)
	}
	return item, mark, nil
}

func (d *Database) item(key commerce.ProductKey) commerce.Item {
	return commerce.Item{Product: clone(d.tables.products.rows[key]), Stock: clone(d.tables.stock.rows[key])}
}

// Items implements storage.Reader.
func (r reader) Items(_ context.Context, storeID string, ids []string) (map[string]commerce.Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	items := map[string]commerce.Item{}
	for _, id := range ids {
		key := commerce.ProductKey{StoreID: storeID, ProductID: id}
		if _, there := r.tables.stock.rows[key]; there {
			items[id] = r.item(key)
		}
	}
	return items, nil
}

// ProductPage implements storage.Reader.
func (r reader) ProductPage(_ context.Context, f storage.ProductFilter, to storage.ProductSink) (storage.ProductPage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := r.versions(f)
	versions = versions[:min(len(versions), f.Limit+1)]
	room := f.Room()
	for i, v := range versions[:min(len(versions), f.Limit)] {
		n, known := to.Cached(i, v)
		if !known {
			n = to.Fresh(i, r.item(v.ProductKey))
		}
		if !room.Add(n) {
			break
		}
	}
	return storage.PageOfProducts(versions, room.Count, r.stamp), nil
}

// StillThere implements storage.Reader.
func (r reader) StillThere(_ context.Context, f storage.ProductFilter, mark storage.PageMark) (storage.PageMark, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := r.versions(f)
	if !mark.Ends {
		versions = slices.DeleteFunc(versions, func(v commerce.ProductVersion) bool { return position(v) != mark.Through && after(v, mark.Through) })
	}
	same := int64(len(versions)) == mark.Count && (mark.Count == 0 || position(versions[mark.Count-1]) == mark.Through)
	if same {
		mark.State = r.stamp
	}
	return mark, same, nil
}

// versions are all that follow the position of a filter, in order. The lock is
// held.
func (d *Database) versions(f storage.ProductFilter) (list []commerce.ProductVersion) {
	for key, s := range d.tables.stock.rows {
		v := commerce.ProductVersion{ProductKey: key, UpdatedOn: s.UpdatedOn}
		if (f.StoreIDs == nil || slices.Contains(f.StoreIDs, s.StoreID)) && (f.CategoryID == "" || s.CategoryID == f.CategoryID) &&
			(f.Active == nil || s.Active == *f.Active) && (!f.AvailableOnly || s.Quantity > 0) && after(v, f.After) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b commerce.ProductVersion) int {
		return cmp.Or(cmp.Compare(a.UpdatedOn, b.UpdatedOn), cmp.Compare(a.ProductID, b.ProductID))
	})
	return list
}

func position(v commerce.ProductVersion) storage.ProductPosition {
	return storage.ProductPosition{UpdatedOn: v.UpdatedOn, ID: v.ProductID}
}

func after(v commerce.ProductVersion, p storage.ProductPosition) bool {
	return cmp.Or(cmp.Compare(v.UpdatedOn, p.UpdatedOn), cmp.Compare(v.ProductID, p.ID)) > 0
}
