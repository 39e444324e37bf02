package storagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var concurrency = map[string]func(*testing.T, Database){
	"batches of two processes do not lose updates":         noLostUpdates,
	"a page shows one state":                               onePageOneState,
	"a feed skips nothing while two processes write":       feedSkipsNothing,
	"feeds skip no row that is written once":               feedsOfRowsWrittenOnce,
	"reads go on while a batch is open":                    readsGoOn,
	"a batch that waits gives up when its caller has gone": waitGivesUp,
}

// ChangeBesideOthers runs a batch again, some times, if it waited too long for the
// lock of another writer: nothing of it was saved.
func ChangeBesideOthers(e storage.Engine, needs commerce.Needs, change func(*commerce.Rows, commerce.Millis) commerce.Changes) (err error) {
	for range 10 {
		if err = tryChange(e, needs, change); !errors.Is(err, storage.ErrLocked) {
			return err
		}
	}
	return err
}

func noLostUpdates(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now)}
	key := seedProducts(t, engines[0], 1, 1, 0)[0]
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				if err := ChangeBesideOthers(engines[w%2], stockOf(key), add(key, 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := quantity(t, engines[0], key); got != writers*each {
		t.Errorf("quantity %d after %d increments", got, writers*each)
	}
}

// onePageOneState moves goods between two products, one batch a move: no page
// may show the one move and not the other.
func onePageOneState(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	const each = 1_000_000 // more than moves can be made meanwhile
	keys := seedProducts(t, e, 1, 2, each)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := tryChange(e, stockOf(keys...), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
				return commerce.Changes{Stock: append(add(keys[0], -1)(rows, now).Stock, add(keys[1], 1)(rows, now).Stock...)}
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 300 {
		sum := int64(0)
		page, err := e.Reader().ProductPage(context.Background(), storage.ProductFilter{Limit: 10}, nil)
		if err != nil {
			t.Error(err)
		}
		for _, p := range page.Items {
			sum += p.Stock.Quantity
		}
		if sum != 2*each {
			t.Errorf("a page sums to %d, want %d", sum, 2*each)
			break
		}
	}
	close(stop)
	wg.Wait()
}

// feedSkipsNothing follows the feed as a partner does, from cursor to cursor,
// while two processes change products. Once they have stopped and the feed has
// no more, every last version must have been seen.
func feedSkipsNothing(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now)}
	keys := seedProducts(t, engines[0], 2, 30, 0)
	var writers sync.WaitGroup
	for w, e := range engines {
		writers.Go(func() {
			for i := range 150 {
				k := keys[(i*7+w*31)%len(keys)]
				if err := ChangeBesideOthers(e, stockOf(k), add(k, 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	seen := map[string]int64{}
	position := storage.ProductPosition{}
	for finished := false; ; {
		page, err := engines[0].Reader().ProductPage(context.Background(), storage.ProductFilter{After: position, Limit: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(page.Items)
		for _, v := range versions(t, page) {
			seen[v.ProductID] = int64(v.UpdatedOn)
			position = storage.PositionOf(v)
		}
		if !page.More && n == 0 && finished {
			break
		}
		if !finished && n == 0 {
			select {
			case <-done:
				finished = true
			default:
			}
		}
	}
	stored, err := engines[0].Reader().Stock(context.Background(), ids(keys))
	if err != nil {
		t.Fatal(err)
	}
	for id, s := range stored {
		if commerce.Millis(seen[id]) != s.UpdatedOn {
			t.Errorf("%s: the feed ended at version %d, stored is %d", id, seen[id], s.UpdatedOn)
		}
	}
}

// feedsOfRowsWrittenOnce follows the feed over all stores and that of each store, while three
// processes change each product once, two stores in a batch. A product that a
// feed skips does not come again.
func feedsOfRowsWrittenOnce(t *testing.T, db Database) {
	const stores, processes = 12, 3
	engines := make([]storage.Engine, processes)
	for i := range engines {
		engines[i] = db.Open(t, time.Now)
	}
	keys := seedProducts(t, engines[0], stores, 10*load(), 0)
	each := len(keys) / stores // products of a store
	seeded, err := engines[0].Reader().Stock(context.Background(), []string{keys[0].ProductID})
	if err != nil {
		t.Fatal(err)
	}
	start := seeded[keys[0].ProductID].UpdatedOn
	var writers sync.WaitGroup
	for w, e := range engines {
		writers.Go(func() {
			for i := w; i < stores/2*each; i += processes {
				pair := i / each * 2 * each // of two stores
				a, b := keys[pair+i%each], keys[pair+each+i%each]
				err := ChangeBesideOthers(e, stockOf(a, b), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
					return commerce.Changes{Stock: append(add(a, 1)(rows, now).Stock, add(b, 1)(rows, now).Stock...)}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	follow := func(e storage.Engine, of []string, want int) {
		seen := map[string]bool{}
		f := storage.ProductFilter{StoreIDs: of, After: storage.ProductPosition{UpdatedOn: start, ID: "\U0010ffff"}, Limit: 20}
		for finished := false; ; {
			page, err := e.Reader().ProductPage(context.Background(), f, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for _, p := range page.Items {
				seen[p.ID], f.After = true, storage.PositionOf(p.Version())
			}
			if finished && len(page.Items) == 0 {
				break
			}
			select {
			case <-done:
				finished = true
			default:
			}
		}
		if len(seen) != want {
			t.Errorf("the feed of %v skipped %d of %d products", of, want-len(seen), want)
		}
	}
	var readers sync.WaitGroup
	readers.Go(func() { follow(engines[0], nil, len(keys)) })
	readers.Go(func() { follow(engines[1], []string{storeName(0), storeName(7)}, 2*each) })
	readers.Go(func() { follow(engines[2], []string{storeName(3)}, each) })
	readers.Wait()
}

// load is how many times as much is tried as by default.
func load() int {
	n, err := strconv.Atoi(os.Getenv("PURVEYOR_TEST_LOAD"))
	if err != nil {
		return 1
	}
	return n
}

func readsGoOn(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 1, 5)[0]
	b, err := e.Load(context.Background(), stockOf(key))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	Apply(b, add(key, 1)(b.Rows(), b.Stamp()))
	if got := quantity(t, e, key); got != 5 {
		t.Errorf("quantity %d beside an open batch, want 5", got)
	}
}

func waitGivesUp(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 1, 5)[0]
	b, err := e.Load(context.Background(), stockOf(key))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if second, err := e.Load(gone, stockOf(key)); err == nil {
		second.Discard()
		t.Error("a second batch over the same rows began before the first had ended")
	}
}

// atOnce asks for rows of several keys at the same time: each caller gets its
// own, whatever the others ask for.
func atOnce(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var needs commerce.Needs
	var made commerce.Changes
	for i := range 20 {
		key := commerce.OrderKey{StoreID: storeName(i % 3), OrderID: fmt.Sprintf("ord_%02d", i)}
		needs.NewOrders = append(needs.NewOrders, key)
		made.Orders = append(made.Orders, commerce.Order{StoreID: key.StoreID, ID: key.OrderID, Lines: []commerce.OrderLine{{ProductID: "p", Quantity: int64(i)}}})
	}
	Change(t, e, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return made })
	var group sync.WaitGroup
	for range 5 {
		for i, o := range made.Orders {
			group.Go(func() {
				if got, err := e.Reader().Order(context.Background(), o.Key()); err != nil || got.ID != o.ID || got.Lines[0].Quantity != int64(i) {
					t.Errorf("%s is %+v, %v", o.ID, got, err)
				}
			})
		}
		for _, id := range []string{"ord_x", "ord_\x00", "ord_\xff"} {
			group.Go(func() {
				if got, err := e.Reader().Order(context.Background(), commerce.OrderKey{StoreID: storeName(0), OrderID: id}); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("%q is %+v, %v", id, got, err)
				}
			})
		}
	}
	group.Wait()
}
