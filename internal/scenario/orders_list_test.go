package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// listOf reads all pages of a list of orders.
func (w *world) listOf(t *testing.T, key, query string) (names []string) {
	t.Helper()
	for cursor, reads := "", 0; ; reads++ {
		a := w.do(t, call{method: "GET", path: "/v1/orders?" + query + cursor, key: key})
		var page struct {
			Count  int     `json:"count"`
			Next   *string `json:"next_cursor"`
			Orders []struct {
				External string `json:"external_order_id"`
			} `json:"orders"`
		}
		if err := json.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK || page.Count != len(page.Orders) || len(a.body) > maxPage || reads > 100 {
			t.Fatalf("%s: %d, %v: %.300s", query+cursor, a.status, err, a.body)
		}
		for _, o := range page.Orders {
			names = append(names, o.External)
		}
		if page.Next == nil {
			return names
		}
		cursor = "&cursor=" + *page.Next
	}
}

// seedList stores orders of two partners, in both modes and two stores, and changes some.
func (w *world) seedList(t *testing.T) {
	t.Helper()
	for _, line := range []string{
		"a processed pickup 1*prd_loaf ext=web-1", "b cancelled pickup 1*prd_loaf ext=web-10", "c shipped delivery 1*prd_loaf ext=web-2",
		"d processed pickup 1*prd_south_loaf ext=web-3 store=sto_south", "e processed pickup 1*prd_loaf ext=web-1t mode=test",
		"f processed pickup 1*prd_loaf ext=app-1", "g processed pickup 1*prd_loaf ext=theirs of=other", "h paid pickup 1*prd_loaf native",
	} {
		w.clock.move(time.Second)
		words := strings.Fields(line)
		if !strings.Contains(line, "of=") && !strings.Contains(line, "native") {
			words = append(words, "of=busy")
		}
		id := w.seedOrder(t, words)
		if words[0] == "b" || words[0] == "e" {
			defer w.touch(t, id)
		}
	}
}

// touch changes an order.
func (w *world) touch(t *testing.T, id string) {
	t.Helper()
	w.clock.move(time.Second)
	key := w.orderKey(t, id)
	w.change(t, commerce.Needs{Orders: []commerce.OrderKey{key}}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		o, _ := rows.Orders.Get(key)
		o.Events, o.UpdatedOn = o.Events+1, now
		return commerce.Changes{Orders: []commerce.Order{o}}
	})
}

// Each list has the orders of its partner that the filters and the key allow, each once and
// in its order, whatever the size of its pages.
func TestListsOfOrders(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		start := commerce.MillisOf(w.clock.Now())
		w.seedList(t)
		for size := 1; size <= 7; size += 2 {
			for _, c := range []struct{ key, query, want string }{
				{"busy", "", "app-1 web-1t web-3 web-2 web-10 web-1"},
				{"busy-test", "", "web-1t"}, {"busy", "dev=true", "web-1t"}, {"busy", "dev=false", "app-1 web-3 web-2 web-10 web-1"}, {"busy-test", "dev=false", ""},
				{"busy", "status=processed,shipped", "app-1 web-1t web-3 web-2 web-1"}, {"busy", "status=refunded", ""},
				{"busy", "fulfillment_type=delivery", "web-2"}, {"busy", "store_id=sto_south", "web-3"}, {"busy", "store_id=sto_south&status=cancelled", ""},
				{"busy", fmt.Sprintf("created_since=%d", start+4000), "app-1 web-1t web-3"},
				{"busy", fmt.Sprintf("created_since=%d&created_before=%d", start+2000, start+4000), "web-2 web-10"}, {"busy", "created_before=0", ""},
				{"busy", "updated_since=0", "web-1 web-2 web-3 app-1 web-1t web-10"},
				{"busy", fmt.Sprintf("updated_since=%d", start+4000), "web-3 app-1 web-1t web-10"},
				{"busy", fmt.Sprintf("updated_since=%d&status=cancelled", start), "web-10"},
				{"busy", "external_order_id_prefix=web-1", "web-1 web-10 web-1t"}, {"busy", "external_order_id_prefix=web-&status=processed", "web-1 web-1t web-3"},
				{"busy-test", "external_order_id_prefix=web", "web-1t"}, {"busy", "external_order_id_prefix=theirs", ""}, {"other", "", "theirs"},
			} {
				got := w.listOf(t, c.key, fmt.Sprintf("limit=%d&%s", size, c.query))
				if strings.Join(got, " ") != c.want {
					t.Errorf("%s, %s, pages of %d: got %q, want %q", c.key, c.query, size, got, c.want)
				}
			}
		}
		w.restrict(t, "busy", "sto_north")
		w.clock.move(10 * time.Second) // changes of partners count within 5 s
		if got := w.listOf(t, "busy", ""); slices.Contains(got, "web-3") || len(got) != 5 {
			t.Errorf("a restricted key lists %q", got)
		}
		w.refuses(t, call{method: "GET", path: "/v1/orders?store_id=sto_south", key: "busy"}, http.StatusForbidden, "store_not_allowed")
		w.refuses(t, call{method: "GET", path: "/v1/orders?store_id=sto_nothing", key: "busy"}, http.StatusNotFound, "not_found")
	})
}

