package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var reads = map[string]func(*testing.T, Database){
	"product pages agree with a plain filter":   productPages,
	"a page ends where it has no room":          pageBytes,
	"stores and categories":                     storesAndCategories,
	"sites of an area":                          sites,
	"a store is found where it is now":          moveStores,
	"a timeline gives the newest, oldest first": newestEvents,
	"items of a store":                          itemsOfStore,
	"rows that are asked for at once":           atOnce,
	"a key finds its holder":                    keyHolder,
}

func storesAndCategories(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 3, 2, 1)
	Change(t, e, commerce.Needs{Lock: true, Stores: []string{"sto_2"}, Categories: []string{"c1", "c2", "c3"}, Stock: []commerce.ProductKey{keys[0], keys[2]}},
		func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			closed, _ := rows.Stores.Get("sto_2")
			closed.Active = false
			s, _ := rows.Stock.Get(keys[0])
			s.CategoryID, s.UpdatedOn = "c2", now
			seasonal, _ := rows.Stock.Get(keys[2])
			seasonal.CategoryID, seasonal.UpdatedOn = "c3", now
			return commerce.Changes{Stores: []commerce.Store{closed}, Stock: []commerce.Stock{s, seasonal},
				Categories: []commerce.Category{{ID: "c1", Name: "Z", Active: true}, {ID: "c2", Name: "A", Active: true}, {ID: "c3", Name: "M"}}}
		})
	ctx, r := context.Background(), e.Reader()
	for _, c := range []struct {
		filter storage.StoreFilter
		want   []string
	}{
		{storage.StoreFilter{Active: true, Limit: 10}, []string{"sto_0", "sto_1"}},
		{storage.StoreFilter{Active: true, Limit: 1}, []string{"sto_0"}},
		{storage.StoreFilter{Active: true, Limit: 10, After: "sto_0"}, []string{"sto_1"}},
		{storage.StoreFilter{Active: true, Limit: 10, After: "sto_1"}, []string{}},
		{storage.StoreFilter{Active: true, Limit: 10, After: "sto_0", IDs: []string{"sto_0", "sto_1"}}, []string{"sto_1"}},
		{storage.StoreFilter{Active: false, Limit: 10}, []string{"sto_2"}},
		{storage.StoreFilter{Active: true, Limit: 10, IDs: []string{"sto_2", "sto_1", "sto_9"}}, []string{"sto_1"}},
	} {
		list, err := r.Stores(ctx, c.filter)
		got := []string{}
		for _, s := range list {
			got = append(got, s.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("stores %+v: %v, %v; want %v", c.filter, got, err, c.want)
		}
	}
	for _, c := range []struct {
		filter storage.CategoryFilter
		want   []string
	}{
		{storage.CategoryFilter{Active: new(true)}, []string{"c2", "c1"}}, // by name
		{storage.CategoryFilter{Active: new(false)}, []string{"c3"}},
		{storage.CategoryFilter{}, []string{"c2", "c3", "c1"}},
		{storage.CategoryFilter{Active: new(true), StoreIDs: []string{"sto_0"}}, []string{"c2"}},
		{storage.CategoryFilter{Active: new(false), StoreIDs: []string{"sto_0"}}, []string{}},
		{storage.CategoryFilter{StoreIDs: []string{"sto_0"}}, []string{"c2"}},
		{storage.CategoryFilter{StoreIDs: []string{"sto_1"}}, []string{"c3"}},
		{storage.CategoryFilter{StoreIDs: []string{"sto_0", "sto_1", "sto_2"}}, []string{"c2", "c3"}},
		{storage.CategoryFilter{StoreIDs: []string{"sto_2", "sto_9"}}, []string{}},
		{storage.CategoryFilter{StoreIDs: []string{}}, []string{}},
	} {
		list, err := r.Categories(ctx, c.filter)
		got := []string{}
		for _, v := range list {
			got = append(got, v.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("categories %+v: %v, %v; want %v", c.filter, got, err, c.want)
		}
	}
}

func newestEvents(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	c.Timeline = nil
	for seq := range int64(12) {
		c.Timeline = append(c.Timeline, commerce.TimelineEvent{StoreID: "sto_1", OrderID: "ord_1", Seq: seq + 1, Kind: commerce.TimelineNote})
	}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	events, err := e.Reader().Timeline(context.Background(), c.Orders[0].Key(), 3)
	if err != nil || len(events) != 3 || events[0].Seq != 10 || events[2].Seq != 12 {
		t.Errorf("timeline: %+v, %v; want events 10, 11, 12", events, err)
	}
}

func keyHolder(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	p, mode, err := e.Reader().KeyHolder(context.Background(), commerce.HashKey("k"))
	if err != nil || p.ID != "ptn_1" || mode != commerce.Live {
		t.Errorf("holder %s in %s, %v", p.ID, mode, err)
	}
	if _, _, err := e.Reader().KeyHolder(context.Background(), commerce.HashKey("K")); err == nil {
		t.Error("a wrong key has a holder")
	}
	list, err := e.Reader().Partners(context.Background())
	if err != nil || len(list) != 1 || list[0].Name != c.Partners[0].Name {
		t.Errorf("partners %+v, %v", list, err)
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
	if none, err := e.Reader().Items(context.Background(), "sto_0", nil); err != nil || len(none) != 0 {
		t.Errorf("of no ids %+v, %v", none, err)
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
