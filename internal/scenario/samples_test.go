package scenario

import (
	"slices"
	"strings"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
)

// samples are complete valid bodies for each POST with a body, with every field of
// SPEC.md.
var samples = map[string]string{
	"/v1/stores/nearby": `{"delivery_address":{"line1":"2 Elm St","city":"Albany","state":"NY","postal_code":"12207","country":"US"},` +
		`"max_distance_miles":2.5,"limit":5,"fulfillment_type":"delivery","active":true}`,
	"/v1/delivery/quote": `{"store_id":"sto_north","delivery_address":` + toElmSt + `,"items":[{"product_id":"prd_loaf","quantity":1,"name":"Loaf"}],` +
		`"subtotal":925,"dev":true}`,
	"/v1/checkout/preflight": `{"store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":1}],"fulfillment_type":"delivery",` +
		`"delivery_address":` + toElmSt + `,"subtotal":925,"dev":true}`,
	"/v1/products/availability": `{"store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":2}]}`,
	"/v1/products/upsert": `{"id":"prd_loaf","store_id":"sto_north","category_id":"cat_bread","name":"Loaf","description":"d",` +
		`"featured_image":"https://e.example/1","images":["https://e.example/1"],"active":true,"hot":false,"price":9.5,` +
		`"available_quantity":20,"sku":"s","sold_count":1,"sold_amount":9.5,"created_on":1700000000000}`,
	"/v1/products/bulk-upsert": `{"products":[{"id":"prd_loaf","store_id":"sto_north","category_id":"cat_bread","name":"Loaf","description":"d",` +
		`"featured_image":"https://e.example/1","images":["https://e.example/1"],"active":true,"hot":false,"price":9.5,` +
		`"available_quantity":20,"sku":"s","sold_count":1,"sold_amount":9.5,"created_on":1700000000000}],"match":"id"}`,
	"/v1/inventory/adjustments": `{"adjustments":[{"product_id":"prd_loaf","delta":2,"reason":"r","external_reference":"e"}]}`,
	"/v1/orders/report": `{"external_order_id":"web-new","store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":1,"price":925}],` +
		`"fulfillment_type":"pickup","total":1001,"subtotal":925,"tax_amount":76,"tax_rate":8.25,"delivery_fee":0,` +
		`"delivery_address":{"name":"Ann","email":"a@e.example","phone":"5550100","address":{"line1":"2 Elm St","line2":"b",` +
		`"city":"Albany","state":"NY","postal_code":"12208","country":"US"}},"pickup_instructions":"p","dropoff_instructions":"d",` +
		`"external_payment_id":"pay","dev":false,"metadata":{"table":"7"},"ready_in_minutes":20}`,
	"/v1/keys":                                          `{"name":"Kiosk","mode":"test","scopes":["manage_self"],"store_ids":["sto_north"],"expires_on":<now+1h>,"allowed_addresses":["127.0.0.0/8"]}`,
	"/v1/webhook-endpoints":                             `{"url":"https://kiosk.example/hooks","events":["order.*"],"mode":"test","store_ids":["sto_north"],"description":"d","secret":"whsec_0123456789abcdef"}`,
	"/v1/webhook-endpoints/{endpoint_id}":               `{"url":"https://kiosk.example/more","events":["order.*","delivery.created"],"mode":"test","store_ids":["sto_north"],"description":"d"}`,
	"/v1/webhook-endpoints/{endpoint_id}/rotate-secret": `{"overlap_hours":1,"secret":"whsec_0123456789abcdef"}`,
	"/v1/webhook-endpoints/{endpoint_id}/pause":         `{}`,
	"/v1/webhook-endpoints/{endpoint_id}/resume":        `{}`,
	"/v1/webhook-endpoints/{endpoint_id}/delete":        `{}`,
	"/v1/webhook-endpoints/{endpoint_id}/test":          `{}`,
	"/v1/webhook-endpoints/{endpoint_id}/replay":        `{"since":0,"until":<now>,"events":["order.*"],"only":"all"}`,
	"/v1/events/{event_id}/resend":                      `{}`,
	"/v1/keys/{key_id}/rotate":                          `{"overlap_hours":1}`,
	"/v1/keys/{key_id}/revoke":                          `{}`,
	"/v1/orders/{order_id}/metadata":                    `{"metadata":{"table":"7"}}`,
	"/v1/orders/{order_id}/confirm":                     `{"ready_in_minutes":20}`,
	"/v1/orders/{order_id}/ready-for-pickup":            `{"ready_at":<now>}`,
	"/v1/orders/{order_id}/picked-up":                   `{"picked_up_at":<now>}`,
	"/v1/certify/runs":                                  `{"groups":["calls"]}`,
	"/v1/certify/ack":                                   `{"run_id":"run_of_another","event_ids":["evt_1"],"orders":[{"order_id":"ord_1","status":"processed"}]}`,
	"/v1/sandbox/faults":                                `{"kind":"slow","operation":"reportOrder","calls":1,"delay_ms":1}`,
	"/v1/sandbox/trigger":                               `{"event":"order.accepted","store_id":"sto_north"}`,
	"/v1/sandbox/faults/clear":                          `{}`,
	"/v1/sandbox/orders/{order_id}/act":                 `{"action":"merchant_confirm"}`,
	"/v1/orders/{order_id}/cancel":                      `{"reason":"r","refund":false}`,
	"/v1/orders/{order_id}/refund":                      `{"amount_cents":1,"reason":"r"}`,
	"/v1/checkout/session": `{"store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":1}],"success_url":"https://e.example/s",` +
		`"cancel_url":"https://e.example/c","fulfillment_type":"pickup","delivery_address":{"name":"Ann","email":"a@e.example",` +
		`"phone":"5550100","address":{"line1":"2 Elm St","line2":"b","city":"Albany","state":"NY","postal_code":"12208","country":"US"}},` +
		`"delivery_fee":0,"customer_email":"a@e.example","pickup_instructions":"p","dropoff_instructions":"d","dev":true,"metadata":{"table":"7"},"ready_in_minutes":20}`,
}