// A kept page shows every change that was answered before it is asked for again.
func TestListsOfOrdersAreFresh(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i := range 5 {
			body := fmt.Sprintf(`{"external_order_id":"web-%d","store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":1,"price":925}]}`, i)
			a := w.do(t, call{method: "POST", path: "/v1/orders/report", key: "busy", idem: fmt.Sprint(i), body: body})
			if a.status != http.StatusCreated {
				t.Fatalf("%d %s", a.status, a.body)
			}
			order := mustField(t, a.body, "order_id")
			for range 2 {
				if got := w.listOf(t, "busy", "status=processed"); len(got) != 1 {
					t.Errorf("after report %d: %q", i, got)
				}
			}
			if a := w.do(t, call{method: "POST", path: "/v1/orders/" + order + "/cancel", key: "busy", idem: fmt.Sprint("c", i), body: "{}"}); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if got := w.listOf(t, "busy", "status=processed"); len(got) != 0 {
				t.Errorf("after cancellation %d: %q", i, got)
			}
		}
	})
}

// mustField reads a text from an object.
func mustField(t *testing.T, body []byte, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatal(err)
	}
	text, _ := object[name].(string)
	return text
}

// A cursor belongs to its partner, its filters and the order of its list. The longest
// external ids fit into a cursor.
func TestCursorsOfOrders(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		longest := strings.Repeat("\U0001F9C0", 254)
		for i, ext := range []string{"web-1", "web-2", longest + "a", longest + "b"} {
			w.seedOrder(t, []string{fmt.Sprint(i), "processed", "pickup", "1*prd_loaf", "of=busy", "ext=" + ext})
		}
		queries := []string{"limit=1", "limit=1&updated_since=0", "limit=1&external_order_id_prefix=web", "limit=1&status=processed", "limit=1&store_id=sto_north", "limit=1&dev=false", "limit=1&fulfillment_type=pickup"}
		cursors := make([]string, len(queries))
		for i, query := range queries {
			cursors[i] = mustField(t, w.do(t, call{method: "GET", path: "/v1/orders?" + query, key: "busy"}).body, "next_cursor")
		}
		for i, cursor := range cursors {
			for j, query := range queries {
				path := "/v1/orders?" + query + "&cursor=" + cursor
				if i != j {
					w.refusesQuery(t, path, "cursor")
				} else if a := w.do(t, call{method: "GET", path: path, key: "busy"}); a.status != http.StatusOK {
					t.Errorf("%s: %d %s", path, a.status, a.body)
				}
			}
			w.refuses(t, call{method: "GET", path: "/v1/orders?" + queries[i] + "&cursor=" + cursor, key: "other"}, http.StatusBadRequest, "invalid_cursor")
		}
		if got := w.listOf(t, "busy", "limit=1&external_order_id_prefix="+longest); len(got) != 2 {
			t.Errorf("%d orders with the longest ids", len(got))
		}
	})
}

// Orders of 98 lines with long ids of products: a page ends at 2 MiB, and the next one goes on there.
func TestLongPagesOfOrders(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		var want []string
		lines := strings.TrimSuffix(strings.Repeat("1*"+strings.Repeat("x", 250)+"+", 98), "+")
		for i := range 90 {
			w.seedOrder(t, []string{fmt.Sprint(i), "processed", "pickup", lines, "of=busy", fmt.Sprintf("ext=web-%02d", i)})
			w.clock.move(time.Second)
			want = append(want, fmt.Sprintf("web-%02d", i))
		}
		if a := w.do(t, call{method: "GET", path: "/v1/orders?limit=300", key: "busy"}); mustField(t, a.body, "next_cursor") == "" {
			t.Errorf("all %d bytes are on one page", len(a.body))
		}
		slices.Reverse(want)
		if got := w.listOf(t, "busy", "limit=300"); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}
