package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"
)

// manyLimits is what a cluster refuses where the keys may be of several shards.
var manyLimits = regexp.MustCompile(`unnest.* LATERAL .*LIMIT`)

// TestSpreadReads reads rows of several stores at once, as a cluster is asked for
// them, and as one server is: they give the same.
func TestSpreadReads(t *testing.T) {
	ctx := context.Background()
	e := fresh(t).Open(t, time.Now).(*Engine)
	var keys []commerce.OrderKey
	for i := range 6 {
		keys = append(keys, commerce.OrderKey{StoreID: fmt.Sprint("sto_", i%3), OrderID: fmt.Sprint("ord_", i)})
	}
	storagetest.Change(t, e, commerce.Needs{Orders: keys, Deliveries: keys, Payments: keys}, func(*commerce.Rows, int64) (c commerce.Changes) {
		for _, k := range keys[:5] {
			c.Orders = append(c.Orders, commerce.Order{StoreID: k.StoreID, ID: k.OrderID, Status: commerce.Paid})
			c.Deliveries = append(c.Deliveries, commerce.Delivery{StoreID: k.StoreID, OrderID: k.OrderID, Attempt: 1})
			c.Payments = append(c.Payments, commerce.Payment{StoreID: k.StoreID, OrderID: k.OrderID, SessionID: k.OrderID})
		}
		return c
	})
	found := map[bool]string{}
	var mu sync.Mutex
	sent := map[bool][]string{}
	for _, spread := range []bool{false, true} {
		e.spread = spread
		observe = func(sql string) {
			mu.Lock()
			defer mu.Unlock()
			sent[spread] = append(sent[spread], strings.Join(strings.Fields(sql), " "))
		}
		o, err1 := readSingles(ctx, e, orders, keys)
		d, err2 := readSingles(ctx, e, deliveries, keys)
		p, err3 := readSingles(ctx, e, payments, keys)
		s, err4 := e.readStamps(ctx, []commerce.ProductKey{{StoreID: "sto_1", ProductID: "prd_1"}})
		observe = nil
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || len(o) != 5 || len(d) != 5 || len(p) != 5 || len(s) != 0 {
			t.Fatalf("spread %v: %d, %v; %d, %v; %d, %v; %d, %v", spread, len(o), err1, len(d), err2, len(p), err3, len(s), err4)
		}
		found[spread] = fmt.Sprint(o, d, p)
	}
	if found[true] != found[false] {
		t.Errorf("a cluster gives\n%s\none server\n%s", found[true], found[false])
	}
	for _, sql := range sent[true] {
		if faults := unfit(sql); len(faults) > 0 || manyLimits.MatchString(sql) {
			t.Errorf("%v: %s", faults, sql)
		}
	}
	if len(sent[true]) != 4 || len(sent[false]) != 4 || !manyLimits.MatchString(sent[false][0]) {
		t.Errorf("sent %q and %q", sent[false], sent[true])
	}
}
