package storagetest

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// RunFreshness runs the tests of Unchanged alone, for an engine that has several
// ways to know.
func RunFreshness(t *testing.T, fresh func(t testing.TB) Database) {
	for name, test := range freshness {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

var freshness = map[string]func(*testing.T, Database){
	"a product is unchanged until it changes":           unchangedProducts,
	"a page is unchanged until it changes":              unchangedPages,
	"kept answers show all that was committed before":   keptAnswers,
	"a batch that moves no product leaves answers kept": otherBatches,
}

// keptAnswers lets callers keep answers, and use them as long as they are
// unchanged, while two processes add to products. Each answer shows at least what
// was committed before its caller asked.
func keptAnswers(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now)}
	const stores, products, rounds = 2, 4, 120
	keys := seedProducts(t, engines[0], stores, products, 0)
	committed := make([]atomic.Int64, len(keys)) // quantities
	var writers, readers sync.WaitGroup
	for w, e := range engines {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(9, uint64(w)))
			for range rounds {
				at := w + 2*random.IntN(len(keys)/2) // products of its own, so that it knows their quantities
				if err := ChangeBesideOthers(e, stockOf(keys[at]), add(keys[at], 1)); err != nil {
					t.Error(err)
					return
				}
				committed[at].Add(1)
			}
		})
	}
	done := make(chan struct{})
	for i := range 4 {
		readers.Go(func() {
			k := keeper{reader: engines[i%2].Reader(), kept: map[string]*kept{}, random: rand.New(rand.NewPCG(10, uint64(i)))}
			for left := 20; left > 0; { // asks after the last commit: an engine may be faster than its readers
				select {
				case <-done:
					left--
				default:
				}
				k.ask(t, keys, committed)
			}
			if k.used == 0 {
				t.Error("no answer was used again")
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

// keeper keeps answers as a front does.
type keeper struct {
	reader storage.Reader
	kept   map[string]*kept // by product or store
	random *rand.Rand
	used   int // answers that were used again
}

type kept struct {
	set     storage.ReadSet
	version storage.Version
	items   []commerce.Item
}

// ask asks for a product or for a page of a store.
func (k *keeper) ask(t *testing.T, keys []commerce.ProductKey, committed []atomic.Int64) {
	least := make([]int64, len(keys))
	for i := range committed {
		least[i] = committed[i].Load()
	}
	key := keys[k.random.IntN(len(keys))]
	name := key.ProductID
	if k.random.IntN(2) == 0 {
		name = key.StoreID
	}
	a, err := k.answer(name, key)
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range a.items {
		i := slices.Index(keys, p.Product.Key())
		if p.Stock.Quantity < least[i] {
			t.Errorf("%s shows %d of %s after %d were committed", name, p.Stock.Quantity, p.ID, least[i])
		}
	}
}

func (k *keeper) answer(name string, key commerce.ProductKey) (*kept, error) {
	ctx := context.Background()
	if a := k.kept[name]; a != nil {
		version, same, err := k.reader.Unchanged(ctx, a.set, a.version)
		if err != nil {
			return nil, err
		}
		if a.version = version; same {
			k.used++
			return a, nil
		}
	}
	a := &kept{set: storage.ReadSet{Product: key}}
	if name == key.ProductID {
		item, version, err := k.reader.Product(ctx, name)
		if err != nil {
			return nil, err
		}
		a.items, a.version = []commerce.Item{item}, version
	} else {
		page, err := k.reader.ProductPage(ctx, storage.ProductFilter{StoreIDs: []string{name}, Limit: 10}, nil)
		if err != nil {
			return nil, err
		}
		a.items, a.set, a.version = page.Items, page.ReadSet, page.Version
	}
	k.kept[name] = a
	return a, nil
}

// otherBatches saves batches that change no product: products and pages stay
// unchanged, whichever process has saved them.
func otherBatches(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 2, 1)[0]
	ctx := context.Background()
	_, version, err := e.Reader().Product(ctx, key.ProductID)
	if err != nil {
		t.Fatal(err)
	}
	page, err := e.Reader().ProductPage(ctx, storage.ProductFilter{StoreIDs: []string{key.StoreID}, Limit: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, writer := range []storage.Engine{e, other, e} {
		Change(t, writer, commerce.Needs{Lock: true, Categories: []string{"cat_1"}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
			return commerce.Changes{Categories: []commerce.Category{{ID: "cat_1", Name: "Bread", Active: i%2 == 0}}}
		})
		var same bool
		if version, same, err = e.Reader().Unchanged(ctx, storage.ReadSet{Product: key}, version); err != nil || !same {
			t.Errorf("after batch %d the product is unchanged: %v, %v", i, same, err)
		}
		if page.Version, same, err = e.Reader().Unchanged(ctx, page.ReadSet, page.Version); err != nil || !same {
			t.Errorf("after batch %d the page is unchanged: %v, %v", i, same, err)
		}
	}
}

// unchangedPages moves products about and asks whether each page is unchanged:
// one that would be read otherwise must not be taken for the same, and one of
// which no product has moved must be, unless what moved stood right behind it.
func unchangedPages(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	keys := seedProducts(t, e, 3, 6, 1)
	random := rand.New(rand.NewPCG(3, 4))
	read := func(f storage.ProductFilter) storage.ProductPage {
		page, err := e.Reader().ProductPage(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	for range 40 {
		var pages []storage.ProductPage
		for _, stores := range [][]string{nil, {"sto_0"}, {"sto_1", "sto_2"}} {
			for _, f := range []storage.ProductFilter{{}, {AvailableOnly: true}, {CategoryID: "cat_1"}, {Active: new(true)}} {
				f.StoreIDs, f.Limit = stores, 1+random.IntN(7)
				first := read(f)
				pages = append(pages, first)
				if first.More {
					f.After = end(first)
					pages = append(pages, read(f))
				}
			}
		}
		moved, writer := keys[random.IntN(len(keys))], e
		if random.IntN(2) == 0 {
			writer = other // as another process would
		}
		if random.IntN(4) > 0 {
			Change(t, writer, stockOf(moved), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
				s, _ := rows.Stock.Get(moved)
				s.Quantity, s.Active, s.UpdatedOn = int64(random.IntN(2)), random.IntN(4) > 0, now
				if random.IntN(3) == 0 {
					s.CategoryID = "cat_1"
				}
				return commerce.Changes{Stock: []commerce.Stock{s}}
			})
		}
		for _, p := range pages {
			newer, same, err := e.Reader().Unchanged(context.Background(), p.ReadSet, p.Version)
			if err != nil {
				t.Fatal(err)
			}
			again := read(p.ReadSet.Filter)
			if unchanged := reflect.DeepEqual(p.Items, again.Items) && p.More == again.More; same && !unchanged {
				t.Errorf("%+v was taken for the same:\n was %v\n is  %v", p.ReadSet, p.Items, again.Items)
			} else if !same && unchanged && (p.ReadSet.Ends || p.ReadSet.Last.ID != moved.ProductID) {
				t.Errorf("%+v was not known again, though only %v moved: %v", p.ReadSet, moved, p.Items)
			}
			if _, still, err := e.Reader().Unchanged(context.Background(), p.ReadSet, newer); err != nil || still != same {
				t.Errorf("%+v in its newer version: %v, %v; want %v", p.ReadSet, still, err, same)
			}
		}
	}
}

// unchangedProducts changes products, from this process and another: an answer
// that was kept is taken for unchanged if and only if it is.
func unchangedProducts(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 4, 1)
	random := rand.New(rand.NewPCG(5, 6))
	type answer struct {
		item    commerce.Item
		version storage.Version
	}
	kept := map[commerce.ProductKey]answer{}
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
			a, known := kept[k]
			if known {
				newer, same, err := e.Reader().Unchanged(context.Background(), storage.ReadSet{Product: k}, a.version)
				if want := a.item.Stock == stored[k.ProductID]; err != nil || same != want {
					t.Errorf("%v in version %d is unchanged: %v, %v; want %v", k, a.version, same, err, want)
				}
				a.version = newer
				if known = same; known {
					kept[k] = a
				}
			}
			if !known {
				a.item, a.version, err = e.Reader().Product(context.Background(), k.ProductID)
				if err != nil || a.item.Stock != stored[k.ProductID] {
					t.Errorf("%v is %+v, %v; want %+v", k, a.item, err, stored[k.ProductID])
				}
				kept[k] = a
			}
		}
	}
}
