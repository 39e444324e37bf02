package backoffice

import (
	"testing"

	"purveyor/internal/requestlog"
	"purveyor/internal/testkit/fixture"
)

// TestRequestPages looks at the pages of requests.
func TestRequestPages(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	o.logged(requestlog.Call{Method: "GET", Target: "/v1/products?limit=3&category=bread", Operation: "listProducts"})
	id := o.logged(requestlog.Call{Target: "/v1/orders/" + sold.ID + "/cancel", Operation: "cancelOrder", Status: 409, Code: "wrong_status", OrderID: sold.ID, StoreID: fixture.StoreID, Address: "192.0.2.7",
		RequestHeaders: map[string][]string{"Content-Type": {"application/json"}, "User-Agent": {"shop/1.2 (a rather long name of a program, as some have)"}}, RequestBody: requestlog.Body{Text: []byte(`{"reason":"late","lines":[{"product_id":"prd_0000000000000000000","quantity":2}]}`)}})
	fitting(t, o.serving("boss").URL, "requests", map[string]string{"list": partnerAt + "/requests", "one": partnerAt + "/requests/" + id, "partner": partnerAt, "story": "/office/orders/" + sold.ID})
}
