package scenario

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// Invalid queries are answered with 400, which names the parameter.
func TestWrongQueries(t *testing.T) {
	cursor := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	limits := []string{"0", "-1", "abc", "1.5", "", "1e2", "0x10", "%205", "5%20", "-99999999999999999999", "null", "%00", "٣"}
	bools := []string{"maybe", "1", "0", "TRUE", "True", "yes", "", "true%20", "null"}
	times := []string{"-1", "abc", "1.5", "", "99999999999999999999", "2026-03-02T15:04:05Z", "1e3"}
	texts := []string{"", "%00", "%0a", "%ff", strings.Repeat("x", 1025)}
	cursors := []string{"", "garbage", "!!!", "%00", "MQ", cursor("1.5."), cursor("2.5.prd_a"), cursor("1.-5.prd_a"), cursor("1.+5.prd_a"), cursor("1.05.prd_a"),
		cursor("1.99999999999999999999.prd_a"), cursor("1..prd_a"), cursor("1.5"), cursor("5.prd_a"), cursor("1.5.\xff"), cursor("1.5.prd_a") + "=",
		base64.StdEncoding.EncodeToString([]byte("1.5.prd_a")) + "%0a", cursor("1.5.prd_a")[:4], strings.Repeat("A", 1100), strings.Repeat("A", 100)}
	event := "evt_" + strings.Repeat("0", 26)
	eventCursors := []string{cursor("1.5.prd_a"), cursor("e1."), cursor("e1.evt_"), cursor("e2." + event), cursor("e1." + event + "0"), cursor(event),
		cursor("e1." + event[:29] + "l"), cursor("e1.ord_" + event[4:]), cursor("e1."+event) + "="}
	id := "ord_1_" + strings.Repeat("0", 26)
	orderCursors := []string{cursor("o1.5.." + id), cursor("o1." + id), cursor("oc1.5.live." + id), cursor("ox1.0.." + id)}
	cases := []struct {
		path, name string
		values     []string
	}{
		{"/v1/stores", "limit", limits}, {"/v1/products", "limit", limits}, {"/v1/orders/{order}/timeline", "limit", limits},
		{"/v1/stores", "active", append(bools, "all")}, {"/v1/categories", "active", append(bools, "all")},
		{"/v1/products", "active", append(bools, "ALL", "any")}, {"/v1/products", "available_only", append(bools, "all")},
		{"/v1/products", "updated_since", times}, {"/v1/products", "store_id", texts}, {"/v1/products", "category_id", texts},
		{"/v1/categories", "store_id", texts}, {"/v1/products", "cursor", cursors},
		{"/v1/orders", "limit", limits}, {"/v1/orders", "dev", bools}, {"/v1/orders", "store_id", texts}, {"/v1/orders", "created_since", times},
		{"/v1/orders", "created_before", times}, {"/v1/orders", "updated_since", times}, {"/v1/orders", "cursor", append(cursors, orderCursors...)},
		{"/v1/orders", "external_order_id_prefix", append(texts, strings.Repeat("x", 256))}, {"/v1/orders", "fulfillment_type", append(texts, "both", "PICKUP")},
		{"/v1/orders", "status", append(texts, "done", "paid,", ",paid", "paid,,paid", "paid,%20paid", "PAID")},
		{"/v1/events", "limit", limits}, {"/v1/events", "since", times}, {"/v1/events", "cursor", append(cursors, eventCursors...)},
		{"/v1/requests", "limit", limits}, {"/v1/requests", "since", times}, {"/v1/requests", "until", times}, {"/v1/requests", "cursor", append(cursors, cursor("r1."), cursor("r1.req_"+event[4:]), cursor(event))},
		{"/v1/requests", "status", append(texts, "4x", "xx", "4XX", "600", "099", "0xx", "404,", ",404", "404,,5xx", "404,%205xx", "-404", "+40", "4xxx")},
		{"/v1/requests", "method", append(texts, "get", "PUT", "GET,POST")}, {"/v1/requests", "operation", append(texts, "nothing", "onOrderPaid", "reportorder")},
		{"/v1/requests", "code", texts}, {"/v1/requests", "key_id", texts}, {"/v1/requests", "order_id", texts}, {"/v1/requests", "trace_id", texts},
		{"/v1/events", "types", append(texts, "order.paidd", "order.paid,", ",order.paid", "order.paid,,order.paid", "order.paid,%20order.paid", "ORDER.PAID")},
	}
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		order := w.seedOrder(t, []string{"a", "paid", "pickup", "1*prd_loaf", "of=busy"})
		for _, c := range cases {
			path := strings.Replace(c.path, "{order}", order, 1)
			for _, value := range c.values {
				w.refusesQuery(t, path+"?"+c.name+"="+value, c.name)
			}
			w.refusesQuery(t, path+"?"+c.name+"=1&"+c.name+"=1", c.name)
			w.refusesQuery(t, path+"?"+c.name+"&"+c.name+"=true", c.name)
		}
		for _, malformed := range []string{"limit=%zz", "limit=1%", "%", "%zz=1", "limit=1;active=true", "store_id=%f"} {
			for _, path := range []string{"/v1/stores", "/v1/products", "/v1/categories"} {
				w.refusesQuery(t, path+"?"+malformed, "query")
			}
		}
	})
}

func (w *world) refusesQuery(t *testing.T, path, field string) {
	t.Helper()
	a := w.do(t, call{method: "GET", path: path, key: "busy"})
	e := a.error()
	if a.status != http.StatusBadRequest || !strings.HasPrefix(e.Code, "invalid_") || e.Field != field || e.Error == "" {
		t.Errorf("GET %.150s: want 400 for %s, got %d %.200s", path, field, a.status, a.body)
	}
}

// A limit above the maximum becomes the maximum, however large. Unknown parameters
// are ignored, as in bodies.
func TestGenerousQueries(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for _, path := range []string{"/v1/stores?limit=301", "/v1/products?limit=9223372036854775807", "/v1/stores?nonsense=1&nonsense=2",
			"/v1/stores?LIMIT=0", "/v1/products?updated_since=0", "/v1/products?updated_since=9007199254740993"} {
			if a := w.do(t, call{method: "GET", path: path, key: "busy"}); a.status != http.StatusOK {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		// The document's checker limits integers to int64.
		a := w.do(t, call{method: "GET", path: "/v1/products?limit=99999999999999999999", key: "busy", lenient: true})
		if a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// A cursor whose id contains a NUL is not ours: no id can contain one.
func TestCursorWithNUL(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		forged := base64.RawURLEncoding.EncodeToString([]byte("1.5.prd_\x00a"))
		w.refusesQuery(t, "/v1/products?cursor="+forged, "cursor")
	})
}
