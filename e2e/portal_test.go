package e2e_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/office"
)

// A member signs in by an invitation of the command line, plays a test order that its customer pays and the merchant refunds, has
// a call of the test key fail, and sends another one again. The partner's program sees all of it.
func TestPortal(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	token := regexp.MustCompile(`token=(\S+)`).FindStringSubmatch(s.operate("partner", "invite", s.partner.PartnerID, "--email", "ann@p.example").ok(t))
	_, live := s.serve()
	c := live.with(s.partner.Keys.Test)
	member := office.New(t, c.base)
	if status, to := member.Post("/portal/enter", "token", token[1]); status != http.StatusSeeOther || to != "/portal" {
		t.Fatal(status, to)
	}
	status, to := member.Post("/portal/sandbox/trigger", "key", "paid", "event", "order.paid")
	_, order, found := strings.Cut(to, "?order=")
	if status != http.StatusSeeOther || !found {
		t.Fatal(status, to)
	}
	for _, step := range []struct {
		action string
		status int
		want   string
	}{{"merchant_confirm", http.StatusSeeOther, "processed"}, {"courier_next", http.StatusConflict, "processed"}, {"merchant_refund", http.StatusSeeOther, "refunded"}} {
		if status, page := member.Post("/portal/sandbox/act", "key", step.action, "order", order, "action", step.action); status != step.status {
			t.Errorf("%s: %d\n%s", step.action, status, page)
		}
		if got := c.order("/v1/orders/" + order).Status; got != step.want {
			t.Errorf("%s: %s, want %s", step.action, got, step.want)
		}
	}
	if status, to := member.Post("/portal/sandbox/faults", "key", "fault", "kind", "rate_limited", "operation", "listStores", "calls", "1"); status != http.StatusSeeOther {
		t.Error(status, to)
	}
	c.eventuallyStatus(patience, http.StatusTooManyRequests, get("/v1/stores"))
	at := ""
	check.Eventually(t, patience, pollPause, "the request in the log", func() bool {
		_, page := member.Get("/portal/requests?operation=listStores&status=429")
		at = regexp.MustCompile(`/portal/requests/req_\w+`).FindString(page)
		return at != ""
	})
	if status, page := member.Post(at+"/repeat", "key", "repeat"); status != http.StatusOK || !strings.Contains(page, "First") || !strings.Contains(page, "Second") {
		t.Errorf("%d\n%s", status, page)
	}
}
