package e2e_test

import (
	"strings"
	"testing"
)

// TestStockCheck checks that the check finds each kind of break, also while the
// service is running, that a repair starts a new chain without a change of the
// quantity, and that --all lists what precedes the chain.
func TestStockCheck(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	says := func(code int, args []string, want ...string) {
		t.Helper()
		r := s.operate(append([]string{"stock", "check"}, args...)...)
		for _, w := range want {
			if text := r.stdout + r.stderr; r.code != code || !strings.Contains(text, w) {
				t.Errorf("%v: exit %d, want %d and %q in:\n%s", args, r.code, code, w, text)
			}
		}
	}
	p, c := s.serve()
	order := c.must(201, report("a", "p1", "p2")).orderID(t)
	c.must(200, post("/v1/orders/"+order+"/cancel", "b", map[string]any{}))
	c.must(200, post("/v1/inventory/adjustments", "c", map[string]any{"adjustments": []map[string]any{
		{"product_id": "p1", "delta": -2, "reason": "broken in transit", "external_reference": "CLAIM-7"}}}))
	says(0, nil, "every chain is whole")
	note := s.rows("SELECT actor || '|' || reason || '|' || external_reference FROM stock_notes WHERE product_id = 'p1' AND seq = 4")
	if want := "partner:" + s.partner.PartnerID + "/" + s.rows("SELECT id FROM partner_keys WHERE mode = 'live'")[0] + "|broken in transit|CLAIM-7"; len(note) != 1 || note[0] != want {
		t.Errorf("the note of the adjustment is %q, want %q", note, want)
	}
	if opened := s.rows("SELECT actor FROM stock_notes WHERE product_id = 'p1' AND seq = 1"); len(opened) != 1 || !strings.HasPrefix(opened[0], "operator:") || len(opened[0]) < 10 {
		t.Errorf("the product was opened by %q", opened)
	}
	p.kill()

	execute(t, s.path(), "DELETE FROM stock_moves WHERE product_id = 'p1' AND seq = 2; UPDATE stock SET quantity = quantity + 1, held = 1 WHERE product_id = 'p2'")
	says(1, nil, "s1 p1: the move before number 3 is missing", "s1 p2: the quantity is", "s1 p2: the row or the moves after number 1 say that 1 pieces are held, but it leaves 0", "the moves of 2 products do not lead")
	says(0, []string{"--store", "s2"}, "every chain is whole")
	says(1, []string{"--store", "s9"}, "there is no store s9")
	says(2, []string{"--repair"}, "--repair needs --reason TEXT")
	says(2, []string{"--reason", "x"}, "--reason is for --repair alone")
	before := s.rows("SELECT product_id || quantity || held FROM stock ORDER BY product_id")
	_, c = s.serve() // from here on the service is running
	says(0, []string{"--repair", "--reason", "counted by hand"}, "s1 p1: repaired by move 5", "2 products were repaired")
	if after := s.rows("SELECT product_id || quantity || held FROM stock ORDER BY product_id"); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the repair changed quantities: %v, before %v", after, before)
	}
	c.must(201, report("d", "p1", "p2"))
	says(0, nil, "every chain is whole")
	says(0, []string{"--all"}, "s1 p1: the move before number 3 is missing (repaired since)", "every chain is whole")
	repair := s.rows("SELECT actor || '|' || reason FROM stock_notes WHERE product_id = 'p1' AND seq = 5")
	if len(repair) != 1 || !strings.HasPrefix(repair[0], "operator:") || !strings.HasSuffix(repair[0], "|counted by hand") {
		t.Errorf("the note of the repair is %q", repair)
	}
}

// TestStoreUpdate: an operator sets for how long checkouts of a store hold their goods.
func TestStoreUpdate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		store, minutes, want string
		code                 int
	}{
		{"s1", "15", "s1: checkouts hold their goods for 15 minutes", 0},
		{"s1", "4", "hold_minutes must be from 5 to 60", 1},
		{"s9", "15", "there is no store s9", 1},
	} {
		r := s.operate("store", "update", c.store, "--hold-minutes", c.minutes)
		if text := r.stdout + r.stderr; r.code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s for %s minutes: exit %d: %s", c.store, c.minutes, r.code, text)
		}
	}
	if held := s.rows("SELECT id || hold_minutes FROM stores WHERE hold_minutes > 0"); len(held) != 1 || held[0] != "s115" {
		t.Errorf("%q", held)
	}
}
