package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// productPages walks every combination of filters and compares what it saw
// with the rows filtered in Go.
func productPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 3, 20, 0)
	random := rand.New(rand.NewPCG(1, 2))
	model := map[string]commerce.Stock{}
	for range 60 { // several products share a stamp, as those of one batch do
		some := map[commerce.ProductKey]bool{}
		for range 1 + random.IntN(4) {
			some[keys[random.IntN(len(keys))]] = true
		}
		batch := slices.SortedFunc(func(yield func(commerce.ProductKey) bool) {
			for k := range some {
				if !yield(k) {
					return
				}
			}
		}, func(a, b commerce.ProductKey) int { return cmp.Compare(a.ProductID, b.ProductID) })
		Change(t, e, stockOf(batch...), func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
			for _, k := range batch {
				s, _ := rows.Stock.Get(k)
				s.CategoryID = fmt.Sprintf("cat_%d", random.IntN(3))
				s.Active, s.Quantity, s.UpdatedOn = random.IntN(3) > 0, int64(random.IntN(3)), now
				c.Stock = append(c.Stock, s)
			}
			return c
		})
	}
	found, err := e.Reader().Stock(context.Background(), ids(keys))
	if err != nil {
		t.Fatal(err)
	}
	for id, s := range found {
		model[id] = s
	}
	for _, stores := range [][]string{nil, {"sto_0"}, {"sto_0", "sto_2"}, {"sto_1", "sto_0", "sto_2"}, {"sto_x"}} {
		for _, category := range []string{"", "cat_1", "cat_x"} {
			for _, active := range []*bool{nil, new(true), new(false)} {
				for _, available := range []bool{false, true} {
					for _, limit := range []int{1, 7, 100} {
						f := storage.ProductFilter{StoreIDs: stores, CategoryID: category, Active: active, AvailableOnly: available, Limit: limit}
						got, want := walk(t, e, f), filtered(model, f)
						if !slices.Equal(got, want) {
							t.Errorf("%+v:\n got %v\nwant %v", f, got, want)
						}
					}
				}
			}
		}
	}
}

func ids(keys []commerce.ProductKey) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.ProductID
	}
	return list
}

// walk reads all pages of a filter.
func walk(t testing.TB, e storage.Engine, f storage.ProductFilter) (all []commerce.ProductVersion) {
	t.Helper()
	for {
		page, err := e.Reader().ProductPage(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, versions(t, page)...)
		if n := len(page.Items); n > f.Limit || page.More && n < f.Limit {
			t.Errorf("a page has %d of %d products; another follows: %v", n, f.Limit, page.More)
		}
		if !page.More {
			return all
		}
		f.After = end(page)
	}
}

func versions(t testing.TB, page storage.ProductPage) []commerce.ProductVersion {
	t.Helper()
	list := make([]commerce.ProductVersion, len(page.Items))
	for i, p := range page.Items {
		if p.Stock.Key() != p.Product.Key() {
			t.Errorf("product %v has the stock of %v", p.Product.Key(), p.Stock.Key())
		}
		list[i] = p.Version()
	}
	return list
}

// end is where the next page begins.
func end(page storage.ProductPage) storage.ProductPosition {
	return storage.PositionOf(page.Items[len(page.Items)-1].Version())
}

func filtered(model map[string]commerce.Stock, f storage.ProductFilter) (list []commerce.ProductVersion) {
	for _, s := range model {
		if (f.StoreIDs == nil || slices.Contains(f.StoreIDs, s.StoreID)) && (f.CategoryID == "" || f.CategoryID == s.CategoryID) &&
			(f.Active == nil || *f.Active == s.Active) && (!f.AvailableOnly || s.Quantity > 0) {
			list = append(list, commerce.ProductVersion{ProductKey: s.Key(), UpdatedOn: s.UpdatedOn})
		}
	}
	slices.SortFunc(list, func(a, b commerce.ProductVersion) int {
		return cmp.Or(cmp.Compare(a.UpdatedOn, b.UpdatedOn), cmp.Compare(a.ProductID, b.ProductID))
	})
	return list
}

