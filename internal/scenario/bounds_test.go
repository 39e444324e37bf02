package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/api"
)

// The last valid value and the first invalid one (BEHAVIOUR, sizes).
func TestBounds(t *testing.T) {
	const report, adjust, available, upsert = "/v1/orders/report", "/v1/inventory/adjustments", "/v1/products/availability", "/v1/products/upsert"
	const checkout, quote, preflight = "/v1/checkout/session", "/v1/delivery/quote", "/v1/checkout/preflight"
	repeat := func(n int, element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	lines := func(n int) string {
		return `{"external_order_id":"b%d","store_id":"sto_north","items":[` + repeat(n, `{"product_id":"prd_roll","quantity":0.0,"price":1}`) + `]}`
	}
	text := func(field string, n int) string {
		return `{"store_id":"sto_north","category_id":"cat_bread","name":"n","` + field + `":"` + strings.Repeat("é", n) + `"}`
	}
	order := func(fields string) string {
		return `{"store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":1,"price":1}],` + fields + `}`
	}
	one := func(quantity, price string) string {
		return `{"external_order_id":"b%d","store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":` + quantity + `,"price":` + price + `}]}`
	}
	// URLs of n characters
	link := func(n int) string { return "https://e.example/" + strings.Repeat("x", n-len("https://e.example/")) }
	cart := func(items, url, fields string) string {
		return `{"store_id":"sto_north","items":[` + items + `],"fulfillment_type":"pickup","dev":true,"success_url":"` + url + `","cancel_url":"` + url + `"` + fields + `}`
	}
	way := func(line1, zip, phone string) string {
		return `{"phone":"` + phone + `","address":{"line1":"` + line1 + `","city":"Albany","state":"NY","postal_code":"` + zip + `","country":"US"}}`
	}
	asked := func(address, fields string) string {
		return `{"store_id":"sto_north","dev":true,"delivery_address":` + address + fields + `}`
	}
	toDoor := way("1", "12208", "1")
	roll := `{"product_id":"prd_roll","quantity":1}`
	cases := []struct{ path, good, bad, field string }{
		{report, strings.ReplaceAll(lines(40), "0.0", "1"), strings.ReplaceAll(lines(99), "0.0", "1"), "items"},
		{report, one("1", "0"), one("0", "0"), "items[0].quantity"},
		{report, one("1", "9999999999"), one("1", "10000000000"), "items[0].price"},
		{report, "", one("1000001", "1"), "items[0].quantity"},
		{report, order(`"external_order_id":"` + strings.Repeat("é", 255) + `"`), order(`"external_order_id":"` + strings.Repeat("é", 256) + `"`), "external_order_id"},
		{report, "", order(`"external_order_id":"a\nb"`), "external_order_id"},
		{report, "", order(`"external_order_id":"a\u007fb"`), "external_order_id"},
		{report, "", order(`"external_order_id":"a","fulfillment_type":"drone"`), "fulfillment_type"},
		{report, "", order(`"external_order_id":"a","fulfillment_type":""`), "fulfillment_type"},
		{report, order(`"external_order_id":"x1","total":9999999999999`), order(`"external_order_id":"x2","total":10000000000000`), "total"},
		{report, "", `{"external_order_id":"x3","store_id":"sto_north","items":[` +
			repeat(20, `{"product_id":"prd_roll","quantity":1000000,"price":9999999999}`) + `]}`, "items"},
		{checkout, "", cart(repeat(99, roll), link(50), ""), "items"},
		{checkout, "", cart(`{"product_id":"prd_roll","quantity":1000001}`, link(50), ""), "items[0].quantity"},
		{checkout, cart(roll, link(2000), ""), cart(roll, link(2001), ""), "success_url"},
		{checkout, cart(roll, link(50), `,"customer_email":"`+strings.Repeat("é", 245)+`@e.example"`), cart(roll, link(50), `,"customer_email":"`+strings.Repeat("é", 246)+`@e.example"`), "customer_email"},
		{checkout, "", cart(roll, link(50), `,"customer_email":"jo at e.example"`), "customer_email"},
		{checkout, cart(roll, link(50), `,"delivery_fee":0`), cart(roll, link(50), `,"delivery_fee":1`), "delivery_fee"},
		{checkout, cart(roll, "HTTP://e.example:81/?a=b#c", ""), cart(roll, "ftp://e.example/", ""), "success_url"},
		{checkout, "", cart(roll, "https://", ""), "success_url"},
		{checkout, "", cart(roll, "//e.example/", ""), "success_url"},
		{quote, asked(way(strings.Repeat("x", 500), "12208", strings.Repeat("5", 50)), ""), asked(way(strings.Repeat("é", 501), "12208", "5"), ""), "delivery_address.address.line1"},
		{quote, "", asked(way("1", strings.Repeat("1", 21), "5"), ""), "delivery_address.address.postal_code"},
		{quote, "", asked(way("1", "12208", strings.Repeat("5", 51)), ""), "delivery_address.phone"},
		{quote, asked(toDoor, `,"items":[`+repeat(200, `{"quantity":1000000}`)+`]`), asked(toDoor, `,"items":[`+repeat(201, `{}`)+`]`), "items"},
		{quote, asked(toDoor, `,"items":[],"subtotal":0`), asked(toDoor, `,"items":[{"quantity":1000001}]`), "items[0].quantity"},
		{quote, asked(toDoor, `,"subtotal":9999999999999`), asked(toDoor, `,"subtotal":10000000000000`), "subtotal"},
		{preflight, asked(toDoor, `,"items":[`+repeat(98, roll)+`]`), asked(toDoor, `,"items":[`+repeat(99, roll)+`]`), "items"},
		{preflight, asked(toDoor, `,"items":[`+roll+`],"subtotal":9999999999999`), asked(toDoor, `,"items":[`+roll+`],"subtotal":10000000000000`), "subtotal"},
		{preflight, asked("null", `,"items":[`+roll+`],"fulfillment_type":"pickup"`), asked("null", `,"items":[`+roll+`],"fulfillment_type":"delivery"`), "delivery_address"},
		{adjust, `{"adjustments":[` + repeat(500, `{"product_id":"prd_roll","delta":0}`) + `]}`,
			`{"adjustments":[` + repeat(501, `{"product_id":"prd_roll","delta":0}`) + `]}`, "adjustments"},
		{available, `{"items":[` + repeat(200, `{"product_id":"prd_roll","quantity":1000000}`) + `]}`,
			`{"items":[` + repeat(201, `{"product_id":"prd_roll","quantity":1}`) + `]}`, "items"},
		{upsert, text("sku", 255), text("sku", 256), "sku"},
		{upsert, text("description", 5000), text("description", 5001), "description"},
		{upsert, text("featured_image", 2000), text("featured_image", 2001), "featured_image"},
		{upsert, `{"store_id":"sto_north","category_id":"cat_bread","name":"n","images":[` + repeat(50, `"i"`) + `]}`,
			`{"store_id":"sto_north","category_id":"cat_bread","name":"n","images":[` + repeat(51, `"i"`) + `]}`, "images"},
		{upsert, "", `{"store_id":"sto_north","category_id":"cat_bread","name":"n","images":["i",""]}`, "images[1]"},
		{upsert, "", `{"product":{"store_id":"sto_north","category_id":"cat_bread","name":"n","images":["i",5]}}`, "product.images[1]"},
		{upsert, "", `{"product":5}`, "product"},
		{upsert, "", `{"product":[]}`, "product"},
		{upsert, "", `{"product":{}}`, "product.store_id"},
	}
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, bounds := range cases {
			c := call{method: "POST", path: bounds.path, key: "busy", idem: fmt.Sprint("k", i), lenient: strings.Contains(bounds.good, "null")}
			w.refusesBody(t, c, strings.Replace(bounds.bad, "%d", fmt.Sprint(i), 1), bounds.field)
			if bounds.good == "" {
				continue
			}
			c.body = strings.Replace(bounds.good, "%d", fmt.Sprint(i), 1)
			if a := w.do(t, c); a.status >= 300 {
				t.Errorf("%.100s: %d %s", c.body, a.status, a.body)
			}
		}
	})
}

