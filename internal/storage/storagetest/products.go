package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
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
		Change(t, e, stockOf(batch...), func(rows *commerce.Rows, now int64) (c commerce.Changes) {
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
			for _, active := range []*bool{nil, ptr(true), ptr(false)} {
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

// unsized takes products for a page that has room for all of them.
func unsized(cached func(int, commerce.ProductVersion) bool, fresh func(int, commerce.Item)) storage.ProductSink {
	return storage.ProductSink{
		Cached: func(i int, v commerce.ProductVersion) (int, bool) { return 1, cached(i, v) },
		Fresh:  func(i int, p commerce.Item) int { fresh(i, p); return 1 },
	}
}

// walk reads all pages of a filter.
func walk(t testing.TB, e storage.Engine, f storage.ProductFilter) (all []commerce.ProductVersion) {
	t.Helper()
	for {
		var page []commerce.ProductVersion
		read := 0
		got, err := e.Reader().ProductPage(context.Background(), f, unsized(
			func(i int, v commerce.ProductVersion) bool { page = append(page[:i], v); return false },
			func(i int, p commerce.Item) {
				read++
				if p.ID != page[i].ProductID || p.StoreID != page[i].StoreID || p.Stock.UpdatedOn != page[i].UpdatedOn || p.Stock.ProductID != p.ID {
					t.Errorf("place %d is %v but %+v was read", i, page[i], p)
				}
			}))
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != len(page) || read != len(page) || len(page) > f.Limit {
			t.Errorf("a page of %d counts %d, %d were read, the limit is %d", len(page), got.Count, read, f.Limit)
		}
		all = append(all, page...)
		if got.Next == nil {
			return all
		}
		if len(page) != f.Limit {
			t.Errorf("a page of %d of %d has a next one", len(page), f.Limit)
		}
		f.After = *got.Next
	}
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
// some of them known to the reader: no page is larger, unless one product is, none
// is smaller than it needs to be, and together they are all products once.
func pageBytes(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 30, 1)
	random := rand.New(rand.NewPCG(7, 8))
	length := map[string]int{} // of the long text, which is what a product is said to take
	for _, k := range keys {
		length[k.ProductID] = []int{0, 1, 50, 100, 300, 1500}[random.IntN(6)]
		Change(t, e, commerce.Needs{Products: []commerce.ProductKey{k}, Stock: []commerce.ProductKey{k}}, func(rows *commerce.Rows, now int64) commerce.Changes {
			p, _ := rows.Products.Get(k)
			s, _ := rows.Stock.Get(k)
			p.Description, s.UpdatedOn = strings.Repeat("x", length[k.ProductID]), now
			return commerce.Changes{Products: []commerce.Product{p}, Stock: []commerce.Stock{s}}
		})
	}
	for _, stores := range [][]string{nil, {"sto_1"}, {"sto_0", "sto_1"}} {
		for _, most := range []int{1, 100, 1000, 5000, 1 << 20} {
			for _, knows := range []int{0, 2, 10} { // in ten
				f := storage.ProductFilter{StoreIDs: stores, Limit: 20, Bytes: most}
				all := boundedWalk(t, e, f, length, func() bool { return random.IntN(10) < knows })
				want := walk(t, e, storage.ProductFilter{StoreIDs: stores, Limit: 100})
				if !slices.Equal(all, want) {
					t.Errorf("%v in pages of %d bytes:\n got %v\nwant %v", stores, most, all, want)
				}
			}
		}
	}
}

// boundedWalk reads all pages of a filter, by what each product is said to take.
func boundedWalk(t *testing.T, e storage.Engine, f storage.ProductFilter, length map[string]int, known func() bool) (all []commerce.ProductVersion) {
	t.Helper()
	taken := func(id string) int { return length[id] + 2 } // "[]" of its images
	for {
		seen, read := make([]commerce.ProductVersion, f.Limit), 0
		page, err := e.Reader().ProductPage(context.Background(), f, storage.ProductSink{
			Cached: func(i int, v commerce.ProductVersion) (int, bool) {
				if seen[i] = v; known() {
					return taken(v.ProductID), true
				}
				return 0, false
			},
			Fresh: func(i int, p commerce.Item) int {
				read++
				if p.ID != seen[i].ProductID || len(p.Description) != length[p.ID] {
					t.Errorf("place %d is %v, but %s was read", i, seen[i], p.ID)
				}
				return taken(p.ID)
			}})
		if err != nil || page.Count == 0 || page.Count > f.Limit {
			t.Fatalf("%+v: %+v, %v", f, page, err)
		}
		const few = 8 // may be read although they have no room
		if read > page.Count+few {
			t.Errorf("%+v: %d products were read for a page of %d", f, read, page.Count)
		}
		total := 0
		for _, v := range seen[:page.Count] {
			total += taken(v.ProductID)
		}
		if total > f.Bytes && page.Count > 1 {
			t.Errorf("%+v: a page of %d products takes %d bytes", f, page.Count, total)
		}
		mark, same, err := e.Reader().StillThere(context.Background(), f, page.Mark)
		if err != nil || !same || mark.Count != page.Mark.Count {
			t.Errorf("%+v: the page with the mark %+v is not known again: %v", f, page.Mark, err)
		}
		all = append(all, seen[:page.Count]...)
		if page.Next == nil {
			return all
		}
		if next := seen[min(page.Count, f.Limit-1)]; page.Count < f.Limit && total+taken(next.ProductID) <= f.Bytes {
			t.Errorf("%+v: a page of %d products and %d bytes ends before %s, which takes %d", f, page.Count, total, next.ProductID, taken(next.ProductID))
		}
		f.After = *page.Next
	}
}

// pageMarks moves products about and asks for each page by its mark: one that
// would be read otherwise must not be taken for the same, and one of which
// nothing has moved must be, unless what moved stood right behind it.
func pageMarks(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	keys := seedProducts(t, e, 3, 6, 1)
	random := rand.New(rand.NewPCG(3, 4))
	type known struct {
		filter   storage.ProductFilter
		mark     storage.PageMark
		versions []commerce.ProductVersion
		next     *storage.ProductPosition
	}
	read := func(f storage.ProductFilter) (k known) {
		page, err := e.Reader().ProductPage(context.Background(), f, unsized(
			func(_ int, v commerce.ProductVersion) bool { k.versions = append(k.versions, v); return true }, nil))
		if err != nil {
			t.Fatal(err)
		}
		k.filter, k.mark, k.next = f, page.Mark, page.Next
		return k
	}
	for range 40 {
		var pages []known
		for _, stores := range [][]string{nil, {"sto_0"}, {"sto_1", "sto_2"}} {
			for _, f := range []storage.ProductFilter{{}, {AvailableOnly: true}, {CategoryID: "cat_1"}, {Active: ptr(true)}} {
				f.StoreIDs, f.Limit = stores, 1+random.IntN(7)
				first := read(f)
				pages = append(pages, first)
				if first.next != nil {
					f.After = *first.next
					pages = append(pages, read(f))
				}
			}
		}
		moved, writer := keys[random.IntN(len(keys))], e
		if random.IntN(2) == 0 {
			writer = other // as another process would
		}
		if random.IntN(4) > 0 {
			Change(t, writer, stockOf(moved), func(rows *commerce.Rows, now int64) commerce.Changes {
				s, _ := rows.Stock.Get(moved)
				s.Quantity, s.Active, s.UpdatedOn = int64(random.IntN(2)), random.IntN(4) > 0, now
				if random.IntN(3) == 0 {
					s.CategoryID = "cat_1"
				}
				return commerce.Changes{Stock: []commerce.Stock{s}}
			})
		}
		for _, p := range pages {
			mark, same, err := e.Reader().StillThere(context.Background(), p.filter, p.mark)
			if err != nil {
				t.Fatal(err)
			}
			again := read(p.filter)
			if unchanged := reflect.DeepEqual(p.versions, again.versions) && reflect.DeepEqual(p.next, again.next); same && !unchanged {
				t.Errorf("%+v was taken for the same:\n was %v\n is  %v", p.filter, p.versions, again.versions)
			} else if !same && unchanged && (p.mark.Ends || p.mark.Through.ID != moved.ProductID) {
				t.Errorf("%+v was not known again, though only %v moved: %v", p.filter, moved, p.versions)
			}
			if _, still, err := e.Reader().StillThere(context.Background(), p.filter, mark); err != nil || still != same {
				t.Errorf("%+v by its newer mark: %v, %v; want %v", p.filter, still, err, same)
			}
		}
	}
}

// productMarks changes products, from this process and another: whoever asks
// with an earlier mark is shown the version that is stored.
func productMarks(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 4, 1)
	random := rand.New(rand.NewPCG(5, 6))
	marks := map[string]storage.ProductMark{}
	for range 60 {
		for range random.IntN(3) {
			k, writer := keys[random.IntN(len(keys))], e
			if random.IntN(4) == 0 {
				writer = other
			}
			Change(t, writer, stockOf(k), add(k, 1))
		}
		stored, err := e.Reader().Stock(context.Background(), ids(keys))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys[:1+random.IntN(len(keys))] {
			shown := int64(0)
			_, mark, err := e.Reader().Product(context.Background(), k.ProductID, marks[k.ProductID],
				func(v commerce.ProductVersion) bool { shown = v.UpdatedOn; return true })
			if want := stored[k.ProductID].UpdatedOn; err != nil || shown != want || mark.UpdatedOn != want {
				t.Errorf("%s was shown as %d, %v; stored is %d", k.ProductID, shown, err, want)
			}
			marks[k.ProductID] = mark
		}
	}
}

func cachedVersions(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 1, 5, 1)
	ctx := context.Background()
	page, err := e.Reader().ProductPage(ctx, storage.ProductFilter{Limit: 10}, unsized(
		func(i int, _ commerce.ProductVersion) bool { return i != 3 },
		func(i int, p commerce.Item) {
			if i != 3 || p.ID != keys[3].ProductID {
				t.Errorf("place %d, %s was read", i, p.ID)
			}
		}))
	if err != nil || page.Count != 5 {
		t.Errorf("page %+v, %v", page, err)
	}
	item, mark, err := e.Reader().Product(ctx, keys[0].ProductID, storage.ProductMark{}, func(v commerce.ProductVersion) bool {
		return v.ProductKey == keys[0] && v.UpdatedOn > 0
	})
	if err != nil || item.ID != "" {
		t.Errorf("a cached product was read: %+v, %v", item, err)
	}
	item, _, err = e.Reader().Product(ctx, keys[0].ProductID, mark, func(commerce.ProductVersion) bool { return false })
	if err != nil || item.ID != keys[0].ProductID || item.Stock.Quantity != 1 {
		t.Errorf("product %+v, %v", item, err)
	}
}
