package storagetest

import (
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
	"purveyor/internal/storage/schema/schematest"
)

var finds = map[string]func(*testing.T, Database){
	"open orders by status and store, the oldest first": openOrders,
	"pages of orders have each order once":              orderPages,
	"orders by contact, external id and end of id":      orderSearch,
	"open attention of several stores":                  attentionOfStores,
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

// orderPages walks lists of every kind, in small pages and with few rows examined for each.
func orderPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	rng := rand.New(rand.NewPCG(1, 2))
	var all []commerce.Order
	partners, sources := []string{"", "ptn_1", "ptn_2"}, []string{commerce.SourceService, commerce.SourcePartner, commerce.SourcePartner}
	for range 120 {
		no, at, partner := 1+rng.Int64N(12), commerce.Millis(1_800_000_000_000+rng.Int64N(12)*1000), rng.IntN(3)
		o := placed(no, at, commerce.Statuses[rng.IntN(len(commerce.Statuses))])
		o.ID = commerce.NewOrderID(no, at, commerce.Entropy{byte(rng.IntN(256)), byte(len(all))})
		o.CreatedOn += commerce.Millis(rng.Int64N(2))
		o.PartnerID, o.Source, o.TotalCents = partners[partner], sources[partner], commerce.Cents(rng.IntN(1000))
		if rng.IntN(3) == 0 {
			o.Mode = commerce.Test
		}
		all = append(all, o)
	}
	saveOrders(t, e, all...)
	var stores []storage.OrderStore
	for no := range int64(14) {
		stores = append(stores, storage.OrderStore{ID: fmt.Sprintf("sto_%d", no), No: no})
	}
	filters := []storage.OrderFilter{
		{Stores: stores}, {Stores: stores[3:4]}, {Stores: stores[2:9]}, {Stores: stores[13:]}, {Stores: []storage.OrderStore{}},
		{ByPartner: true, Partners: partners}, {ByPartner: true, Partners: partners[1:2]}, {ByPartner: true, Partners: partners, Stores: stores[2:7]},
		{Stores: stores, Partners: partners[:2]}, {ByPartner: true, Partners: []string{"ptn_9"}},
	}
	for i, f := range filters {
		for n, change := range []func(*storage.OrderFilter){
			func(*storage.OrderFilter) {},
			func(f *storage.OrderFilter) { f.Mode = commerce.Test },
			func(f *storage.OrderFilter) { f.Source = commerce.SourceService },
			func(f *storage.OrderFilter) {
				f.Statuses = []commerce.OrderStatus{commerce.Paid, commerce.Cancelled}
			},
			func(f *storage.OrderFilter) { f.Since, f.Until = 1_800_000_003_000, 1_800_000_009_001 },
			func(f *storage.OrderFilter) { f.MinCents, f.MaxCents = 200, 700 },
		} {
			if leftOut(i + n) { // each kind of list still meets each change
				continue
			}
			f := f
			change(&f)
			checkWalk(t, e.Reader(), all, f)
			if f.ByStatus = f.Statuses == nil; f.ByStatus {
				f.ByPartner, f.Statuses = false, commerce.OpenStatuses
				checkWalk(t, e.Reader(), all, f)
			}
		}
	}
}

// leftOut reports whether one of many pairs is left out: every other one, but none in the full run of
// scripts/test.
func leftOut(n int) bool { return n%2 > 0 && load() == 1 }