// pageBytes walks pages that are bounded in bytes, of products of any length,
// some of which the caller has: no page is larger, unless one product is, none is
// smaller than it needs to be, and together they are all products once.
func pageBytes(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 30, 1)
	random := rand.New(rand.NewPCG(7, 8))
	length := map[string]int{} // of the texts of each product
	for _, k := range keys {
		long := []int{0, 1, 50, 100, 300, 1500}[random.IntN(6)]
		Change(t, e, commerce.Needs{Products: []commerce.ProductKey{k}, Stock: []commerce.ProductKey{k}}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			p, _ := rows.Products.Get(k)
			s, _ := rows.Stock.Get(k)
			p.Description, p.Images, s.UpdatedOn = strings.Repeat("x", long/2), []string{strings.Repeat("y", long-long/2)}, now
			length[k.ProductID] = len(s.Name) + long
			return commerce.Changes{Products: []commerce.Product{p}, Stock: []commerce.Stock{s}}
		})
	}
	for _, stores := range [][]string{nil, {"sto_1"}, {"sto_0", "sto_1"}} {
		want := walk(t, e, storage.ProductFilter{StoreIDs: stores, Limit: 100})
		for _, most := range []int{1, 100, 1000, 5000, 1 << 20} {
			for _, has := range []int{0, 2, 10} { // of ten documents
				have := storage.Documents{}
				for _, v := range want {
					if random.IntN(10) < has {
						have[v] = make([]byte, length[v.ProductID])
					}
				}
				boundedWalk(t, e, storage.ProductFilter{StoreIDs: stores, Limit: 20, Bytes: most}, have, length, want)
			}
		}
	}
}

// boundedWalk reads all pages of a filter, whose products are want.
func boundedWalk(t *testing.T, e storage.Engine, f storage.ProductFilter, have storage.Documents, length map[string]int, want []commerce.ProductVersion) {
	t.Helper()
	for more := true; more; {
		page, err := e.Reader().ProductPage(context.Background(), f, have)
		n := len(page.Items)
		if err != nil || n == 0 || n > f.Limit || n > len(want) || page.More != (n < len(want)) {
			t.Fatalf("%+v: %d products, %v; %d are to come", f, n, err, len(want))
		}
		if got := versions(t, page); !slices.Equal(got, want[:n]) {
			t.Errorf("%+v:\n got %v\nwant %v", f, got, want[:n])
		}
		total := 0
		for _, p := range page.Items {
			read := len(p.Stock.Name) + len(p.Description) + len(strings.Join(p.Images, ""))
			_, unread := have[p.Version()]
			if total += length[p.ID]; unread && read > 0 || !unread && read != length[p.ID] {
				t.Errorf("%s was read with texts of %d bytes; the caller has it: %v", p.ID, read, unread)
			}
		}
		if total > f.Bytes && n > 1 {
			t.Errorf("%+v: a page of %d products takes %d bytes", f, n, total)
		}
		if _, same, err := e.Reader().Unchanged(context.Background(), page.ReadSet, page.Version); err != nil || !same {
			t.Errorf("%+v: the page %+v is not known again: %v", f, page.ReadSet, err)
		}
		if want = want[n:]; page.More && n < f.Limit && total+length[want[0].ProductID] <= f.Bytes {
			t.Errorf("%+v: a page of %d products and %d bytes ends before %s, which takes %d", f, n, total, want[0].ProductID, length[want[0].ProductID])
		}
		if more = page.More; more {
			f.After = end(page)
		}
	}
}

