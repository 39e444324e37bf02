package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/requestlog"

	jsonv2 "github.com/go-json-experiment/json"
)

// loggedRequest is a request as the API shows it.
type loggedRequest struct {
	ID           string            `json:"id"`
	Method       string            `json:"method"`
	Path         string            `json:"path"`
	Operation    *string           `json:"operation"`
	Status       int               `json:"status"`
	Code         *string           `json:"code"`
	KeyID        string            `json:"key_id"`
	StoreID      *string           `json:"store_id"`
	TraceID      string            `json:"trace_id"`
	RequestBytes int64             `json:"request_bytes"`
	Headers      map[string]string `json:"request_headers"`
	RequestBody  *string           `json:"request_body"`
	ResponseBody *string           `json:"response_body"`
	Truncated    bool              `json:"truncated"`
}

// logOf lists the requests that a caller sees, oldest first.
func (w *world) logOf(t *testing.T, by call, query string) (list []loggedRequest) {
	t.Helper()
	by.method, by.path = "GET", "/v1/requests?"+query
	var page struct {
		Requests []loggedRequest `json:"requests"`
	}
	a := w.do(t, by)
	if err := jsonv2.Unmarshal(a.body, &page); a.status != http.StatusOK || err != nil {
		t.Fatalf("%d %s, %v", a.status, a.body, err)
	}
	for _, r := range page.Requests {
		list = append([]loggedRequest{r}, list...)
	}
	return list
}

// logged is the one request with a trace id, with its bodies.
func (w *world) logged(t *testing.T, by call, trace string) loggedRequest {
	t.Helper()
	list := w.logOf(t, by, "trace_id="+trace)
	if len(list) != 1 {
		t.Fatalf("%d requests with the trace id %s: %+v", len(list), trace, list)
	}
	var one struct {
		Request loggedRequest `json:"request"`
	}
	by.method, by.path = "GET", "/v1/requests/"+list[0].ID
	a := w.do(t, by)
	if err := jsonv2.Unmarshal(a.body, &one); a.status != http.StatusOK || err != nil {
		t.Fatalf("%d %s, %v", a.status, a.body, err)
	}
	return one.Request
}

func traced(c call, trace string) call {
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header = c.header.Clone()
	c.header["X-Trace-Id"] = []string{trace}
	return c
}

func text(p *string) string {
	if p == nil {
		return "null"
	}
	return *p
}

// A key that is restricted to stores sees the requests about them and about none, and the
// bodies of its own alone.
func TestRequestsOfStores(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := call{key: "live"}
		north := as(w.makeKey(t, live, `{"name":"North","mode":"live","store_ids":["sto_north"]}`).Value, "", "", "")
		weak := as(w.makeKey(t, live, `{"name":"No orders","mode":"live","scopes":["manage_self"]}`).Value, "", "", "")
		for trace, c := range map[string]call{
			"live-north": {key: "live", method: "POST", path: "/v1/products/availability", body: `{"store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":1}]}`},
			"live-south": {key: "live", method: "POST", path: "/v1/products/availability", body: `{"store_id":"sto_south","items":[{"product_id":"prd_south_loaf","quantity":1}]}`},
			"live-query": {key: "live", method: "GET", path: "/v1/products?limit=1&store_id=sto_south"},
			"live-path":  {key: "live", method: "GET", path: "/v1/stores/sto_south/categories"},
			"live-none":  {key: "live", method: "GET", path: "/v1/stores"},
			"own-north":  {header: north.header, method: "POST", path: "/v1/products/availability", body: `{"store_id":"sto_north","items":[{"product_id":"prd_loaf","quantity":2}]}`},
			"own-south":  {header: north.header, method: "POST", path: "/v1/products/availability", body: `{"store_id":"sto_south","items":[{"product_id":"prd_south_loaf","quantity":2}]}`},
		} {
			w.do(t, traced(c, trace))
		}
		for trace, sees := range map[string]bool{"live-north": true, "live-south": false, "live-query": false, "live-path": false, "live-none": true, "own-north": true, "own-south": true} {
			if got := len(w.logOf(t, north, "trace_id="+trace)); (got == 1) != sees {
				t.Errorf("the key of a store sees %d requests %s", got, trace)
			}
			if got := len(w.logOf(t, live, "trace_id="+trace)); got != 1 {
				t.Errorf("the key of all stores sees %d requests %s", got, trace)
			}
		}
		if r := w.logged(t, north, "live-north"); r.RequestBody != nil || r.ResponseBody != nil || text(r.StoreID) != "sto_north" {
			t.Errorf("the key of a store sees the bodies of another key: %+v", r)
		}
		if r := w.logged(t, north, "own-north"); r.RequestBody == nil || r.ResponseBody == nil {
			t.Errorf("the key of a store does not see its own bodies: %+v", r)
		}
		if r := w.logged(t, live, "own-north"); r.RequestBody == nil || r.ResponseBody == nil {
			t.Errorf("the key of all stores does not see the bodies: %+v", r)
		}
		hidden := w.logged(t, live, "live-south").ID
		for _, path := range []string{"/v1/requests/" + hidden, "/v1/requests/req_", "/v1/requests/" + hidden[:len(hidden)-1] + "z", "/v1/requests/%00"} {
			by := north
			by.method, by.path = "GET", path
			if a := w.do(t, by); a.status != http.StatusNotFound {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		for _, path := range []string{"/v1/requests", "/v1/requests/" + hidden} {
			by := weak
			by.method, by.path = "GET", path
			if a := w.do(t, by); a.status != http.StatusForbidden || a.code() != "scope_missing" {
				t.Errorf("a key that may not read orders reads %s: %d %s", path, a.status, a.body)
			}
		}
	})
}