const toElmSt = `{"phone":"5550100","address":{"line1":"2 Elm St","line2":"b","city":"Albany","state":"NY","postal_code":"12208","country":"US"}}`

// mayBeEmpty lists the routes that need no body.
var mayBeEmpty = map[string]bool{
	"/v1/orders/{order_id}/confirm": true, "/v1/orders/{order_id}/ready-for-pickup": true, "/v1/orders/{order_id}/picked-up": true, "/v1/orders/{order_id}/cancel": true,
	"/v1/orders/{order_id}/refund": true, "/v1/keys/{key_id}/rotate": true, "/v1/keys/{key_id}/revoke": true,
	"/v1/webhook-endpoints/{endpoint_id}/rotate-secret": true, "/v1/webhook-endpoints/{endpoint_id}/pause": true, "/v1/webhook-endpoints/{endpoint_id}/resume": true,
	"/v1/webhook-endpoints/{endpoint_id}/delete": true, "/v1/sandbox/faults/clear": true, "/v1/certify/runs": true, "/v1/webhook-endpoints/{endpoint_id}/test": true, "/v1/events/{event_id}/resend": true,
}

// wanted is the status of the order that an operation needs. Each partner has such an
// order.
var wanted = map[string]string{
	"/v1/orders/{order_id}/ready-for-pickup": "processed", "/v1/orders/{order_id}/picked-up": "ready_for_pickup",
	"/v1/orders/{order_id}/tracking/stream": "picked_up", // the stream ends at once
}

