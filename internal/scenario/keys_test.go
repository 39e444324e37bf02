package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// issuedKey is the answer that shows a key.
type issuedKey struct {
	Key      keyAnswer  `json:"key"`
	Previous *keyAnswer `json:"previous"`
	Value    string     `json:"value"`
}

type keyAnswer struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	State    string   `json:"state"`
	Last4    *string  `json:"last4"`
	Scopes   []string `json:"scopes"`
	StoreIDs []string `json:"store_ids"`
	UsedOn   *int64   `json:"last_used_on"`
	Replaces *string  `json:"replaces"`
}

// as is a call with a key that was issued in the test.
func as(value, method, path, body string) call {
	return call{method: method, path: path, body: body, header: http.Header{"X-Api-Key": {value}}}
}

// makeKey makes a key by a caller's key.
func (w *world) makeKey(t *testing.T, by call, body string) (made issuedKey) {
	t.Helper()
	by.method, by.path, by.body = "POST", "/v1/keys", body
	return w.issued(t, by)
}

func (w *world) issued(t *testing.T, c call) (made issuedKey) {
	t.Helper()
	a := w.do(t, c)
	if err := jsonv2.Unmarshal(a.body, &made); a.status != http.StatusCreated || err != nil || made.Value == "" {
		t.Fatalf("%s %s: %d %s, %v", c.path, c.body, a.status, a.body, err)
	}
	return made
}

func (w *world) keysOf(t *testing.T, by call) (keys map[string]keyAnswer) {
	t.Helper()
	by.method, by.path = "GET", "/v1/keys"
	var list struct {
		Keys []keyAnswer `json:"keys"`
	}
	a := w.do(t, by)
	if err := jsonv2.Unmarshal(a.body, &list); a.status != http.StatusOK || err != nil {
		t.Fatalf("%d %s, %v", a.status, a.body, err)
	}
	keys = map[string]keyAnswer{}
	for _, k := range list.Keys {
		keys[k.ID] = k
	}
	return keys
}

