package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/check"

	jsonv2 "github.com/go-json-experiment/json"
)

type madeEndpoint struct {
	Endpoint endpointAnswer `json:"endpoint"`
	Secret   string         `json:"secret"`
}

type endpointAnswer struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Events    []string `json:"events"`
	Mode      string   `json:"mode"`
	StoreIDs  []string `json:"store_ids"`
	Primary   bool     `json:"primary"`
	State     string   `json:"state"`
	PausedFor *string  `json:"paused_for"`
}

const endpointsPath = "/v1/webhook-endpoints"

func (w *world) makeEndpoint(t *testing.T, by call, body string) (made madeEndpoint) {
	t.Helper()
	by.method, by.path, by.body = "POST", endpointsPath, body
	a := w.do(t, by)
	if err := jsonv2.Unmarshal(a.body, &made); a.status != http.StatusCreated || err != nil || made.Secret == "" {
		t.Fatalf("%s: %d %s, %v", body, a.status, a.body, err)
	}
	return made
}

// anEndpoint is the id of an endpoint: a new one, unless the partner has many.
func (w *world) anEndpoint(t *testing.T, by call) string {
	t.Helper()
	if list := w.endpointsOf(t, by); len(list) > 9 {
		return list[0].ID
	}
	return w.makeEndpoint(t, by, `{"url":"https://kiosk.example/hooks"}`).Endpoint.ID
}

func (w *world) endpointsOf(t *testing.T, by call) []endpointAnswer {
	t.Helper()
	by.method, by.path = "GET", endpointsPath
	var list struct {
		Endpoints []endpointAnswer `json:"endpoints"`
	}
	a := w.do(t, by)
	if err := jsonv2.Unmarshal(a.body, &list); a.status != http.StatusOK || err != nil {
		t.Fatalf("%d %s, %v", a.status, a.body, err)
	}
	return list.Endpoints
}

// newEvent is the id of an event of a new order of the partner.
func (w *world) newEvent(t *testing.T, partner, name string) string {
	t.Helper()
	if partner == "no-write_orders" { // it has events of orders that were seeded
		w.seedOrder(t, []string{"event-" + name, "processed", "pickup", "1*prd_roll", "of=" + partner, "ext=event-" + name})
	} else if a := w.do(t, call{method: "POST", path: "/v1/orders/report", key: partner, idem: "event " + name,
		body: strings.Replace(samples["/v1/orders/report"], "web-new", "web-event-"+name, 1)}); a.status >= 300 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var list struct {
		Events []struct {
			ID string `json:"id"`
		} `json:"events"`
	}
	if a := w.do(t, call{method: "GET", path: "/v1/events?limit=300", key: partner}); jsonv2.Unmarshal(a.body, &list) != nil || len(list.Events) == 0 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return list.Events[len(list.Events)-1].ID
}