// Whatever a body is, its request is in the log, and what is kept of it is JSON without secrets.
func TestHostileBodies(t *testing.T) {
	deep := strings.Repeat(`[`, 20_000)
	for name, c := range map[string]struct{ body, kept string }{
		"binary":    {"\x00\x01\xff\xfe PNG", "null"},
		"half":      {`{"external_order_id": "sk_live_abc`, "null"},
		"text":      {`secret=sk_live_abc`, "null"},
		"deep":      {deep, "null"},
		"closed":    {deep + strings.Repeat(`]`, 20_000), "null"},
		"not utf8":  {"{\"a\":\"\xff\"}", "null"},
		"twice":     {`{"secret":"one","secret":"two","email":"a@e.example","email":["b@e.example"]}`, `{"secret":"[redacted]","secret":"[redacted]","email":"[redacted]","email":"[redacted]"}`},
		"escaped":   {`{"s\u0065cret":"one","a":"\u0073k_test_two","4242\u0034242\u00342424242":1}`, `{"secret":"[redacted]","a":"[redacted]","[redacted]":1}`},
		"a string":  {`"whsec_abc"`, `"[redacted]"`},
		"a number":  {`4242424242424242`, `"[redacted]"`},
		"too large": {`{"a":"` + strings.Repeat("x", 300<<10) + `"}`, "null"},
		"long":      {`{"a":"` + strings.Repeat("x", 100<<10) + `","secret":"y"}`, `{"a":"` + strings.Repeat("x", requestlog.BodyRoom-6)},
	} {
		trace := strings.ReplaceAll(name, " ", "-")
		t.Run(trace, func(t *testing.T) {
			onEveryEngine(t, func(t *testing.T, w *world) {
				a := w.do(t, traced(call{key: "live", method: "POST", path: "/v1/orders/report", idem: "k", body: c.body, lenient: true}, trace))
				if a.status != http.StatusBadRequest {
					t.Fatalf("%d %s", a.status, a.body)
				}
				r := w.logged(t, call{key: "live"}, trace)
				if text(r.RequestBody) != c.kept || r.RequestBytes != int64(len(c.body)) || r.Truncated != (c.kept == "null" || name == "long") || r.ResponseBody == nil {
					t.Errorf("kept is %.200s of %d bytes, truncated %v, answer %v", text(r.RequestBody), r.RequestBytes, r.Truncated, r.ResponseBody)
				}
				w.noSecrets(t, "sk_live_abc", "sk_test_two", "whsec_abc", "4242424242424242", "a@e.example", "b@e.example")
			})
		})
	}
}

// noSecrets fails if the log holds one of the texts.
func (w *world) noSecrets(t *testing.T, secrets ...string) {
	t.Helper()
	ctx := context.Background()
	if err := w.requests.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	days, err := w.logStore.Days(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, day := range days {
		chunks, err := w.logStore.Chunks(ctx, requestlog.Query{Day: day, PartnerID: partnerID("live"), Before: requestlog.Place{Last: 1 << 50}, Until: 1 << 50, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			n += int(c.Count)
			for _, secret := range secrets {
				if bytes.Contains(c.Rows, []byte(secret)) {
					t.Errorf("the log holds %s", secret)
				}
			}
		}
	}
	if n == 0 {
		t.Error("the log is empty")
	}
}

// Secrets in paths, queries and headers are not kept.
func TestSecretsInRequests(t *testing.T) {
	const key, secret, card = "sk_live_abcdefghijklmnopqrstuvwxyz234567", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "4242424242424242"
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		header := http.Header{"User-Agent": {"till " + key}, "Idempotency-Key": {card}, "Cookie": {"a=" + secret}, "Authorization": {"Bearer " + secret}, "Content-Language": {secret}}
		for i, path := range []string{"/v1/orders/" + key, "/v1/orders/by-external/" + card, "/v1/orders/sk%5Flive%5Fabcdefghijklmnopqrstuvwxyz234567/ping", "/v1/nowhere/" + secret,
			"/v1/products?store_id=" + key, "/v1/products?store_id=sk%5flive_abcdefghijklmnopqrstuvwxyz234567", "/v1/products?email=jo%40e.example&token=tttt&a=https://u:pppp@e.example",
			"/v1/requests?trace_id=" + card, "/v1/stores/" + secret + "/categories", "/v1/products?" + key + "&%zz=" + secret} {
			w.do(t, call{key: "live", method: "GET", path: path, header: header, lenient: true})
			w.do(t, call{key: "live", method: "POST", path: path, header: header, body: `{"a":"` + key + `"}`, lenient: true})
			w.do(t, traced(call{key: "live", method: "GET", path: path, lenient: true}, fmt.Sprint(key, " ", i)))
		}
		if made := w.makeKey(t, call{key: "live"}, `{"name":"Kiosk `+card+`","mode":"test"}`); made.Value != "" {
			w.noSecrets(t, made.Value, key, secret, card, "%5Flive", "%5flive", "jo%40", "jo@", "tttt", "pppp", keyOf("live", "live"))
		}
	})
}

