package command

import (
	"testing"

	"purveyor/internal/commerce"
)

// TestRestock: what a refund by line does to the stock, by what the order has taken. In the end
// the order is cancelled, and has given back what it has taken.
func TestRestock(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		confirmed, held, restock bool
		want                     []int64 // stock after the refund, after it came back, after another one, after a late confirmation, and after the cancellation
	}{
		"confirmed":             {true, false, true, []int64{3, 3, 4, 4, 5}},
		"confirmed, no restock": {true, false, false, []int64{2, 2, 2, 2, 5}},
		"held":                  {false, true, true, []int64{3, 3, 4, 4, 5}},
		"not taken yet":         {false, false, true, []int64{5, 5, 5, 4, 5}},
		"not taken, no restock": {false, false, false, []int64{5, 5, 5, 2, 5}},
	} {
		w := newTill(commerce.ByPickup)
		if c.held {
			w.order.HeldUntil, w.stock.Quantity, w.stock.Held = w.now+1000, 2, 3
		}
		facts := FactsOf(w.order)
		var got []int64
		look := func() { got = append(got, w.stock.Quantity) }
		refund := func(id string, pieces int64) {
			must(do(w, RefundOrder{Facts: facts, Actor: byPartner, RefundID: id, Lines: []commerce.RefundLine{{ProductID: "a", Quantity: pieces}}, Restock: c.restock}))
			made := RecordRefundCallback{Facts: facts, Actor: byProcessor, RefundID: id, Ref: "re", AmountCents: w.refunds[id].AmountCents}
			must(do(w, made))
			must(do(w, made)) // told twice
			look()
		}
		must(do(w, RecordPayment{Facts: facts, Actor: byProcessor, SessionID: "cs", PaymentID: "pi", AmountCents: 300}))
		if c.confirmed {
			must(do(w, ConfirmOrder{Facts: facts, Actor: byPartner}))
		}
		refund("r1", 1)
		must(do(w, RecordRefundCallback{Facts: facts, Actor: byProcessor, RefundID: "r1", Ref: "re", AmountCents: 100, Failed: true}))
		look()
		refund("r2", 2)
		must(do(w, ConfirmOrder{Facts: facts, Actor: byPartner}))
		look()
		must(do(w, CancelOrder{Facts: facts, Actor: byPartner}))
		look()
		for i, n := range got {
			if n != c.want[i] {
				t.Errorf("%s: the stock was %v, want %v", name, got, c.want)
				break
			}
		}
		if w.stock.Held != 0 {
			t.Errorf("%s: %d pieces are held", name, w.stock.Held)
		}
	}
}
