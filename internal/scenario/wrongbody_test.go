package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/api"
)

// Each invalid body is answered with 400 in the shape of SPEC.md, Errors, which names
// the fault, and changes nothing.
func TestWrongBodies(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, route := range api.Routes {
			if sampleOf(route) == "" {
				continue
			}
			t.Run(route.Path, func(t *testing.T) {
				c := w.good(t, route, "busy", fmt.Sprint("w", i))
				before := w.everything(t, c)
				for _, bad := range wrongWholes(c.body, mayBeEmpty[route.Path]) {
					w.refusesBody(t, c, bad, "")
				}
				for _, bad := range wrongParts(t, route.Path, c.body) {
					w.refusesBody(t, c, bad.body, bad.field)
				}
				if after := w.everything(t, c); after != before {
					t.Errorf("something has changed:\n%s\n%s", before, after)
				}
				if a := w.do(t, c); a.status >= 300 {
					t.Errorf("the good body is refused: %d %s", a.status, a.body)
				}
			})
		}
	})
}

// refusesBody expects a 400 that names the field; "" accepts any name.
func (w *world) refusesBody(t *testing.T, c call, body, field string) {
	t.Helper()
	c.body = body
	if c.path == "/v1/products/bulk-upsert" {
		c.idem = "" // because it is answered with 200 for an item that is wrong
	}
	a := w.do(t, c)
	status, e := refusalOf(a)
	if status != http.StatusBadRequest || e.Code != "invalid_body" || e.Error == "" || e.Field == "" || (field != "" && e.Field != field) {
		t.Errorf("%.200q: want 400 invalid_body for %q, got %d %.300s", body, field, a.status, a.body)
	}
	if len(a.body) > 2000 {
		t.Errorf("%.80q: the answer has %d bytes", body, len(a.body))
	}
}

// refusalOf returns the status and the error of an answer. An item of a bulk call fails alone,
// and counts as refused with 400.
func refusalOf(a *answer) (int, errorBody) {
	var done struct {
		Failed  int
		Results []errorBody
	}
	if a.status == http.StatusOK && json.Unmarshal(a.body, &done) == nil && done.Failed == 1 && len(done.Results) == 1 {
		return http.StatusBadRequest, done.Results[0]
	}
	return a.status, a.error()
}

// everything returns all that a call could have changed.
func (w *world) everything(t *testing.T, c call) string {
	t.Helper()
	text := ""
	paths := []string{"/v1/products?active=all&limit=300", "/v1/orders/by-external/web-new"}
	if i := strings.Index(c.path, "/ord_"); i > 0 {
		order := strings.SplitN(c.path[i+1:], "/", 2)[0]
		paths = append(paths, "/v1/orders/"+order, "/v1/orders/"+order+"/timeline")
	}
	for _, path := range paths {
		a := w.do(t, call{method: "GET", path: path, key: "busy", header: http.Header{"X-Trace-Id": {"look"}}})
		text += string(a.body) + "\n"
	}
	return text
}

// wrongWholes are bodies that are invalid as a whole.
func wrongWholes(good string, optional bool) []string {
	members := strings.TrimSuffix(strings.TrimPrefix(good, "{"), "}")
	list := []string{
		"null", "[]", `"text"`, "5", "true", "[" + good + "]", "{", "}", "nonsense", "{'a':1}", good[:len(good)/2], good[:len(good)-1],
		good + "x", good + good, good + ",", good + " null", "{" + members + "," + members + "}", `{"a":1,"a":2}`, `{"x":{"a":1,"\u0061":2}}`,
		`{"x":"` + "\xff" + `"}`, "{\"x\xc0\":1}", `{"x":"\ud800"}`, `{"x":"\u0000"}`, `{"x\u0000":1}`, "{\"x\":\"\x00\"}", "\x00" + good, "\ufeff" + good,
		"{" + members + `,"x":"\u0000"}`, `{"x":1e}`, `{"x":01}`, `{"x":+1}`, `{"x":NaN}`, `{"x":.5}`,
		`{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}",
		strings.Repeat(`{"x":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		"{" + members + `,"x":"` + strings.Repeat("x", 3<<20) + `"}`,
		strings.Repeat(" ", 2<<20) + good,
	}
	if !optional {
		list = append(list, "", " ", "{}")
	}
	return list
}

type wrongPart struct{ body, field string }

// numbers are the fields that allow fractions or negative numbers.
var numbers = map[string]string{
	"/v1/products/upsert price": "major", "/v1/products/upsert sold_amount": "major",
	"/v1/products/bulk-upsert products[0].price": "major", "/v1/products/bulk-upsert products[0].sold_amount": "major",
	"/v1/orders/report tax_rate": "rate", "/v1/inventory/adjustments adjustments[0].delta": "delta",
	"/v1/stores/nearby max_distance_miles": "capped", "/v1/stores/nearby limit": "capped whole",
}

// wrongParts puts invalid values into every place of a valid body, one at a time.
func wrongParts(t *testing.T, path, good string) (list []wrongPart) {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(good), &whole); err != nil {
		t.Fatal(err)
	}
	visit("", whole, func(field string, value any, replace func(any)) {
		for _, wrong := range wrongValues(path+" "+field, value) {
			replace(json.RawMessage(wrong))
			body, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, wrongPart{string(body), field})
		}
		replace(value)
	})
	return list
}