// A body of 100 MiB is refused, and logged without its text.
func TestHugeBody(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		const size = 100 << 20
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+"/v1/orders/report", io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		key, _ := keyValue("live")
		r.Header["X-Api-Key"], r.Header["X-Trace-Id"], r.Header["Idempotency-Key"] = []string{key}, []string{"huge"}, []string{"k"}
		r.ContentLength = size
		if res, err := w.client.Do(r); err == nil { // else the connection was closed while it was being sent
			res.Body.Close()
		}
		logged := w.logged(t, call{key: "live"}, "huge")
		if logged.Status != http.StatusBadRequest || logged.RequestBytes != size || logged.RequestBody != nil || !logged.Truncated {
			t.Errorf("%+v", logged)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// Of requests beyond the limit ten a minute are logged. All of them are counted.
func TestLimitedRequests(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for range 3 + 25 { // three pass
			w.do(t, call{key: "slow", method: "GET", path: "/v1/health"})
		}
		w.do(t, call{key: "slow-test", method: "GET", path: "/v1/health"})
		if err := w.requests.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := w.requests.Page(t.Context(), requestlog.Filter{PartnerID: partnerID("slow"), Limit: 100})
		if err != nil || len(page.Entries) != 3+10+1 {
			t.Errorf("%d requests are logged, %v", len(page.Entries), err)
		}
		counts, err := w.requests.Counts(t.Context(), partnerID("slow"), 0)
		if err != nil || len(counts) != 2 || counts[0].Requests != 28 || counts[0].Limited != 25 || counts[1].Requests != 1 || counts[1].Limited != 0 {
			t.Errorf("counted are %+v, %v", counts, err)
		}
	})
}

// What no route serves, what a key may not do, HEAD and streams are logged, too.
func TestOddRequests(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		order := w.seedOrder(t, []string{"a", "picked_up", "pickup", "1*prd_loaf", "of=live"})
		elsewhere := w.makeKey(t, call{key: "live"}, `{"name":"Elsewhere","mode":"live","allowed_addresses":["192.0.2.0/24"]}`)
		for trace, c := range map[string]call{
			"put":     {key: "live", method: "PUT", path: "/v1/stores", lenient: true},
			"head":    {key: "live", method: "HEAD", path: "/v1/stores"},
			"stream":  {key: "live", method: "GET", path: "/v1/orders/" + order + "/tracking/stream"},
			"address": as(elsewhere.Value, "GET", "/v1/stores", ""),
			"scope":   {key: "no-read_stores", method: "GET", path: "/v1/stores"},
			"slashes": {key: "live", method: "GET", path: "/v1//stores", lenient: true},
		} {
			w.do(t, traced(c, trace))
		}
		for trace, want := range map[string]string{"put": "PUT null 405 method_not_allowed", "head": "HEAD listStores 200 null", "stream": "GET streamOrderTracking 200 null",
			"address": "GET listStores 403 address_not_allowed", "slashes": "GET null 404 not_found"} {
			r := w.logged(t, call{key: "live"}, trace)
			if got := fmt.Sprint(r.Method, " ", text(r.Operation), " ", r.Status, " ", text(r.Code)); got != want {
				t.Errorf("%s: %s, want %s", trace, got, want)
			}
			if (r.ResponseBody != nil) != (r.Status >= 300) {
				t.Errorf("%s: the body of the answer is %v", trace, r.ResponseBody)
			}
		}
		if list := w.logOf(t, call{key: "no-read_stores"}, "code=scope_missing"); len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
}

// A service without a log says that there is none.
func TestNoRequestLog(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.api = api.New(w.engine.Reader(), w.engine, w.service, api.Options{Now: w.clock.Now}).Handler()
		for _, path := range []string{"/v1/requests", "/v1/requests/req_06eay4zfgb8ebbxq4t0h3rkcr8"} {
			if a := w.do(t, call{key: "live", method: "GET", path: path}); a.status != http.StatusNotFound {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
	})
}
