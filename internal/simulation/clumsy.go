package simulation

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// mistake is a call that must be refused, or answered without any change, whatever else
// happens (SPEC, Errors; BEHAVIOUR).
type mistake struct {
	request
	by     *partner
	status int
	code   string // or another part of the answer; empty: any
}

// blunder has partners make mistakes now and then.
func (w *world) blunder() {
	for w.goesOn(20*time.Second, 4*time.Minute) {
		if len(w.told) == 0 {
			continue
		}
		s := w.told[w.lot(len(w.told))]
		list := mistakes(s, w.partners[(s.p.n+1)%len(w.partners)])
		m := list[w.lot(len(list))]
		status, answer := m.by.call(m.request)
		if status != m.status || !strings.Contains(answer, m.code) {
			s.broke("%s %s %s was to be answered %d %s, and was answered %d %s", m.method, m.path, m.body, m.status, m.code, status, answer)
		}
		var read struct {
			OK    bool    `json:"ok"`
			Error *string `json:"error"`
			Trace *string `json:"trace_id"`
		}
		if err := decode([]byte(answer), &read); err != nil || read.OK != (status < 300) || (read.Error == nil) != read.OK {
			s.broke("%s %s was answered %d, in the wrong shape: %s", m.method, m.path, status, answer)
		}
	}
}

// mistakes are those that can be made with an order.
func mistakes(s *story, stranger *partner) []mistake {
	get := func(mode commerce.Mode, path string) request {
		return request{mode: mode, method: http.MethodGet, path: path}
	}
	post := func(path, key, body string) request {
		return request{mode: s.mode, method: http.MethodPost, path: path, key: key, body: body}
	}
	order := "/v1/orders/" + s.id
	report := `{"external_order_id": %q, "store_id": %q, "items": [{"product_id": %q, "quantity": 1, "price": 925}], "fulfillment_type": "pickup"}`
	list := []mistake{
		{get(s.mode, order), stranger, http.StatusNotFound, ""},
		{get(s.mode, order+"/tracking"), stranger, http.StatusNotFound, ""},
		{post(order+"/confirm", "", ""), stranger, http.StatusNotFound, ""},
		{get(s.mode, "/v1/orders/ord_unknown"), s.p, http.StatusNotFound, ""},
		{get(s.mode, "/v1/products/prd_unknown"), s.p, http.StatusNotFound, ""},
		{get(s.mode, "/v1/products?limit=0"), s.p, http.StatusBadRequest, ""},
		{post(order+"/cancel", "", `{}`), s.p, http.StatusBadRequest, ""},
		{post("/v1/orders/report", "", fmt.Sprintf(report, "x", storeID(s.store), productID(s.store, s.item))), s.p, http.StatusBadRequest, ""},
		{post("/v1/orders/report", "unknown "+s.name, fmt.Sprintf(report, "unknown "+s.name, storeID(s.store), "prd_unknown")), s.p, http.StatusBadRequest, ""},
		{post("/v1/orders/report", "other store "+s.name, fmt.Sprintf(report, "other store "+s.name, storeID(1-s.store), productID(s.store, s.item))), s.p, http.StatusBadRequest, ""},
		{post("/v1/inventory/adjustments", "too much "+s.name, fmt.Sprintf(`{"adjustments": [{"product_id": %q, "delta": 1}, {"product_id": %q, "delta": -900000000}]}`,
			productID(s.store, s.item), productID(s.store, s.item))), s.p, http.StatusConflict, ""},
	}
	far := strings.Replace(near, inReach, outOfReach, 1)
	list = append(list,
		mistake{post("/v1/delivery/quote", "", fmt.Sprintf(`{"store_id": %q, %s}`, storeID(s.store), far)), s.p, http.StatusBadRequest, "out_of_radius"},
		mistake{post("/v1/checkout/session", "far "+s.name, fmt.Sprintf(`{"store_id": %q, "items": [{"product_id": %q, "quantity": 1}], "success_url": "https://p.example/s", "cancel_url": "https://p.example/c", "fulfillment_type": "delivery", %s}`,
			storeID(s.store), productID(s.store, s.item), far)), s.p, http.StatusBadRequest, "out_of_radius"})
	if s.mode == commerce.Live {
		list = append(list, mistake{get(commerce.Test, order), s.p, http.StatusNotFound, ""})
	}
	if s.delivery {
		list = append(list, mistake{post(order+"/ready-for-pickup", "", ""), s.p, http.StatusConflict, "wrong_fulfillment_type"})
	}
	if s.paidHere {
		return list
	}
	again := strings.Replace(fmt.Sprintf(report, s.name, storeID(s.store), productID(s.store, 0)), `"quantity": 1`, `"quantity": 7`, 1) // no story has so many
	return append(list,
		mistake{get(s.mode, "/v1/orders/by-external/"+strings.ReplaceAll(s.name, " ", "%20")), s.p, http.StatusOK, s.id},
		mistake{post(order+"/refund", "refund "+s.name, `{}`), s.p, http.StatusConflict, ""},
		mistake{post("/v1/orders/report", "again "+s.name, again), s.p, http.StatusConflict, s.id},
		mistake{post("/v1/orders/report", s.name+" 1", again), s.p, http.StatusConflict, "idempotency_key_reused"})
}