// checkWalk compares all pages of a list with a plain filter.
func checkWalk(t *testing.T, r storage.Reader, all []commerce.Order, f storage.OrderFilter) {
	t.Helper()
	var want []commerce.Order
	for _, o := range all {
		if f.Has(o) {
			want = append(want, o)
		}
	}
	slices.SortFunc(want, func(a, b commerce.Order) int {
		return f.Position(b.ID, b.CreatedOn).Compare(f.Position(a.ID, a.CreatedOn))
	})
	for _, size := range []struct{ limit, examine int }{{7, 5000}, {3, 10}, {200, 5000}, {1, 1}} {
		f.Limit, f.Examine, f.After = size.limit, size.examine, storage.OrderPosition{}
		var got []commerce.Order
		for range 300 {
			page, err := r.OrderPage(context.Background(), f)
			if err != nil || len(page.Orders) > f.Limit || page.Further && page.Next == (storage.OrderPosition{}) {
				t.Fatalf("%+v: %+v, %v", f, page, err)
			}
			got = append(got, page.Orders...)
			if f.After = page.Next; f.After == (storage.OrderPosition{}) {
				break
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v:\n got %q\nwant %q", f, keysOf(got), keysOf(want))
		}
	}
}

// orderSearch finds orders in the ways in which staff know them.
func orderSearch(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	ctx, r := context.Background(), e.Reader()
	customer := func(storeNo int64, partner, contact, id string) commerce.Customer {
		return commerce.Customer{CustomerKey: commerce.CustomerKey{StoreID: storeName(int(storeNo)), PartnerID: partner, Mode: commerce.Live, Contact: contact}, ID: id, CreatedOn: 1}
	}
	of := func(storeNo int64, at commerce.Millis, status commerce.OrderStatus, customerID string) commerce.Order {
		o := placed(storeNo, at, status)
		if o.CustomerID = customerID; at == 30 { // has a phone number alone
			o.Address = &commerce.DeliveryAddress{Phone: "+1512"}
		} else {
			o.CustomerEmail = "a@e.example"
		}
		return o
	}
	orders := []commerce.Order{of(1, 10, commerce.Paid, "cus_a"), of(1, 20, commerce.PickedUp, "cus_b"), of(2, 30, commerce.Shipped, "cus_c"), of(2, 40, commerce.Cancelled, "cus_c"), of(3, 50, commerce.Processed, "cus_d")}
	c := commerce.Changes{Orders: orders,
		Customers: []commerce.Customer{customer(1, "ptn_1", "email:a@e.example", "cus_a"), customer(1, "ptn_2", "email:a@e.example", "cus_b"),
			customer(2, "ptn_1", "email:a@e.example", "cus_c"), customer(2, "ptn_1", "phone:+1512", "cus_c"), customer(3, "ptn_1", "email:b@e.example", "cus_d")},
		Partners: []commerce.Partner{{ID: "ptn_1", Name: "One"}, {ID: "ptn_2", Name: "Two"}},
	}
	for i, key := range []commerce.ExternalKey{{PartnerID: "ptn_1", Mode: commerce.Live, ExternalID: "A-1"}, {PartnerID: "ptn_1", Mode: commerce.Test, ExternalID: "A-1"}, {PartnerID: "ptn_2", Mode: commerce.Live, ExternalID: "A-1"}, {PartnerID: "ptn_2", Mode: commerce.Live, ExternalID: "A-10"}} {
		c.External = append(c.External, commerce.ExternalRef{ExternalKey: key, Order: orders[i].Key()})
	}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	check := func(what string, got []commerce.Order, err error, want ...int) {
		t.Helper()
		var wanted []commerce.Order
		for _, i := range want {
			wanted = append(wanted, orders[i])
		}
		if err != nil || !slices.Equal(keysOf(got), keysOf(wanted)) {
			t.Errorf("%s: got %q, %v; want %q", what, keysOf(got), err, keysOf(wanted))
		}
	}
	three := []string{"sto_1", "sto_2", "sto_3"}
	found, err := r.ContactOrders(ctx, three, "email:a@e.example", 9)
	check("by e-mail", found, err, 3, 2, 1, 0)
	found, err = r.ContactOrders(ctx, three, "email:a@e.example", 2)
	check("the newest two", found, err, 3, 2)
	found, err = r.ContactOrders(ctx, three[:1], "email:a@e.example", 9)
	check("of one store", found, err, 1, 0)
	found, err = r.ContactOrders(ctx, three, "phone:+1512", 9)
	check("by phone", found, err, 3, 2)
	found, err = r.ContactOrders(ctx, []string{}, "phone:+1512", 9)
	check("in no store", found, err)
	end := orders[2].ID[len(orders[2].ID)-4:]
	found, err = r.OpenOrdersEnding(ctx, nil, end, 9)
	var want []int
	for i := len(orders) - 1; i >= 0; i-- {
		if orders[i].Status.Open() && strings.HasSuffix(orders[i].ID, end) {
			want = append(want, i)
		}
	}
	check("by the end of the id", found, err, want...)
	found, err = r.OpenOrdersEnding(ctx, []string{"sto_9"}, end, 9)
	check("elsewhere", found, err)
	keys, err := r.ExternalOrders(ctx, "A-1")
	slices.SortFunc(keys, func(a, b commerce.OrderKey) int { return strings.Compare(a.OrderID, b.OrderID) })
	if want := []commerce.OrderKey{orders[0].Key(), orders[1].Key(), orders[2].Key()}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("by external id: %+v, %v; want %+v", keys, err, want)
	}
	byKey, err := r.OrdersByKey(ctx, []commerce.OrderKey{orders[0].Key(), orders[4].Key(), {StoreID: "sto_1", OrderID: orders[2].ID}})
	if err != nil || len(byKey) != 2 || byKey[orders[4].Key()].CustomerID != "cus_d" {
		t.Errorf("by key: %+v, %v", byKey, err)
	}
}

// attentionOfStores reads the open reasons of some stores.
func attentionOfStores(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	row := func(store, order string, code commerce.AttentionCode, since, resolved commerce.Millis) commerce.Attention {
		return commerce.Attention{StoreID: store, OrderID: order, Code: code, Since: since, ResolvedOn: resolved}
	}
	rows := []commerce.Attention{row("sto_1", "ord_1", commerce.AttentionMailNotSent, 1, 0), row("sto_2", "ord_2", commerce.AttentionTwoCouriers, 9, 0), row("sto_1", "ord_3", commerce.AttentionRefundDue, 6, 0),
		row("sto_2", "ord_4", commerce.AttentionRefundDue, 5, 0), row("sto_2", "ord_5", commerce.AttentionRefundDue, 3, 4), row("sto_3", "ord_6", commerce.AttentionRefundDue, 2, 0)}
	c := commerce.Changes{Attention: rows}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	got, err := e.Reader().AllOpenAttention(context.Background(), []string{"sto_1", "sto_2"}, 9)
	if want := []commerce.Attention{rows[1], rows[3], rows[2], rows[0]}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err = e.Reader().AllOpenAttention(context.Background(), []string{"sto_1", "sto_2"}, 2); err != nil || len(got) != 2 {
		t.Errorf("at most two: %+v, %v", got, err)
	}
}