// A partner makes a key for each of its programs, uses it, replaces it with an overlap, and
// revokes it.
func TestKeysOfAPartner(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := call{key: "live"}
		made := w.makeKey(t, live, `{"name":"Stores only","mode":"live","scopes":["read_stores"],"store_ids":["sto_north"]}`)
		if made.Key.State != "active" || made.Key.Last4 == nil || !strings.HasSuffix(made.Value, *made.Key.Last4) || !strings.HasPrefix(made.Value, "sk_live_") {
			t.Errorf("%+v", made)
		}
		if a := w.do(t, as(made.Value, "GET", "/v1/stores", "")); a.status != 200 || !strings.Contains(string(a.body), "sto_north") || strings.Contains(string(a.body), "sto_south") {
			t.Errorf("%d %s", a.status, a.body)
		}
		w.refuses(t, as(made.Value, "GET", "/v1/products", ""), 403, "scope_missing")
		w.refuses(t, as(made.Value, "GET", "/v1/keys", ""), 403, "scope_missing")
		seller := w.makeKey(t, live, `{"name":"Seller","mode":"live","store_ids":["sto_south"]}`)
		report := strings.Replace(samples["/v1/orders/report"], "web-new", "web-of-a-key", 1)
		c := as(seller.Value, "POST", "/v1/orders/report", report)
		c.idem = "report"
		w.refuses(t, c, 403, "store_not_allowed")

		rotated := w.issued(t, with(live, func(c *call) {
			c.method, c.path, c.body = "POST", "/v1/keys/"+made.Key.ID+"/rotate", `{"overlap_hours":1}`
		}))
		if rotated.Key.Replaces == nil || *rotated.Key.Replaces != made.Key.ID || rotated.Previous.State != "active" || fmt.Sprint(rotated.Key.Scopes, rotated.Key.StoreIDs) != "[read_stores] [sto_north]" {
			t.Errorf("%+v", rotated)
		}
		for _, value := range []string{made.Value, rotated.Value} {
			if a := w.do(t, as(value, "GET", "/v1/health", "")); a.status != 200 || !strings.Contains(string(a.body), `"name":"Stores only"`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		w.refuses(t, with(live, func(c *call) { c.method, c.path = "POST", "/v1/keys/"+made.Key.ID+"/rotate" }), 409, "wrong_status")
		w.clock.move(61 * time.Minute)
		w.refuses(t, as(made.Value, "GET", "/v1/health", ""), 401, "unauthorized")
		for range 2 { // it may be repeated
			if a := w.do(t, with(live, func(c *call) { c.method, c.path = "POST", "/v1/keys/"+rotated.Key.ID+"/revoke" })); a.status != 200 || !strings.Contains(string(a.body), `"state":"revoked"`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		w.clock.move(3 * time.Second)
		w.refuses(t, as(rotated.Value, "GET", "/v1/health", ""), 401, "unauthorized")
		w.refuses(t, with(live, func(c *call) { c.method, c.path = "POST", "/v1/keys/"+rotated.Key.ID+"/rotate" }), 409, "wrong_status")
		keys := w.keysOf(t, live)
		if keys[made.Key.ID].State != "expired" || keys[rotated.Key.ID].State != "revoked" || keys["key_live_live"].UsedOn == nil || *keys["key_live_live"].UsedOn%60_000 != 0 {
			t.Errorf("%+v", keys)
		}
	})
}

// What a key must not do: grant more than it has, reach what is not its own, end itself.
func TestKeysDoNotEscalate(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		refused := func(value, path, body string, status int, code, field string) {
			t.Helper()
			if a := w.refuses(t, with(as(value, "POST", path, body), func(c *call) { c.lenient = true }), status, code); a.error().Field != field {
				t.Errorf("%s: field %q, want %q", body, a.error().Field, field)
			}
		}
		live := call{key: "live"}
		narrow := w.makeKey(t, live, `{"name":"Narrow","mode":"live","scopes":["manage_self","read_orders"],"store_ids":["sto_north"],"expires_on":1800000000000,"allowed_addresses":["127.0.0.0/8","::1"]}`)
		test := w.makeKey(t, live, `{"name":"Test","mode":"test"}`)
		whole := w.keysOf(t, live)["key_live_live"]
		for _, c := range []struct{ body, code, field string }{
			{`{"name":"x","mode":"live","scopes":["write_orders"],"store_ids":["sto_north"]}`, "scope_missing", ""},
			{`{"name":"x","mode":"live","scopes":["*"],"store_ids":["sto_north"]}`, "scope_missing", ""},
			{`{"name":"x","mode":"live","store_ids":["sto_south"]}`, "store_not_allowed", ""},
			{`{"name":"x","mode":"live"}`, "store_not_allowed", ""},
		} {
			refused(narrow.Value, "/v1/keys", c.body, 403, c.code, c.field)
		}
		for _, c := range []struct{ body, field string }{
			{`{"name":"x","mode":"live","store_ids":["sto_north"],"allowed_addresses":["127.0.0.1"]}`, "expires_on"},
			{`{"name":"x","mode":"live","store_ids":["sto_north"],"allowed_addresses":["127.0.0.1"],"expires_on":1800000000001}`, "expires_on"},
			{`{"name":"x","mode":"live","store_ids":["sto_north"],"expires_on":1800000000000}`, "allowed_addresses"},
			{`{"name":"x","mode":"live","store_ids":["sto_north"],"expires_on":1800000000000,"allowed_addresses":["0.0.0.0/0"]}`, "allowed_addresses"},
		} {
			refused(narrow.Value, "/v1/keys", c.body, 400, "invalid_body", c.field)
		}
		for _, of := range []string{whole.ID, "key_live_test"} { // keys with more rights
			refused(narrow.Value, "/v1/keys/"+of+"/rotate", "", 403, "scope_missing", "")
			refused(narrow.Value, "/v1/keys/"+of+"/revoke", "", 403, "scope_missing", "")
		}
		refused(test.Value, "/v1/keys", `{"name":"x","mode":"live","scopes":["read_orders"]}`, 403, "mode_not_allowed", "")
		refused(test.Value, "/v1/keys", `{"name":"x","mode":"test","scopes":["write_products"]}`, 403, "scope_missing", "") // which a test key does not get by default
		refused(test.Value, "/v1/keys/"+whole.ID+"/revoke", "", 404, "not_found", "")
		refused(test.Value, "/v1/keys/"+test.Key.ID+"/revoke", "", 409, "own_key", "")
		refused(keyOf("other", "live"), "/v1/keys/"+whole.ID+"/revoke", "", 404, "not_found", "")
		refused(keyOf("other", "live"), "/v1/keys/"+whole.ID+"/rotate", "", 404, "not_found", "")
		for id, k := range w.keysOf(t, as(test.Value, "", "", "")) {
			if strings.HasSuffix(id, "_live") || k.Name == "Narrow" {
				t.Errorf("a test key sees %s", id)
			}
		}
		if len(w.keysOf(t, call{key: "other"})) != 2 {
			t.Error("another partner sees more than its own keys")
		}
		w.clock.move(time.Duration(1800000000000-w.clock.Now().UnixMilli()) * time.Millisecond)
		w.refuses(t, as(narrow.Value, "GET", "/v1/health", ""), 401, "unauthorized")
	})
}

