package commit

import (
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// TestContended: commands wait for each other at the same products, or else at the same
// orders, or else at the same endpoints; in a cluster at the same stores.
func TestContended(t *testing.T) {
	stock := func(list ...string) (n commerce.Needs) {
		for i := 0; i < len(list); i += 2 {
			n.Stock = append(n.Stock, commerce.ProductKey{StoreID: list[i], ProductID: list[i+1]})
		}
		return n
	}
	orders := func(list ...string) (n commerce.Needs) {
		for i := 0; i < len(list); i += 2 {
			n.Orders = append(n.Orders, commerce.OrderKey{StoreID: list[i], OrderID: list[i+1]})
		}
		return n
	}
	endpoints := func(list ...string) commerce.Needs { return commerce.Needs{Endpoints: list} }
	both := func(a, b commerce.Needs) commerce.Needs {
		a.Orders, a.Endpoints = append(a.Orders, b.Orders...), append(a.Endpoints, b.Endpoints...)
		return a
	}
	for _, c := range []struct {
		name     string
		a, b     commerce.Needs
		ofStores bool
		same     bool
	}{
		{"one product", stock("s", "a"), stock("s", "a"), false, true},
		{"another product", stock("s", "a"), stock("s", "b"), false, false},
		{"of another store", stock("s", "a"), stock("t", "a"), false, false},
		{"two products of one store, in a cluster", stock("s", "a"), stock("s", "b"), true, true},
		{"of two stores, in a cluster", stock("s", "a"), stock("t", "a"), true, false},
		{"an order beside products counts for nothing", both(stock("s", "a"), orders("s", "o")), stock("s", "a"), false, true},
		{"one order", orders("s", "o"), orders("s", "o"), false, true},
		{"another order", orders("s", "o"), orders("s", "p"), false, false},
		{"two orders", orders("s", "o", "s", "p"), orders("s", "o"), false, false},
		{"an endpoint beside an order counts for nothing", both(orders("s", "o"), endpoints("p")), orders("s", "o"), false, true},
		{"one endpoint", endpoints("p"), endpoints("p"), false, true},
		{"another endpoint", endpoints("p"), endpoints("q"), false, false},
		{"the first endpoint stands for all", endpoints("p", "q"), endpoints("p"), false, true},
	} {
		a, b := contended(&c.a, c.ofStores), contended(&c.b, c.ofStores)
		if len(a) == 0 || slices.Equal(a, b) != c.same {
			t.Errorf("%s: %v and %v", c.name, a, b)
		}
	}
	if rows := contended(&commerce.Needs{Partners: []string{"p"}}, false); len(rows) != 0 {
		t.Errorf("a partner that is only read is waited for: %v", rows)
	}
	var h heat
	if hash := h.hottest([]uint32{7, 9}); hash != 7 {
		t.Errorf("of equal ones %d is the hottest", hash)
	}
	h.hottest([]uint32{9})
	if hash := h.hottest([]uint32{7, 9}); hash != 9 {
		t.Errorf("%d changes most often", hash)
	}
}
