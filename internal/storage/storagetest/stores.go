package storagetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

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

func storeNumbers(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	for i, id := range []string{"sto_a", "sto_b", "sto_c"} {
		Change(t, e, commerce.Needs{Stores: []string{id}, NextStoreNo: true}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			if rows.NextStoreNo != int64(i+1) {
				t.Errorf("next number %d, want %d", rows.NextStoreNo, i+1)
			}
			return commerce.Changes{Stores: []commerce.Store{{ID: id, No: rows.NextStoreNo, UpdatedOn: now}}}
		})
		store, err := e.Reader().StoreByNo(context.Background(), int64(i+1))
		if err != nil || store.ID != id {
			t.Errorf("store %d is %q, %v; want %q", i+1, store.ID, err, id)
		}
	}
}
