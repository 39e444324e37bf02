package main_test

import (
	"strings"
	"testing"
)

// The check adds up what customers paid and got back, asks the sandbox, and
// finds a changed book and a payment that the sandbox knows otherwise.
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
	for _, flags := range [][]string{nil, {"--offline"}} { // beside the service
		text := s.operate(append([]string{"ledger", "check"}, flags...)...).ok(t)
		compared := "1 compared with sandbox"
		if flags != nil {
			compared = "1 of sandbox were not compared"
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