// Bodies of bulk upserts have at most 2 MiB, of upserts and adjustments 1 MiB, and others
// 256 KiB; one byte more is too much.
func TestLargestBody(t *testing.T) {
	large := map[string]bool{"/v1/products/upsert": true, "/v1/inventory/adjustments": true, "/v1/certify/ack": true}
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, route := range api.Routes {
			if sampleOf(route) == "" {
				continue
			}
			most, said := 256<<10, "larger than 256 KiB; send less"
			switch {
			case route.Path == "/v1/products/bulk-upsert":
				most, said = 2<<20, "larger than 2 MiB; send less"
			case large[route.Path]:
				most, said = 1<<20, "larger than 1 MiB; send less"
			}
			c := w.good(t, route, "busy", fmt.Sprint("w", i))
			c.body += strings.Repeat(" ", most-len(c.body))
			w.refusesBody(t, c, c.body+" ", "body")
			if a := w.do(t, with(c, func(c *call) { c.body += " " })); !strings.Contains(a.error().Error, said) {
				t.Errorf("%s: %s", route.Path, a.body)
			}
			if a := w.do(t, c); a.status >= 300 {
				t.Errorf("%s: the largest body is refused: %d %s", route.Path, a.status, a.body)
			}
		}
	})
}

// 98 lines are allowed. There are only fifty rolls, so each line is sold out rather
// than invalid.
func TestMostLines(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		line := `{"product_id":"prd_roll","quantity":1,"price":1}`
		body := `{"external_order_id":"many","store_id":"sto_north","items":[` + strings.Repeat(line+",", 97) + line + `]}`
		w.refuses(t, call{method: "POST", path: "/v1/orders/report", key: "busy", idem: "k", body: body},
			http.StatusConflict, "insufficient_stock")
	})
}
