package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// An operator moves orders on from a shell while a service runs: each act is audited, what is
// not possible is refused, and the order tells its story.
func TestOrderCommand(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		if text := s.operate("order", "list").ok(t); text != "no orders\n" {
			t.Errorf("a new database lists %q", text)
		}
		_, c := s.serve()
		c = c.with(s.partner.Keys.Test)
		buy := func(id string) string {
			b := &purchase{id: id, total: 400}
			b.checkedOut(t, c.must(http.StatusCreated, b.next("checkout").request))
			a, err := c.click(b.next("pay").request)
			check.OK(t, err)
			if a.status != http.StatusSeeOther {
				t.Fatalf("%+v", a)
			}
			check.Eventually(t, patience, pollPause, "the payment", func() bool {
				return strings.Contains(s.operate("order", "list", "--status", "paid").ok(t), b.orderID)
			})
			return b.orderID
		}
		order := func(act, id string, more ...string) string {
			t.Helper()
			return s.operate(append([]string{"order", act, id}, more...)...).ok(t)
		}
		id := buy("a")
		s.operate("order", "ready", id).refused(t, 1, "Order status is paid")
		for _, step := range [][2]string{{"confirm", "processed"}, {"ready", "ready_for_pickup"}, {"picked-up", "picked_up"}} {
			if text := order(step[0], id); !strings.Contains(text, "status      "+step[1]) {
				t.Errorf("%s: %s", step[0], text)
			}
		}
		s.operate("order", "cancel", id, "--reason", "late").refused(t, 1, "Order status is picked_up")
		s.operate("order", "refund", id).refused(t, 2, "--reason")
		s.operate("order", "refund", id, "--reason", " ").refused(t, 2, "--reason")
		s.operate("order", "show", "ord_none").refused(t, 1, "there is no order ord_none")
		order("refund", id, "--reason", "was\x1b[31mbroken", "--amount", "1.50")
		check.Eventually(t, patience, pollPause, "the refund", func() bool { return strings.Contains(order("show", id), "refunded    $1.50") })

		again := s.operate("order", "refund", id, "--reason", "the answer was lost", "--amount", "1.50")
		if text := again.ok(t); !strings.Contains(text, "refunded    $1.50") || !strings.Contains(again.stderr, "--key TEXT") {
			t.Errorf("a repeat is another refund, or does not say that it is none: %s%s", text, again.stderr)
		}
		for range 2 {
			order("refund", id, "--reason", "also broken", "--amount", "1.50", "--key", "second")
		}
		s.operate("order", "refund", id, "--reason", "also broken", "--amount", "0.50", "--key", "second").refused(t, 1, "--key second", "another amount")
		check.Eventually(t, patience, pollPause, "the second refund", func() bool { return strings.Contains(order("show", id), "refunded    $3.00") })

		other := buy("b")
		if text := order("cancel", other, "--reason", "closed today"); !strings.Contains(text, "status      cancelled") || !strings.Contains(text, "purveyor order refund "+other+" --reason") {
			t.Errorf("cancelled: %s", text)
		}
		text := order("explain", id)
		for _, words := range []string{"Confirmed, by operator:", "Ready for pickup, by operator:", "Picked up, by operator:", "Refunded $1.50", "broken", "also broken", "the partner has no endpoint", "purveyor order refund " + id} {
			if !strings.Contains(text, words) || strings.Contains(text, "\x1b") {
				t.Errorf("%q is not told:\n%s", words, text)
			}
		}
		if text := order("explain", other); !strings.Contains(text, "closed today") {
			t.Errorf("the reason is not told:\n%s", text)
		}
		audit := s.operate("audit", "list").ok(t)
		if n := strings.Count(audit, "refund_order  "+id); n != 2 {
			t.Errorf("%d refunds are in the audit, not 2:\n%s", n, audit)
		}
		if !strings.Contains(audit, `"reason":"closed today"`) {
			t.Errorf("the reason of the cancellation is not in the audit:\n%s", audit)
		}
		for _, act := range []string{"confirm_order  " + id, "mark_ready  " + id, "mark_picked_up  " + id, "cancel_order  " + other} {
			if strings.Count(audit, act) != 1 {
				t.Errorf("%s is not in the audit once:\n%s", act, audit)
			}
		}
		var told struct {
			ID, Status string
			Possible   []string
			Story      []struct{ Title string }
			Money      struct{ Total, Refunded int64 }
		}
		check.OK(t, json.Unmarshal([]byte(order("explain", id, "--json")), &told))
		if told.ID != id || told.Status != "picked_up" || told.Money.Refunded != 300 || told.Money.Total != 400 || len(told.Story) < 5 || len(told.Possible) == 0 {
			t.Errorf("%+v", told)
		}
		var list []struct{ ID string }
		check.OK(t, json.Unmarshal([]byte(s.operate("order", "list", "--status", "finished", "--store", "s1", "--partner", s.partner.PartnerID, "--since", "1h", "--limit", "1", "--json").ok(t)), &list))
		if len(list) != 1 || list[0].ID != other {
			t.Errorf("the newest one that is finished: %+v, want %s", list, other)
		}
		s.operate("order", "list", "--status", "lost").refused(t, 2, "is no status", "picked_up")
	})
}
