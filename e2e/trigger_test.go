package e2e_test

import (
	"slices"
	"strings"
	"testing"
)

// A partner's developer sees an event at the command line. A live key cannot play.
func TestTrigger(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	r := operateWith(t, s.partner.Keys.Test+"\n", "trigger", "order.ready_for_pickup", "--key", "-", "--url", c.base)
	kind, order, found := strings.Cut(strings.TrimSpace(r.stdout), "  ")
	if r.code != 0 || kind != "order.ready_for_pickup" || !found {
		t.Fatalf("%d %s%s", r.code, r.stdout, r.stderr)
	}
	if !slices.ContainsFunc(c.events(), func(e string) bool {
		return strings.Contains(e, `"order.ready_for_pickup"`) && strings.Contains(e, `"`+order+`"`)
	}) {
		t.Error("there is no such event of order", order)
	}
	operate(t, "trigger", "order.paid", "--key", s.partner.Keys.Live, "--url", c.base).refused(t, 1, "403", "test key")
	operate(t, "trigger", "order.lost", "--key", s.partner.Keys.Test, "--url", c.base).refused(t, 1, "400", "order.paid")
}