func itemsOfStore(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 3, 7)
	got, err := e.Reader().Items(context.Background(), "sto_0", []string{"prd_0_002", "prd_0_000", "prd_0_002", "prd_1_000", "prd_x"})
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, k := range []commerce.ProductKey{keys[0], keys[2]} {
		if item := got[k.ProductID]; item.ID != k.ProductID || item.StoreID != "sto_0" || item.Stock.ProductID != k.ProductID ||
			item.Stock.StoreID != "sto_0" || item.Stock.Name != "Product "+k.ProductID || item.Stock.Quantity != 7 {
			t.Errorf("%s is %+v", k.ProductID, item)
		}
	}
	skus, err := e.Reader().SKUs(context.Background(), "sto_0", []string{"prd_0_002", "prd_1_000", "prd_x", "prd_0_000"})
	if want := map[string]string{"prd_0_000": "SKU of prd_0_000", "prd_0_002": "SKU of prd_0_002"}; err != nil || !maps.Equal(skus, want) {
		t.Errorf("SKUs %v, %v", skus, err)
	}
	Change(t, e, commerce.Needs{ProductStores: []string{"prd_0_000", "prd_0_001", "prd_0_002"}, Products: keys[:3]}, func(rows *commerce.Rows, _ commerce.Millis) (c commerce.Changes) {
		for i, key := range keys[:3] {
			p, _ := rows.Products.Get(key)
			p.SKU = []string{"twins", "twins", ""}[i]
			c.Products = append(c.Products, p)
		}
		return c
	})
	bySKU, err := e.Reader().ProductsBySKU(context.Background(), "sto_0", []string{"twins", "SKU of prd_0_002", "SKU of prd_1_000", "", "twins"})
	if want := map[string][]string{"twins": {"prd_0_000", "prd_0_001"}}; err != nil || !maps.EqualFunc(bySKU, want, slices.Equal) {
		t.Errorf("by SKU %v, %v", bySKU, err)
	}
	bySKU, err = e.Reader().ProductsBySKU(context.Background(), "sto_1", []string{"SKU of prd_1_002", "SKU of prd_1_000"})
	if want := map[string][]string{"SKU of prd_1_000": {"prd_1_000"}, "SKU of prd_1_002": {"prd_1_002"}}; err != nil || !maps.EqualFunc(bySKU, want, slices.Equal) {
		t.Errorf("by SKU in another store %v, %v", bySKU, err)
	}
	if none, err := e.Reader().Items(context.Background(), "sto_0", nil); err != nil || len(none) != 0 {
		t.Errorf("of no ids %+v, %v", none, err)
	}
}

func productNews(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	place := commerce.FeedPlace{Name: commerce.ProductFeed, At: 1, ID: "prd_1", Worker: "w", LeasedUntil: 2}
	c := commerce.Changes{FeedPlaces: []commerce.FeedPlace{place}}
	var keys []commerce.ProductKey
	for i := range 5 {
		key := commerce.ProductKey{StoreID: storeName(i % 2), ProductID: fmt.Sprint("prd_", i)}
		keys = append(keys, key)
		c.ProductNews = append(c.ProductNews, commerce.ProductNews{ProductKey: key, Quantity: 1, NextOn: commerce.Millis(50 - 10*i)})
	}
	store(t, e, c)
	if got, err := e.Reader().FeedPlace(t.Context(), commerce.ProductFeed); err != nil || got != place {
		t.Errorf("%+v, %v", got, err)
	}
	due := func(at commerce.Millis, limit int, want ...commerce.ProductKey) {
		t.Helper()
		if got, err := e.Reader().DueProductNews(t.Context(), at, limit); err != nil || !slices.Equal(got, want) {
			t.Errorf("until %d, %d at most: %v, %v", at, limit, got, err)
		}
	}
	due(9, 10)
	due(30, 10, keys[4], keys[3], keys[2])
	due(50, 2, keys[4], keys[3])
	Change(t, e, commerce.Needs{ProductNews: keys[3:]}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{GoneProductNews: keys[3:]}
	})
	due(50, 10, keys[2], keys[1], keys[0])
}