// A partner keeps endpoints of its own: it makes one, changes it, pauses and resumes it, and
// deletes it.
func TestEndpointsOfAPartner(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := call{key: "live"}
		made := w.makeEndpoint(t, live, `{"url":"https://kiosk.example/hooks"}`)
		if e := made.Endpoint; fmt.Sprintf("%v %s %v %v %s", e.Events, e.Mode, e.StoreIDs, e.Primary, e.State) != "[*] both [] false active" || !strings.HasPrefix(made.Secret, "whsec_") {
			t.Errorf("%+v", made)
		}
		at := endpointsPath + "/" + made.Endpoint.ID
		act := func(path, body string) *answer {
			return w.do(t, call{method: "POST", path: path, key: "live", body: body})
		}
		if a := act(at, `{"events":["order.paid","*","order.paid"],"mode":"live","store_ids":["sto_north"]}`); !strings.Contains(string(a.body), `"events":["order.paid","*"],"mode":"live","store_ids":["sto_north"]`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := act(at, `{"url":"https://kiosk.example/other"}`); !strings.Contains(string(a.body), `"url":"https://kiosk.example/other","description":"","events":["order.paid","*"],"mode":"live","store_ids":["sto_north"]`) {
			t.Errorf("absent fields change: %d %s", a.status, a.body)
		}
		for range 2 {
			if a := act(at+"/pause", ""); !strings.Contains(string(a.body), `"state":"paused","paused_for":"partner"`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		event := w.newEvent(t, "live", "paused")
		for path, body := range map[string]string{at + "/test": "", at + "/replay": `{"since":0}`, "/v1/events/" + event + "/resend": `{"endpoint_id":"` + made.Endpoint.ID + `"}`} {
			w.refuses(t, call{method: "POST", path: path, key: "live", body: body}, http.StatusConflict, "endpoint_paused")
		}
		if a := w.do(t, call{method: "GET", path: "/v1/events/" + event, key: "live"}); !strings.Contains(string(a.body), `"deliveries":[{"endpoint_id":"`+made.Endpoint.ID+`","state":"held","attempts":0`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		for range 2 {
			if a := act(at+"/resume", ""); a.status != 200 || strings.Contains(string(a.body), `"paused"`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if a := act(at+"/replay", `{"since":0,"only":"all","events":["order.accepted"]}`); !strings.Contains(string(a.body), `"queued":`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := act(at+"/rotate-secret", `{"overlap_hours":0,"secret":"a secret of their own"}`); !strings.Contains(string(a.body), `"secret":"a secret of their own","previous_until":null`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := act(at+"/delete", ""); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		for _, path := range []string{at + "/delete", at + "/pause", at} {
			w.refuses(t, call{method: "POST", path: path, key: "live", body: `{}`}, http.StatusNotFound, "not_found")
		}
		if list := w.endpointsOf(t, live); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		for i := range 16 {
			w.makeEndpoint(t, live, fmt.Sprintf(`{"url":"https://kiosk.example/%d"}`, i))
		}
		w.refuses(t, call{method: "POST", path: endpointsPath, key: "live", body: `{"url":"https://kiosk.example/one-too-many"}`}, http.StatusConflict, "limit_reached")
	})
}

// What an endpoint must not do: hear more than the key that makes it may read, and be reached
// by others.
func TestEndpointsDoNotEscalate(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := call{key: "live"}
		whole := w.makeEndpoint(t, live, `{"url":"https://kiosk.example/hooks"}`).Endpoint.ID
		north := w.makeKey(t, live, `{"name":"North","mode":"live","scopes":["manage_self","read_orders"],"store_ids":["sto_north"]}`)
		test := w.makeKey(t, live, `{"name":"Test","mode":"test"}`)
		deaf := w.makeKey(t, live, `{"name":"Deaf","mode":"live","scopes":["manage_self"]}`)
		for _, c := range []struct {
			value, path, body string
			status            int
			code              string
		}{
			{north.Value, endpointsPath, `{"url":"https://x.example"}`, 403, "store_not_allowed"},
			{north.Value, endpointsPath, `{"url":"https://x.example","store_ids":["sto_south"]}`, 403, "store_not_allowed"},
			{north.Value, endpointsPath, `{"url":"https://x.example","store_ids":["sto_north"],"events":["product.*"]}`, 403, "scope_missing"},
			{north.Value, endpointsPath + "/" + whole, `{"description":"mine"}`, 403, "store_not_allowed"},
			{north.Value, endpointsPath + "/" + whole + "/rotate-secret", ``, 403, "store_not_allowed"},
			{north.Value, endpointsPath + "/" + whole + "/pause", ``, 403, "store_not_allowed"},
			{north.Value, endpointsPath + "/" + whole + "/delete", ``, 403, "store_not_allowed"},
			{north.Value, endpointsPath + "/" + whole + "/test", ``, 403, "store_not_allowed"},
			{north.Value, endpointsPath + "/" + whole + "/replay", `{"since":0}`, 403, "store_not_allowed"},
			{test.Value, endpointsPath, `{"url":"https://x.example","mode":"live"}`, 403, "mode_not_allowed"},
			{test.Value, endpointsPath, `{"url":"https://x.example","mode":"both"}`, 403, "mode_not_allowed"},
			{test.Value, endpointsPath + "/" + whole + "/delete", ``, 404, "not_found"},
			{deaf.Value, endpointsPath, `{"url":"https://x.example"}`, 403, "scope_missing"},
			{keyOf("other", "live"), endpointsPath + "/" + whole + "/delete", ``, 404, "not_found"},
			{keyOf("other", "live"), endpointsPath + "/" + whole + "/rotate-secret", ``, 404, "not_found"},
		} {
			w.refuses(t, with(as(c.value, "POST", c.path, c.body), func(c *call) { c.lenient = true }), c.status, c.code)
		}
		w.refuses(t, as(north.Value, "GET", endpointsPath+"/"+whole+"/attempts", ""), 403, "store_not_allowed")
		w.refuses(t, as(keyOf("other", "live"), "GET", "/v1/events/"+w.newEvent(t, "live", "mine"), ""), 404, "not_found")
		event, others := w.newEvent(t, "live", "theirs"), keyOf("other", "live")
		for _, path := range []string{endpointsPath + "/" + whole, endpointsPath + "/" + whole + "/attempts", "/v1/events/" + event, "/v1/events/" + event + "/attempts"} {
			w.refuses(t, as(others, "GET", path, ""), 404, "not_found")
		}
		for path, body := range map[string]string{"/v1/events/" + event + "/resend": "", endpointsPath + "/" + whole + "/replay": `{"since":0}`,
			endpointsPath + "/" + whole + "/resume": "", endpointsPath + "/" + whole + "/test": ""} {
			w.refuses(t, as(others, "POST", path, body), 404, "not_found")
		}
		own := w.makeEndpoint(t, as(test.Value, "", "", ""), `{"url":"https://x.example"}`)
		if list := w.endpointsOf(t, as(test.Value, "", "", "")); own.Endpoint.Mode != "test" || len(list) != 1 || list[0].ID != own.Endpoint.ID {
			t.Errorf("%+v, %+v", own, list)
		}
	})
}

// What the merchant has paused, only the merchant resumes.
func TestPausedByTheMerchant(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := call{key: "live"}
		id := w.makeEndpoint(t, live, `{"url":"https://kiosk.example/hooks"}`).Endpoint.ID
		owner := commerce.EndpointOwner("ptn_live", id)
		check.OK(t, w.service.PauseEndpoint(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, owner))
		resume := call{method: "POST", path: endpointsPath + "/" + id + "/resume", key: "live"}
		w.refuses(t, resume, http.StatusConflict, "endpoint_paused")
		w.do(t, call{method: "POST", path: endpointsPath + "/" + id + "/pause", key: "live"})
		w.refuses(t, resume, http.StatusConflict, "endpoint_paused") // a pause of its own does not replace the merchant's
		check.OK(t, w.service.ResumeEndpoint(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, owner))
		if a := w.do(t, resume); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// A list of attempts refuses what it does not know.
func TestAttemptsOfAnEndpoint(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		id := w.makeEndpoint(t, call{key: "live"}, `{"url":"https://kiosk.example/hooks"}`).Endpoint.ID
		for _, query := range []string{"delivered=perhaps", "since=soon", "limit=0"} {
			w.refuses(t, call{method: "GET", path: endpointsPath + "/" + id + "/attempts?" + query, key: "live", lenient: true}, http.StatusBadRequest, "invalid_query")
		}
	})
}

// A resend and a replay that are repeated with their key send nothing more.
func TestSentAgainOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		id := w.makeEndpoint(t, call{key: "live"}, `{"url":"https://kiosk.example/hooks"}`).Endpoint.ID
		owner := commerce.EndpointOwner("ptn_live", id)
		event := w.newEvent(t, "live", "again")
		jobs := func() (n int) {
			list, err := w.engine.Reader().Jobs(t.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: owner, Limit: 100})
			check.OK(t, err)
			return len(list)
		}
		for other, c := range map[string]call{
			`{}`:          {method: "POST", path: "/v1/events/" + event + "/resend", key: "live", body: `{"endpoint_id":"` + id + `"}`, idem: "resend"},
			`{"since":0}`: {method: "POST", path: endpointsPath + "/" + id + "/replay", key: "live", body: `{"since":0,"only":"all"}`, idem: "replay"},
		} {
			before := jobs()
			first := w.do(t, c)
			added := jobs() - before
			if first.status != http.StatusOK || added == 0 {
				t.Fatalf("%d jobs, %d %s", added, first.status, first.body)
			}
			if again := w.do(t, c); again.status != http.StatusOK || jobs() != before+added {
				t.Errorf("%d jobs after a repeat, %d %s", jobs(), again.status, again.body)
			}
			w.refuses(t, with(c, func(c *call) { c.body = other }), http.StatusConflict, "idempotency_key_reused")
			c.idem = ""
			if w.do(t, c); jobs() != before+2*added {
				t.Errorf("%d jobs without a key", jobs())
			}
		}
	})
}