// visit calls f with each value below v, and with a function that replaces it.
func visit(field string, v any, f func(field string, value any, replace func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			at := strings.TrimPrefix(field+"."+name, ".")
			f(at, value, func(other any) { v[name] = other })
			visit(at, value, f)
		}
	case []any:
		for i, value := range v {
			at := fmt.Sprintf("%s[%d]", field, i)
			f(at, value, func(other any) { v[i] = other })
			visit(at, value, f)
		}
	}
}

const long = 6000 // longer than any text may be

func wrongValues(place string, value any) []string {
	huge := []string{"1e30", "-1e30", "9223372036854775808", "1e999999999", "123456789012345678901234567890", "1" + strings.Repeat("0", 5000)}
	switch value.(type) {
	case string:
		return []string{"5", "true", "{}", "[]", `"` + strings.Repeat("x", long) + `"`}
	case bool:
		return []string{"1", "0", `"true"`, "{}", "[]"}
	case map[string]any:
		if place == "/v1/stores/nearby delivery_address" { // which may also be a string
			return []string{"5", "true", `""`, `" "`, `"` + strings.Repeat("x", long) + `"`, "[]", "{}", `{"city":"Albany"}`, `{"line1":" "}`}
		}
		return []string{"5", "true", `"x"`, "[]"}
	case []any:
		return []string{"5", "true", `"x"`, "{}"}
	}
	kinds := []string{`"5"`, "true", "{}", "[]", `""`}
	switch numbers[place] {
	case "major":
		return slices.Concat(kinds, huge, []string{"-1", "-0.01", "1.999", "0.001", "1e-3"})
	case "rate":
		return slices.Concat(kinds, huge, []string{"-1", "-0.0825", "100.1"})
	case "capped": // larger values become the maximum
		return slices.Concat(kinds, []string{"0", "-0", "-1", "-0.5", "-1e30", "-1e999999999"})
	case "capped whole":
		return slices.Concat(kinds, []string{"0", "-1", "0.5", "1.5", "1e-1", "400.5", "-1e30", "-1e999999999"})
	case "delta":
		return slices.Concat(kinds, huge, []string{"1.5", "-0.5", "1e-1", "1000000001", "-1000000001"})
	}
	return slices.Concat(kinds, huge, []string{"-1", "1.5", "0.1", "1e-1", "9007199254740993000"})
}

// A missing required field is named.
func TestMissingFields(t *testing.T) {
	required := map[string][]string{
		"/v1/stores/nearby": {"delivery_address"},
		"/v1/delivery/quote": {"store_id", "delivery_address", "delivery_address.address", "delivery_address.address.line1",
			"delivery_address.address.city", "delivery_address.address.state", "delivery_address.address.postal_code", "delivery_address.address.country"},
		"/v1/checkout/preflight": {"store_id", "items", "items[0].product_id", "items[0].quantity", "delivery_address", "delivery_address.address",
			"delivery_address.address.line1", "delivery_address.address.city", "delivery_address.address.state",
			"delivery_address.address.postal_code", "delivery_address.address.country"},
		"/v1/products/availability": {"items", "items[0].product_id", "items[0].quantity"},
		"/v1/products/upsert":       {"store_id", "category_id", "name"},
		"/v1/products/bulk-upsert":  {"products", "products[0].store_id", "products[0].category_id", "products[0].name"},
		"/v1/inventory/adjustments": {"adjustments", "adjustments[0].product_id", "adjustments[0].delta"},
		"/v1/checkout/session": {"store_id", "items", "items[0].product_id", "items[0].quantity", "success_url", "cancel_url", "fulfillment_type",
			"delivery_address.name", "delivery_address.address", "delivery_address.address.line1", "delivery_address.address.country"},
		"/v1/orders/report": {"external_order_id", "store_id", "items", "items[0].product_id", "items[0].quantity", "items[0].price",
			"delivery_address.name", "delivery_address.address", "delivery_address.address.line1", "delivery_address.address.city",
			"delivery_address.address.state", "delivery_address.address.postal_code", "delivery_address.address.country"},
	}
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for path, fields := range required {
			c := call{method: "POST", path: path, key: "busy", idem: "k"}
			for _, field := range fields {
				for _, value := range []any{nil, "", "  "} {
					if _, isText := value.(string); isText && (strings.HasSuffix(field, "s") || strings.HasSuffix(field, "]")) {
						continue // only strings can be empty strings
					}
					w.refusesBody(t, c, changed(t, samples[path], field, value), field)
				}
				w.refusesBody(t, c, removed(t, samples[path], field), field)
			}
		}
	})
}

func changed(t *testing.T, good, field string, value any) string {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(good), &whole); err != nil {
		t.Fatal(err)
	}
	found := false
	visit("", whole, func(at string, _ any, replace func(any)) {
		if at == field {
			replace(value)
			found = true
		}
	})
	if !found {
		t.Fatalf("no %s in %s", field, good)
	}
	body, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// removed removes a member by giving it an unknown name.
func removed(t *testing.T, good, field string) string {
	t.Helper()
	const mark = "to be removed"
	body := changed(t, good, field, mark)
	name := field[strings.LastIndex(field, ".")+1:]
	return strings.Replace(body, fmt.Sprintf("%q:%q", name, mark), `"unknown":null`, 1)
}
