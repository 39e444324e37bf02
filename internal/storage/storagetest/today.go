package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var today = map[string]func(*testing.T, Database){
	"what is open is counted":   countOpen,
	"late deliveries are found": lateDeliveries,
	"open attention is counted": countAttention,
}

// eachStatus are orders of two stores: three of each status and store.
func eachStatus() (list []commerce.Order) {
	for i, status := range commerce.Statuses {
		for no := range int64(2) {
			for n := range byte(3) {
				at := commerce.Millis(1000*i + 10*int(n) + int(no) + 1)
				o := sumOrder(1+no, at, n, "ptn_1", commerce.Live, at)
				o.Status = status
				list = append(list, o)
			}
		}
	}
	return list
}

func countOpen(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	orders := eachStatus()
	store(t, e, commerce.Changes{Orders: orders})
	for _, stores := range [][]string{nil, {}, {"sto_1"}, {"sto_1", "sto_2"}, {"sto_9"}} {
		for _, most := range []int{2, 100} {
			got, err := e.Reader().OpenCounts(context.Background(), stores, most)
			var want []storage.OpenCount
			for _, status := range commerce.OpenStatuses {
				c := storage.OpenCount{Status: status}
				for _, o := range orders {
					if o.Status == status && (stores == nil || slices.Contains(stores, o.StoreID)) && int(c.Count) < most {
						if c.Count++; c.Oldest == 0 || o.CreatedOn < c.Oldest {
							c.Oldest = o.CreatedOn
						}
					}
				}
				if c.Count > 0 {
					want = append(want, c)
				}
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q, %d at most:\n got %+v, %v\nwant %+v", stores, most, got, err, want)
			}
		}
	}
}

func countAttention(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var c commerce.Changes
	for i := range 12 {
		a := commerce.Attention{StoreID: storeName(1 + i%2), OrderID: fmt.Sprint("ord_", i), Code: []commerce.AttentionCode{"a", "b", "c"}[i%3], Since: commerce.Millis(100 - i)}
		if i%4 == 3 {
			a.ResolvedOn = 200
		}
		c.Attention = append(c.Attention, a)
	}
	store(t, e, c)
	for _, stores := range [][]string{nil, {}, {"sto_1"}, {"sto_1", "sto_2"}, {"sto_9"}} {
		got, err := e.Reader().AttentionCounts(context.Background(), stores, 100)
		slices.SortFunc(got, func(a, b storage.AttentionCount) int { return cmp.Compare(a.Code, b.Code) })
		var want []storage.AttentionCount
		for _, code := range []commerce.AttentionCode{"a", "b", "c"} {
			n := storage.AttentionCount{Code: code}
			for _, a := range c.Attention {
				if a.Code == code && a.Open() && (stores == nil || slices.Contains(stores, a.StoreID)) {
					n.Count, n.Oldest = n.Count+1, a.Since // they descend
				}
			}
			if n.Count > 0 {
				want = append(want, n)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q:\n got %+v, %v\nwant %+v", stores, got, err, want)
		}
		few, err := e.Reader().AttentionCounts(context.Background(), stores, 2)
		counted := int64(0)
		for _, n := range few {
			counted += n.Count
		}
		if err != nil || counted > 2 {
			t.Errorf("%q: %+v, %v", stores, few, err)
		}
	}
}

func lateDeliveries(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := commerce.Changes{Orders: eachStatus()}
	var want []string
	for i, o := range c.Orders {
		d := commerce.Delivery{StoreID: o.StoreID, OrderID: o.ID, State: commerce.DeliveryActive, DropoffETA: []commerce.Millis{0, 49, 50, 51}[i/2%4]}
		if i%5 == 0 {
			d.State = commerce.DeliveryOver
		}
		if slices.Contains(storage.UnderWay, o.Status) && o.StoreID == "sto_2" && d.State == commerce.DeliveryActive && d.DropoffETA == 49 {
			want = append(want, o.ID)
		}
		c.Deliveries = append(c.Deliveries, d)
	}
	store(t, e, c)
	var got []string
	found, err := e.Reader().LateDeliveries(context.Background(), []string{"sto_2", "sto_9"}, 50, 100)
	for _, d := range found {
		got = append(got, d.OrderID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if all, err := e.Reader().LateDeliveries(context.Background(), nil, 50, 100); err != nil || len(all) <= len(want) {
		t.Errorf("of all stores: %v, %v", all, err)
	}
}
