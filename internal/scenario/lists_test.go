package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/schema"
)

// The sizes of SPEC.md, Limits: the default and the maximal length of each list.
func TestSizesOfLists(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		var many command.ImportCatalog
		for i := range 350 {
			many.Stores = append(many.Stores, command.ImportStore{ID: fmt.Sprintf("sto_m%03d", i), Name: "Many"})
		}
		many.Products = numbered(350)
		many.Categories = []command.ImportCategory{{ID: "cat_fruit", Name: "Fruit"}}
		run(t, w, commit.Command[command.ImportResult](many))
		order := w.seedOrder(t, []string{"a", "paid", "pickup", "1*prd_001", "of=busy"})
		w.addTimeline(t, order, 520)
		for _, c := range []struct {
			path string
			want int
		}{
			{"/v1/stores", 100}, {"/v1/stores?limit=300", 300}, {"/v1/stores?limit=1000", 300}, {"/v1/stores?limit=1", 1},
			{"/v1/products", 100}, {"/v1/products?limit=301", 300}, {"/v1/products?limit=299", 299},
			{"/v1/orders/" + order + "/timeline", 100}, {"/v1/orders/" + order + "/timeline?limit=501", 500}, {"/v1/orders/" + order + "/timeline?limit=7", 7},
		} {
			a := w.do(t, call{method: "GET", path: c.path, key: "busy"})
			var list struct {
				Count  int   `json:"count"`
				Stores []any `json:"stores"`
				Goods  []any `json:"products"`
				Events []struct {
					Message string `json:"message"`
				} `json:"events"`
			}
			if err := json.Unmarshal(a.body, &list); err != nil {
				t.Fatal(err)
			}
			if n := len(list.Stores) + len(list.Goods) + len(list.Events); n != c.want || list.Count != c.want {
				t.Errorf("%s: %d, count %d, want %d", c.path, n, list.Count, c.want)
			}
			for i, e := range list.Events { // the newest events, the oldest of these first
				if want := fmt.Sprint("note ", 520-c.want+i+1); e.Message != want {
					t.Fatalf("%s: event %d is %q, want %q", c.path, i, e.Message, want)
				}
			}
		}
	})
}

// addTimeline gives an order a long history.
func (w *world) addTimeline(t *testing.T, order string, n int) {
	t.Helper()
	key := commerce.OrderKey{StoreID: "sto_north", OrderID: order}
	batch, err := w.engine.Load(context.Background(), commerce.Needs{Orders: []commerce.OrderKey{key}})
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Discard()
	o, _ := batch.Rows().Orders.Get(key)
	changes := commerce.Changes{}
	for range n {
		o.Events++
		changes.Timeline = append(changes.Timeline, commerce.TimelineEvent{StoreID: key.StoreID, OrderID: order, Seq: o.Events,
			Kind: commerce.TimelineNote, Status: o.Status, Message: fmt.Sprint("note ", o.Events), CreatedOn: batch.Stamp()})
	}
	changes.Orders = []commerce.Order{o}
	schema.Apply(batch.Rows(), &changes)
	if err := batch.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Reading in pages of any size returns every product once, in order.
func TestWalk(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "seven")
		for i := range 7 { // three of them change again, so that stamps differ
			if i%2 == 1 {
				w.do(t, call{method: "POST", path: "/v1/inventory/adjustments", key: "busy", idem: fmt.Sprint("k", i),
					body: fmt.Sprintf(`{"adjustments":[{"product_id":"prd_%03d","delta":1}]}`, i+1)})
			}
		}
		const want = "prd_001 prd_003 prd_005 prd_007 prd_002 prd_004 prd_006"
		for size := 1; size <= 8; size++ {
			for _, filter := range []string{"", "&store_id=sto_north", "&category_id=cat_fruit", "&active=all", "&updated_since=5"} {
				if got := w.walk(t, fmt.Sprintf("/v1/products?limit=%d%s", size, filter)); strings.Join(got, " ") != want {
					t.Errorf("pages of %d%s: %v", size, filter, got)
				}
			}
		}
	})
}

func (w *world) walk(t *testing.T, path string) (ids []string) {
	t.Helper()
	for cursor := ""; ; {
		a := w.do(t, call{method: "GET", path: path + cursor, key: "busy"})
		var page struct {
			Next     *string `json:"next_cursor"`
			Products []struct {
				ID string `json:"id"`
			} `json:"products"`
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Products {
			ids = append(ids, p.ID)
		}
		if page.Next == nil || len(ids) > 100 {
			return ids
		}
		cursor = "&cursor=" + *page.Next
	}
}

// A text that cannot be an id is not found; it never causes a fault of the database.
func TestHostileIDs(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for _, id := range []string{"%00", "a%00b", "%ff", "%C3%28", "%ed%a0%80", strings.Repeat("x", 6000), "%2e%2e%2fstores", "%27%3B%20DROP%20TABLE%20orders", "%F0%9F%A7%80",
			"ord_1_", "ord__00000000000000000000000000", "ord_01_00000000000000000000000000", "ord_1_0000000000000000000000000%00", "ORD_1_00000000000000000000000000",
			"ord_zzzzzzz_00000000000000000000000000", "ord_-1_00000000000000000000000000", "%5B", "%25"} {
			for _, path := range []string{"/v1/products/%s", "/v1/stores/%s/categories", "/v1/orders/%s", "/v1/orders/%s/ping", "/v1/orders/%s/timeline", "/v1/orders/by-external/%s"} {
				w.refuses(t, call{method: "GET", path: strings.Replace(path, "%s", id, 1), key: "busy"}, http.StatusNotFound, "not_found")
			}
			for _, action := range []string{"confirm", "ready-for-pickup", "picked-up", "cancel", "refund"} {
				w.refuses(t, call{method: "POST", path: "/v1/orders/" + id + "/" + action, key: "busy", idem: "k"}, http.StatusNotFound, "not_found")
			}
		}
	})
}
