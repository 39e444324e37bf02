package portal

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

func (s *shop) order(id string) commerce.Order {
	s.t.Helper()
	o, err := s.uses.FindOrder(s.t.Context(), service.Caller{Actor: commerce.Actor{Kind: commerce.ActorMember}, Partner: fixture.Partner()}, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// ordersOf are the orders of the partner of the fixture.
func (s *shop) ordersOf() (ids []string) {
	for _, e := range s.Events(fixture.PartnerID) {
		if e.Kind == commerce.WebhookAccepted {
			ids = append(ids, e.OrderID)
		}
	}
	return ids
}

// TestSandboxActs: an admin acts on the partner's own test orders alone, a form that is sent twice acts once, and an act
// that the state does not allow is refused. A live order, and one of another partner, are not found.
func TestSandboxActs(t *testing.T) {
	s := open(t)
	own, foreign := s.things(fixture.PartnerID), s.things(s.other.ID)
	admin, reader := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin), s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	for _, b := range []*browser{admin, reader} {
		_, page := b.get("/portal/sandbox")
		shows(t, page, map[bool]string{true: "Act on a test order", false: "<h2>Test orders"}[b == admin], "No faults", own["tests"])
		if strings.Contains(page, own["orders"]) || strings.Contains(page, foreign["tests"]) {
			t.Errorf("an order that cannot be acted on:\n%s", page)
		}
		if forms := strings.Contains(page, "<form method=\"post\" action=\"/portal/sandbox"); forms != (b == admin) {
			t.Errorf("forms: %v\n%s", forms, page)
		}
	}
	act := func(order, action, key string, more ...string) (int, string) {
		return admin.post("/portal/sandbox/act", append([]string{"order", order, "action", action, "key", key}, more...)...)
	}
	for _, id := range []string{own["orders"], foreign["tests"], foreign["orders"], "ord_none", "../faults/clear", ""} {
		if status, page := act(id, service.MerchantCancel, "k"+id); status != http.StatusNotFound && status != http.StatusBadRequest || !strings.Contains(page, "Nothing was changed") {
			t.Errorf("%q: %d\n%s", id, status, page)
		}
		if strings.HasPrefix(id, "ord_") && id != "ord_none" && id != own["orders"] {
			if _, page := admin.get("/portal/sandbox?order=" + id); strings.Contains(page, id) {
				t.Errorf("the page shows %s", id)
			}
		}
	}
	for _, refused := range [][]string{{"pay"}, {"courier_next"}, {"refund_fail"}, {"explode"}, {"merchant_cancel", "amount", "5"}, {"merchant_refund", "amount", "much"}} {
		if status, page := act(own["tests"], refused[0], "r"+refused[0], refused[1:]...); status != http.StatusConflict && status != http.StatusBadRequest {
			t.Errorf("%v: %d\n%s", refused, status, page)
		} else {
			shows(t, page, "Nothing was changed", `value="`+own["tests"]+`" selected`)
		}
	}
	before := len(s.Events(fixture.PartnerID))
	for range 2 {
		status, to := act(own["tests"], service.MerchantCancel, "once")
		if status != http.StatusSeeOther || to != "/portal/sandbox?order="+own["tests"] {
			t.Fatalf("%d %s", status, to)
		}
	}
	if o, n := s.order(own["tests"]), len(s.Events(fixture.PartnerID)); o.Status != commerce.Cancelled || n != before+1 {
		t.Errorf("%s, %d events", o.Status, n-before)
	}
	_, page := admin.get("/portal/sandbox?order=" + own["tests"])
	shows(t, page, "Done: merchant_cancel. The order is cancelled now", `<a href="/portal/orders/`+own["tests"])
	for id, status := range map[string]commerce.OrderStatus{own["orders"]: commerce.Processed} {
		if o := s.order(id); o.Status != status {
			t.Errorf("%s is %s", id, o.Status)
		}
	}
}

// TestSandboxFaults: faults are made, shown and ended, a repeat makes no second one, and what the API refuses is refused.
// They hit no call of a member.
func TestSandboxFaults(t *testing.T) {
	s := open(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	for _, bad := range [][]string{{"kind", "slow", "calls", "0"}, {"kind", "slow", "calls", "101"}, {"kind", "slow", "calls", "x"}, {"kind", "slow", "calls", "1", "delay", "10001"}, {"kind", "error", "calls", "1", "delay", "5"},
		{"kind", "none", "calls", "1"}, {"kind", "error", "calls", "1", "operation", "none"}, {"kind", "insufficient_stock", "calls", "1", "operation", "listOrders"}} {
		if status, page := admin.post("/portal/sandbox/faults", bad...); status != http.StatusBadRequest {
			t.Errorf("%v: %d\n%s", bad, status, page)
		} else {
			shows(t, page, "Nothing was changed", "No faults")
		}
	}
	for range 2 {
		if status, page := admin.post("/portal/sandbox/faults", "key", "one", "kind", "slow", "calls", "7", "delay", "250", "operation", "reportOrder"); status != http.StatusSeeOther {
			t.Fatal(status, page)
		}
	}
	if status, page := admin.post("/portal/sandbox/faults", "key", "two", "kind", "error", "calls", "1"); status != http.StatusSeeOther {
		t.Fatal(status, page)
	}
	_, page := admin.get("/portal/sandbox")
	shows(t, page, "<code>slow</code> <small>250 ms</small>", "<code>reportOrder</code>", "7 of 7", "1 of 1", "End all faults")
	if n := strings.Count(page, "7 of 7"); n != 1 {
		t.Errorf("%d faults of one form", n)
	}
	if status, to := admin.post("/portal/sandbox/trigger", "key", "t", "event", string(commerce.WebhookAccepted)); status != http.StatusSeeOther {
		t.Errorf("a fault hits a member: %d %s", status, to)
	}
	if status, _ := admin.post("/portal/sandbox/faults/clear"); status != http.StatusSeeOther {
		t.Error(status)
	}
	if _, page := admin.get("/portal/sandbox"); !strings.Contains(page, "No faults") {
		t.Errorf("faults are left:\n%s", page)
	}
}

// TestSandboxTriggers: an event happens on a new test order, once for a form. A partner that may write no orders, or not in
// the store, or that is suspended, is refused, and so is the 31st event of a minute.
func TestSandboxTriggers(t *testing.T) {
	s := open(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	place := ""
	for range 2 {
		status, to := admin.post("/portal/sandbox/trigger", "key", "one", "event", string(commerce.WebhookPickedUp), "store", fixture.StoreID)
		if status != http.StatusSeeOther || place != "" && to != place {
			t.Fatal(status, to, place)
		}
		place = to
	}
	made := s.ordersOf()
	if len(made) != 1 || place != "/portal/sandbox?order="+made[0] {
		t.Fatalf("%v, %s", made, place)
	}
	if o := s.order(made[0]); o.Mode != commerce.Test || o.PartnerID != fixture.PartnerID || o.Status != commerce.PickedUp {
		t.Errorf("%+v", o)
	}
	_, page := admin.get(place)
	shows(t, page, "order.picked_up has happened", made[0])
	if err := s.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls, err := s.log.Page(t.Context(), requestlog.Filter{PartnerID: fixture.PartnerID, Operation: "triggerEvent", Limit: 10})
	if err != nil || len(calls.Entries) != 2 || !strings.HasPrefix(calls.Entries[0].KeyID, commerce.PrefixMember) || calls.Entries[0].Mode != commerce.Test {
		t.Errorf("the log has %+v, %v", calls.Entries, err)
	}
	change := func(change func(*commerce.Partner)) {
		fixture.Change(t, s.Engine, commerce.Needs{Lock: true, Partners: []string{fixture.PartnerID}}, func(rows *commerce.Rows, _ commerce.Millis) commerce.Changes {
			p, _ := rows.Partners.Get(fixture.PartnerID)
			change(&p)
			return commerce.Changes{Partners: []commerce.Partner{p}}
		})
	}
	refused := func(why string, want int, fields ...string) {
		t.Helper()
		if status, page := admin.post("/portal/sandbox/trigger", append(fields, "key", why)...); status != want {
			t.Errorf("%s: %d\n%s", why, status, page)
		}
	}
	event := string(commerce.WebhookAccepted)
	refused("no such event", http.StatusBadRequest, "event", "order.eaten")
	refused("no such store", http.StatusBadRequest, "event", event, "store", "sto_none")
	change(func(p *commerce.Partner) { p.StoreIDs = []string{"sto_elsewhere"} })
	refused("another store", http.StatusForbidden, "event", event, "store", fixture.StoreID)
	change(func(p *commerce.Partner) { p.StoreIDs, p.Scopes = nil, []commerce.Scope{commerce.WriteProducts} })
	refused("no scope", http.StatusForbidden, "event", event)
	change(func(p *commerce.Partner) { p.Scopes, p.Suspended = []commerce.Scope{commerce.AllScopes}, true })
	refused("suspended", http.StatusForbidden, "event", event)
	change(func(p *commerce.Partner) { p.Suspended, p.RateLimit = false, 1000 })
	status := 0
	for i := 0; i < 80 && status != http.StatusTooManyRequests; i++ { // two minutes, if one ends meanwhile
		status, page = admin.post("/portal/sandbox/trigger", "key", "n"+strconv.Itoa(i), "event", event)
	}
	if status != http.StatusTooManyRequests {
		t.Fatal(status)
	}
	shows(t, page, "At most 30 events are played a minute", "Nothing was changed")
}