// good returns a call of the route that succeeds for partner. The name separates the
// orders and keys of calls in one world.
func (w *world) good(t *testing.T, route api.Route, partner, name string) call {
	t.Helper()
	c := call{method: route.Method, key: partner, body: (&memory{clock: w.clock}).moments(sampleOf(route))}
	if route.Method == "POST" {
		c.idem = "sweep " + name
	}
	c.body = strings.Replace(c.body, "web-new", "web-"+name, 1)
	if strings.HasPrefix(route.Path, "/v1/sandbox/") || strings.HasPrefix(route.Path, "/v1/certify/") {
		c.key += "-test"
	}
	id := ""
	if strings.Contains(route.Path, "order_id}") {
		status := wanted[route.Path]
		if status == "" {
			status = "paid"
		}
		words := []string{name, "pickup", "1*prd_roll", "of=" + partner, "ext=seeded-" + name}
		if strings.HasPrefix(route.Path, "/v1/sandbox/") {
			words = append(words, "mode=test")
		}
		if strings.HasSuffix(route.Path, "/refund") {
			id = w.seedPaid(t, words)
		} else {
			id = w.seedOrder(t, slices.Insert(words, 1, status))
		}
	}
	own := "of_another"
	switch may := partner != "no-manage_self"; {
	case strings.Contains(route.Path, "{key_id}") && may:
		own = w.makeKey(t, call{key: partner}, `{"name":"Kiosk","mode":"test","scopes":["manage_self"]}`).Key.ID
	case strings.Contains(route.Path, "{endpoint_id}") && may && partner != "no-read_orders":
		own = w.anEndpoint(t, call{key: partner})
	case strings.Contains(route.Path, "{event_id}") && partner != "no-read_orders":
		if own = w.newEvent(t, partner, name); may && route.Method == "POST" {
			w.anEndpoint(t, call{key: partner})
		}
	}
	if strings.HasPrefix(route.Path, "/v1/certify/") {
		own = w.certification(t, partner, route.Path != "/v1/certify/runs")
		c.body = strings.Replace(c.body, "run_of_another", own, 1)
	}
	if strings.Contains(route.Path, "{request_id}") {
		own = w.loggedRequest(t, partner)
	}
	c.path = strings.NewReplacer("{order_id}", id, "{key_id}", own, "{endpoint_id}", own, "{request_id}", own, "{run_id}", own, "{event_id}", own, "{external_order_id}", "seeded-"+name,
		"{store_id}", "sto_north", "{product_id}", "prd_loaf").Replace(route.Path)
	return c
}

// certification lets a partner be certified: it has an endpoint, and a run if it is to have one, whose id is returned.
func (w *world) certification(t *testing.T, partner string, begun bool) string {
	t.Helper()
	p, err := w.engine.Reader().Partner(t.Context(), partnerID(partner))
	if err != nil {
		t.Fatal(err)
	}
	by := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
	if _, err := w.service.MakeEndpoint(t.Context(), by, service.NewEndpoint{PartnerID: p.ID, URL: "https://certified.example/hooks"}); err != nil {
		t.Fatal(err)
	}
	if row, err := w.engine.Reader().Certification(t.Context(), p.ID); err != nil || row.Running { // of an earlier call
		row.Running = false
		if _, err := commit.Do(t.Context(), w.commit, command.AckCertification{Certification: row}); err != nil {
			t.Fatal(err)
		}
	}
	if !begun {
		return ""
	}
	out, err := w.service.StartCertification(t.Context(), service.Caller{Actor: by, Partner: p}, service.StartCertification{}, service.Once[commerce.Certification]{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.RunID
}

// loggedRequest is the id of a request of a partner.
func (w *world) loggedRequest(t *testing.T, partner string) string {
	t.Helper()
	w.do(t, call{method: "GET", path: "/v1/health", key: partner})
	if err := w.requests.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := w.requests.Page(t.Context(), requestlog.Filter{PartnerID: partnerID(partner), Operation: "getHealth", Limit: 1})
	if err != nil || len(page.Entries) == 0 {
		t.Fatal(page, err)
	}
	return page.Entries[0].ID
}

// sampleOf is the sample of a route; a GET has no body.
func sampleOf(route api.Route) string {
	if route.Method == "GET" {
		return ""
	}
	return samples[route.Path]
}
