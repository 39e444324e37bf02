package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The check adds up payments and refunds, asks the sandbox, and finds a changed
// ledger and a payment that differs in the sandbox.
func TestLedgerCheck(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if text := s.operate("ledger", "check").ok(t); !strings.Contains(text, "0 payments") || !strings.Contains(text, "everything adds up") {
		t.Errorf("before anybody bought: %s", text)
	}
	p, c := s.serve()
	b := &buyers{shop: s}
	bought := &purchase{id: "a", total: 400}
	for _, kind := range []string{"checkout", "pay", "part"} {
		if !b.take(c.with(s.partner.Keys.Test), bought, bought.next(kind)) {
			t.Fatalf("%s was not acknowledged", kind)
		}
	}
	for _, flags := range [][]string{nil, {"--books"}, {"--offline"}} { // while the service is running
		text := s.operate(append([]string{"ledger", "check"}, flags...)...).ok(t)
		compared := "1 compared with sandbox"
		if flags != nil {
			compared = "1 of sandbox were not compared: only the books are checked"
		}
		for _, want := range []string{"1 payments: captured $4.00, refunded $0.50, on their way back $0.00", compared, "everything adds up"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: %q is missing in %s", flags, want, text)
			}
		}
	}
	p.kill()
	for _, broken := range []struct{ sql, says string }{
		{"UPDATE ledger SET amount_cents = 401 WHERE kind = 'capture'", bought.orderID + ": 400 cents are captured by the balance, 401 by the ledger"},
		{"UPDATE payments SET captured_cents = 401", bought.orderID + ": 400 cents were paid at sandbox, 401 are captured here"},
		{"UPDATE payments SET session_id = 'cs_test_none'", bought.orderID + ": sandbox does not know its session"},
	} {
		execute(t, s.path(), broken.sql)
		r := s.operate("ledger", "check")
		if text := r.stdout + r.stderr; r.code == 0 || !strings.Contains(text, broken.says) || strings.Contains(text, "adds up") {
			t.Errorf("after %q: exit %d: %s", broken.sql, r.code, text)
		}
	}
}

// TestLedgerCheckAwaitsNews checks that a payment of the sandbox that the ledger
// lacks is no fault while its callback is on the way, or while its session is young.
// It is a fault once no callback can come.
func TestLedgerCheckAwaitsNews(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	execute(t, s.path(), `CREATE TRIGGER notices_wait AFTER INSERT ON jobs WHEN new.kind = 'sandbox_notice'
		BEGIN UPDATE jobs SET run_at = run_at + 600000 WHERE slot = new.slot AND id = new.id; END`)
	p, c := s.serve()
	b := &buyers{shop: s}
	bought := &purchase{id: "a", total: 400}
	checkout := bought.next("checkout")
	checkout.body.(map[string]any)["customer_email"] = "jo+late@example.com" // the process does not start such a callback at once
	if !b.take(c.with(s.partner.Keys.Test), bought, checkout) || !b.take(c.with(s.partner.Keys.Test), bought, bought.next("pay")) {
		t.Fatal("the purchase was not acknowledged")
	}
	p.kill()
	if captured := s.count("SELECT captured_cents FROM payments"); captured != "0" {
		t.Fatalf("%s cents are captured, although the callback waits for ten minutes", captured)
	}
	difference := "400 cents were paid at sandbox, 0 are captured here"
	for _, state := range []struct {
		name, sql string
		fault     bool
	}{
		{"a young session and its callback", "", false},
		{"the callback of an old session", "UPDATE payments SET updated_on = updated_on - 600000", false},
		{"a dead callback of an old session", "UPDATE jobs SET state = 'dead' WHERE kind = 'sandbox_notice'", true},
		{"an old session, of which a job asks", "UPDATE jobs SET state = 'waiting', kind = 'expire_session', owner = 's1', subject = '" + bought.orderID + "' WHERE state = 'dead'", false},
		{"the job of another session", "UPDATE jobs SET subject = 'ord_1_another' WHERE kind = 'expire_session'", true},
		{"a session that was heard of right now", fmt.Sprint("UPDATE payments SET updated_on = ", time.Now().UnixMilli()), false},
	} {
		if state.sql != "" {
			execute(t, s.path(), state.sql)
		}
		r := s.operate("ledger", "check")
		says := bought.orderID + ": pending: " + difference
		if state.fault {
			says = bought.orderID + ": " + difference
		}
		if text := r.stdout + r.stderr; (r.code != 0) != state.fault || !strings.Contains(text, says) || strings.Contains(text, "pending differences: 1,") == state.fault {
			t.Errorf("%s: exit %d: %s", state.name, r.code, text)
		}
		s.operate("ledger", "check", "--books").ok(t)
	}
}