// Bounds of a new key, an address that is not allowed, and an eleventh key.
func TestKeysAreBounded(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for _, c := range []struct{ body, field string }{
			{`{"mode":"live"}`, "name"}, {`{"name":"","mode":"live"}`, "name"}, {`{"name":"` + strings.Repeat("x", 81) + `","mode":"live"}`, "name"},
			{`{"name":"x"}`, "mode"}, {`{"name":"x","mode":"both"}`, "mode"}, {`{"name":"x","mode":"live","scopes":[]}`, "scopes"},
			{`{"name":"x","mode":"live","scopes":["read_all"]}`, "scopes[0]"}, {`{"name":"x","mode":"live","store_ids":["sto_none"]}`, "store_ids[0]"},
			{`{"name":"x","mode":"live","expires_on":1}`, "expires_on"}, {`{"name":"x","mode":"live","expires_on":9007199254740991}`, "expires_on"},
			{`{"name":"x","mode":"live","allowed_addresses":["somewhere"]}`, "allowed_addresses[0]"},
			{`{"name":"x","mode":"live","allowed_addresses":["` + strings.Repeat(`10.0.0.1","`, 20) + `10.0.0.2"]}`, "allowed_addresses"},
		} {
			a := w.refuses(t, call{method: "POST", path: "/v1/keys", key: "live", body: c.body, lenient: true}, 400, "invalid_body")
			if a.error().Field != c.field {
				t.Errorf("%s: field %q, want %q", c.body, a.error().Field, c.field)
			}
		}
		for _, hours := range []string{"-1", "169", "1.5"} {
			w.refuses(t, call{method: "POST", path: "/v1/keys/key_live_live/rotate", key: "live", body: `{"overlap_hours":` + hours + `}`}, 400, "invalid_body")
		}
		far := w.makeKey(t, call{key: "live"}, `{"name":"Elsewhere","mode":"live","allowed_addresses":["192.0.2.0/24"]}`)
		w.refuses(t, as(far.Value, "GET", "/v1/health", ""), 403, "address_not_allowed")
		for i := range 8 {
			w.makeKey(t, call{key: "live"}, fmt.Sprintf(`{"name":"Key %d","mode":"live"}`, i))
		}
		w.refuses(t, call{method: "POST", path: "/v1/keys", key: "live", body: `{"name":"One too many","mode":"live"}`}, 409, "limit_reached")
		w.makeKey(t, call{key: "live"}, `{"name":"Of the other mode","mode":"test"}`)
	})
}

// Makers of keys that call at once never make more than ten.
func TestKeysMadeAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		var made, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				a, err := w.exchange(call{method: "POST", path: "/v1/keys", key: "live", body: fmt.Sprintf(`{"name":"%d","mode":"live"}`, i)})
				switch {
				case err == nil && a.status == http.StatusCreated:
					made.Add(1)
				case err == nil && a.code() == "limit_reached":
					refused.Add(1)
				default:
					t.Errorf("%v %s", err, a.body)
				}
			})
		}
		all.Wait()
		active := 0
		for _, k := range w.keysOf(t, call{key: "live"}) {
			if k.State == "active" && k.Name != "test key" {
				active++
			}
		}
		if made.Load() != 9 || refused.Load() != 7 || active != 10 { // the partner has one already
			t.Errorf("%d were made and %d refused; %d are active", made.Load(), refused.Load(), active)
		}
	})
}
