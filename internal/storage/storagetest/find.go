package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var finds = map[string]func(*testing.T, Database){
	"open orders by status and store, the oldest first": openOrders,
}

// placed is an order as reads of lists need it.
func placed(storeNo int64, at commerce.Millis, status commerce.OrderStatus) commerce.Order {
	return commerce.Order{StoreID: fmt.Sprintf("sto_%d", storeNo), ID: commerce.NewOrderID(storeNo, at, commerce.Entropy{byte(storeNo)}), PartnerID: "ptn_1", Mode: commerce.Live,
		Fulfillment: commerce.ByPickup, Status: status, CreatedOn: at, UpdatedOn: at}
}

func saveOrders(t *testing.T, e storage.Engine, orders ...commerce.Order) {
	t.Helper()
	c := commerce.Changes{Orders: orders}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
}

// openOrders reads orders of three stores in every status.
func openOrders(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var all []commerce.Order
	for n, status := range slices.Concat(commerce.Statuses, commerce.Statuses, commerce.Statuses) {
		for store := range int64(3) { // some were made at the same time, the later ones before the others
			all = append(all, placed(1+store, commerce.Millis(1000-n*10+int(store)/2*5), status))
		}
	}
	saveOrders(t, e, all...)
	slices.SortFunc(all, storage.ByAge)
	for _, status := range commerce.Statuses {
		for _, stores := range [][]string{nil, {"sto_2"}, {"sto_1", "sto_3"}, {"sto_1", "sto_2", "sto_3"}, {"sto_9"}, {}} {
			for _, limit := range []int{1, 3, 100} {
				var want []string
				for _, o := range all {
					if o.Status == status && status.Open() && (stores == nil || slices.Contains(stores, o.StoreID)) && len(want) < limit {
						want = append(want, o.StoreID+" "+o.ID)
					}
				}
				orders, err := e.Reader().OpenOrders(context.Background(), storage.OpenFilter{Stores: stores, Status: status, Limit: limit})
				if got := keysOf(orders); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s in %q, at most %d:\n got %q, %v\nwant %q", status, stores, limit, got, err, want)
				}
			}
		}
	}
}

func keysOf(orders []commerce.Order) (keys []string) {
	for _, o := range orders {
		keys = append(keys, o.StoreID+" "+o.ID)
	}
	return keys
}
