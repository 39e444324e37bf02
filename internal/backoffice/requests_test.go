package backoffice

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/sqlitelog"
	"purveyor/internal/testkit/fixture"
)

// logged logs a request of the shop's partner, of now unless it has a time, and returns its id.
func (o *office) logged(c requestlog.Call) string {
	o.t.Helper()
	if o.office.requests == nil {
		o.office.requests = requestlog.New(env.Env{}, sqlitelog.New(o.t.TempDir()+"/log"), requestlog.Options{})
		o.t.Cleanup(func() { _ = o.office.requests.Close() })
	}
	if c.At.IsZero() {
		c.At = time.Now()
	}
	c.Key = &commerce.APIKey{ID: fixture.KeyID(fixture.PartnerID, commerce.Live), PartnerID: fixture.PartnerID, Mode: commerce.Live}
	c.Method, c.Status, c.TraceID, c.Took = cmp.Or(c.Method, http.MethodPost), cmp.Or(c.Status, 200), cmp.Or(c.TraceID, "0f8a4c2e91d34b7f0f8a4c2e91d34b7f"), 12*time.Millisecond
	o.office.requests.Add(&c)
	if err := o.office.requests.Flush(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	page, err := o.office.requests.Page(o.t.Context(), requestlog.Filter{PartnerID: fixture.PartnerID, TraceID: c.TraceID, Limit: 1})
	if err != nil || len(page.Entries) == 0 {
		o.t.Fatal(page, err)
	}
	return page.Entries[0].ID
}

// TestRequests: the office lists what a partner asked for, by each filter, and shows one request
// with the command that sends it again. The order's story and the partner's page tell of it, too.
func TestRequests(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	id := o.logged(requestlog.Call{Target: "/v1/orders/" + sold.ID + "/cancel", Operation: "cancelOrder", Status: 409, Code: "wrong_status", OrderID: sold.ID, StoreID: fixture.StoreID, Address: "192.0.2.7",
		RequestHeaders: http.Header{"Idempotency-Key": {"it's"}, "Content-Type": {"application/json"}}, RequestBody: requestlog.Body{Text: []byte(`{"reason":"it's late"}`)},
		ResponseBody: requestlog.Body{Text: []byte(`{"ok":false}`)}, ResponseHeaders: http.Header{"Content-Type": {"application/json"}}})
	o.logged(requestlog.Call{Method: http.MethodGet, Target: "/v1/products?limit=3", Operation: "listProducts", TraceID: "b" + strings.Repeat("0", 31)})
	list := partnerAt + "/requests"
	for query, want := range map[string][2]bool{ // the refused one, the list of products
		"": {true, true}, "status=4xx": {true, false}, "status=200,500": {false, true}, "method=GET": {false, true}, "operation=cancelOrder": {true, false}, "code=wrong_status": {true, false},
		"order_id=" + sold.ID: {true, false}, "trace_id=b" + strings.Repeat("0", 31): {false, true}, "mode=test": {false, false}, "key_id=key_x": {false, false},
		"from=" + time.Now().AddDate(0, 0, -2).Format(time.DateOnly): {true, true}, "until=" + time.Now().AddDate(0, 0, -2).Format(time.DateOnly): {false, false},
	} {
		status, body := o.get("boss", list+"?"+query)
		if status != http.StatusOK || strings.Contains(body, "/cancel</code>") != want[0] || strings.Contains(body, "GET /v1/products") != want[1] {
			t.Errorf("%s: %d\n%s", query, status, body)
		}
	}
	for _, query := range []string{"status=many", "from=soon"} {
		if status, body := o.get("boss", list+"?"+query); status != http.StatusBadRequest || !strings.Contains(body, `name="status"`) {
			t.Errorf("%s: %d\n%s", query, status, body)
		}
	}
	_, body := o.get("boss", list+"/"+id)
	body = html.UnescapeString(body)
	shows(t, body, "wrong_status", "it's late", "192.0.2.7", `curl -g 'http://shop.example/v1/orders/`+sold.ID+`/cancel' -X 'POST'`, `-H "x-api-key: $KEY"`, `-H 'idempotency-key: it'\''s'`, `--data-raw '{"reason":"it'\''s late"}'`)
	_, body = o.get("boss", "/office/orders/"+sold.ID)
	shows(t, body, "/cancel answered 409 in 12 ms", list+"/"+id, list+"?trace_id=0f8a")
	_, body = o.get("boss", partnerAt)
	shows(t, body, "The last 24 hours", "2 requests", "50.0 %", "1 refused")
	for _, user := range []string{"manager", "owner"} { // of one store
		if status, body := o.get(user, list); status != http.StatusForbidden || !strings.Contains(body, "read_requests") {
			t.Errorf("%s: %d\n%s", user, status, body)
		}
		for _, path := range []string{partnerAt, "/office/orders/" + sold.ID} {
			if _, body := o.get(user, path); strings.Contains(body, "/requests") || strings.Contains(body, "answered 409") {
				t.Errorf("%s sees requests on %s", user, path)
			}
		}
	}
}

// TestOldRequests: the office sees 28 days, says what was dropped, and pages without a gap.
func TestOldRequests(t *testing.T) {
	o := openOffice(t)
	old := o.logged(requestlog.Call{At: time.Now().Add(-requestsShown - time.Hour), Target: "/v1/old"})
	for i := range 60 {
		o.logged(requestlog.Call{At: time.Now().Add(-time.Duration(i) * time.Minute), Target: fmt.Sprintf("/v1/page/%d.", i), TraceID: fmt.Sprintf("%032d", i)})
	}
	if status, _ := o.get("boss", partnerAt+"/requests/"+old); status != http.StatusNotFound {
		t.Errorf("an old request: %d", status)
	}
	met, path := map[string]bool{}, partnerAt+"/requests"
	for range 3 {
		_, body := o.get("boss", path)
		for i := range 60 {
			if text := fmt.Sprintf("/v1/page/%d.", i); strings.Contains(body, text) {
				met[text] = true
			}
		}
		if strings.Contains(body, "/v1/old") {
			t.Error("an old request is listed")
		}
		_, after, further := strings.Cut(body, `<a href="?before=`)
		if !further {
			break
		}
		before, _, _ := strings.Cut(after, `"`)
		path = partnerAt + "/requests?before=" + url.QueryEscape(before)
	}
	if len(met) != 60 {
		t.Errorf("%d of 60 requests", len(met))
	}
}

// TestNoRequests: an office without a log says so.
func TestNoRequests(t *testing.T) {
	o := openOffice(t)
	if status, body := o.get("boss", partnerAt+"/requests"); status != http.StatusOK || !strings.Contains(body, "keeps no log of requests") {
		t.Errorf("%d\n%s", status, body)
	}
}
