package portal

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/testkit/fixture"
)

// call is a request of test mode as it is logged.
func call(method, target, body string) requestlog.Call {
	kept, _ := requestlog.AppendBody(nil, []byte(body), true)
	return requestlog.Call{Method: method, Target: target, RequestBytes: int64(len(body)), RequestBody: kept}
}

// report is the body of an order that is reported.
func report(externalID string) string {
	return fmt.Sprintf(`{"external_order_id":%q,"store_id":%q,"fulfillment_type":"pickup","items":[{"product_id":%q,"quantity":1,"price":700}]}`, externalID, fixture.StoreID, fixture.ProductID(0))
}

// TestRepeat: a request of test mode is sent again in the name of the member, with what a new test key may do. A form that is
// sent twice does it once.
func TestRepeat(t *testing.T) {
	s := open(t)
	admin, reader := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin), s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	path := "/portal/requests/" + s.logged(fixture.PartnerID, call(post, "/v1/orders/report", report("once")))
	_, page := admin.get(path)
	shows(t, page, "Send it again in test mode", `action="`+path+`/repeat"`)
	if _, page := reader.get(path); strings.Contains(page, "Send it again") {
		t.Errorf("a member that only reads gets a button:\n%s", page)
	}
	for range 2 {
		status, page := admin.post(path+"/repeat", "key", "form")
		if status != http.StatusOK {
			t.Fatal(status, page)
		}
		shows(t, page, "201", "&#34;order_id&#34;", "/v1/orders/report")
	}
	_, page = admin.post(path+"/repeat", "key", "another form")
	shows(t, page, "409", "external_order_id_taken")
	made := s.ordersOf()
	if len(made) != 1 {
		t.Fatal(made)
	}
	if o := s.order(made[0]); o.Mode != commerce.Test || o.PartnerID != fixture.PartnerID || o.ExternalID != "once" {
		t.Errorf("%+v", o)
	}
	timeline, err := s.Reader.Timeline(t.Context(), s.order(made[0]).Key(), 10)
	if err != nil || len(timeline) == 0 || !strings.HasPrefix(timeline[0].Actor, "member:"+commerce.PrefixMember) {
		t.Errorf("%+v, %v", timeline, err)
	}
	if err := s.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, page = admin.get("/portal/requests?operation=reportOrder")
	if n := strings.Count(page, "ann@p.example"); n < 3 {
		t.Errorf("the log names the member %d times:\n%s", n, page)
	}
	live := s.Report(0, 1)
	sold := fixture.Do(s.Shop, live)
	for target, want := range map[string][]string{"/v1/products?limit=1": {"200", "products"}, "/v1/orders/" + made[0]: {"200", made[0]}, "/v1/orders/" + sold.ID: {"404", "not_found"},
		"/v1/keys": {"403", "scope_missing"}, "/v1/webhook-endpoints": {"403", "scope_missing"}, "/v1/nothing": {"404", "There is no such path"}, "/portal/keys": {"404"}, "//evil.example/v1/stores": {"404"}} {
		status, page := admin.post("/portal/requests/"+s.logged(fixture.PartnerID, call(get, target, ""))+"/repeat", "key", "get")
		if status != http.StatusOK {
			t.Errorf("%s: %d\n%s", target, status, page)
		}
		shows(t, page, want...)
	}
	for target, body := range map[string]string{"/v1/products/upsert": `{}`, "/v1/inventory/adjustments": `{}`, "/v1/keys": `{"name":"x","mode":"live"}`} {
		_, page := admin.post("/portal/requests/"+s.logged(fixture.PartnerID, call(post, target, body))+"/repeat", "key", "post")
		shows(t, page, "403", "scope_missing")
	}
}

// TestNotRepeatable: what was made in live mode, is not kept whole, or does not end by itself, is not sent again.
func TestNotRepeatable(t *testing.T) {
	s := open(t)
	if !slices.Contains(s.api.Operations(), endless) {
		t.Errorf("there is no operation %s", endless)
	}
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	whole := call(post, "/v1/orders/report", report("none"))
	live, cut, gone, secret, stream, deleted := whole, whole, whole, call(post, "/v1/webhook-endpoints", `{"url":"https://p.example","secret":"a-secret-of-16-and-more"}`), call(get, "/v1/orders/x/tracking/stream", ""), call(http.MethodHead, "/v1/stores", "")
	live.Key = keyOf(fixture.PartnerID, commerce.Live)
	cut.RequestBody.Cut = true
	gone.RequestBody = requestlog.Body{}
	stream.Operation = endless
	for name, c := range map[string]requestlog.Call{"live": live, "cut": cut, "gone": gone, "secret": secret, "stream": stream, "another method": deleted} {
		path := "/portal/requests/" + s.logged(fixture.PartnerID, c)
		if _, page := admin.get(path); strings.Contains(page, "Send it again") {
			t.Errorf("%s: there is a button", name)
		}
		if status, page := admin.post(path+"/repeat", "key", name); status != http.StatusConflict || !strings.Contains(page, "kept whole") {
			t.Errorf("%s: %d\n%s", name, status, page)
		}
	}
	if made := s.ordersOf(); len(made) != 0 {
		t.Error(made)
	}
}
