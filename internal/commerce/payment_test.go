package commerce

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestReserve(t *testing.T) {
	for _, c := range []struct {
		name                        string
		captured, refunded, pending Cents
		amount, want                Cents
		code                        string
	}{
		{"all", 300, 0, 0, 0, 300, ""},
		{"all that is left", 300, 100, 50, 0, 150, ""},
		{"one", 300, 0, 0, 1, 1, ""},
		{"exactly what is left", 300, 100, 50, 150, 150, ""},
		{"one too many", 300, 100, 50, 151, 0, "invalid_amount"},
		{"more than was paid", 300, 0, 0, 301, 0, "invalid_amount"},
		{"below zero", 300, 0, 0, -1, 0, "invalid_amount"},
		{"nothing left", 300, 300, 0, 0, 0, "already_refunded"},
		{"all on its way", 300, 0, 300, 1, 0, "already_refunded"},
		{"more on its way than there is, after a refund elsewhere", 300, 200, 200, 1, 0, "already_refunded"},
		{"nothing was paid", 0, 0, 0, 0, 0, "no_processor_payment"},
		{"nothing was paid, some is asked for", 0, 0, 0, 5, 0, "no_processor_payment"},
	} {
		p := Payment{CapturedCents: c.captured, RefundedCents: c.refunded, PendingCents: c.pending}
		got, err := p.Reserve(c.amount)
		code := ""
		if refusal, ok := errors.AsType[*Error](err); ok {
			code = refusal.Code
		}
		if got != c.want || code != c.code || p.PendingCents != c.pending+c.want || p.CapturedCents != c.captured || p.RefundedCents != c.refunded {
			t.Errorf("%s: reserved %d, %v, and the payment is %+v", c.name, got, err, p)
		}
	}
}

func TestEntries(t *testing.T) {
	p := Payment{StoreID: "s", OrderID: "o"}
	got := []LedgerEntry{p.Capture(300, "pi", 1), p.Return(120, "r1", "re1", 2), p.TakeBack(120, "r1", "re1", 3), p.Return(300, "r2", "re2", 4)}
	want := []LedgerEntry{
		{"s", "o", 1, EntryCapture, 300, "", "pi", 1},
		{"s", "o", 2, EntryRefund, 120, "r1", "re1", 2},
		{"s", "o", 3, EntryRefundFailed, 120, "r1", "re1", 3},
		{"s", "o", 4, EntryRefund, 300, "r2", "re2", 4},
	}
	for i, e := range got {
		if e != want[i] {
			t.Errorf("entry %d is %+v, want %+v", i, e, want[i])
		}
	}
	if !p.Returned() || p.State != PaymentPaid || p.PaymentID != "pi" || p.Entries != 4 || p.UpdatedOn != 4 {
		t.Errorf("%+v", p)
	}
	if (&Payment{}).Returned() {
		t.Error("a payment that was never made is returned")
	}
}

// TestPaymentAddsUp: whatever happens to refunds in whatever order, ours never
// exceed what was paid, and the entries sum up to what the payment says.
func TestPaymentAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Payment{}
		var pending, done []Cents // of ours
		var own, sum Cents
		entries := int64(0)
		enter := func(e LedgerEntry) {
			entries++
			sum += e.Signed()
			if e.Seq != entries || e.AmountCents <= 0 {
				t.Fatalf("entry %d is %+v", entries, e)
			}
		}
		take := func(list *[]Cents, what string) (amount Cents) {
			if len(*list) == 0 {
				t.Skip("there is no " + what)
			}
			i := rapid.IntRange(0, len(*list)-1).Draw(t, what)
			amount = (*list)[i]
			*list = append((*list)[:i:i], (*list)[i+1:]...)
			return amount
		}
		t.Repeat(map[string]func(*rapid.T){
			"capture": func(t *rapid.T) {
				if p.CapturedCents > 0 {
					t.Skip("it is paid once")
				}
				enter(p.Capture(rapid.Custom(amounts(1, 1000)).Draw(t, "paid"), "pi", 1))
			},
			"reserve": func(t *rapid.T) {
				if got, err := p.Reserve(rapid.Custom(amounts(-1, 1001)).Draw(t, "asked")); err == nil {
					pending = append(pending, got)
				}
			},
			"refused": func(*rapid.T) { p.Release(take(&pending, "refund on its way")) },
			"made": func(*rapid.T) {
				amount := take(&pending, "refund on its way")
				p.Release(amount)
				if p.RefundedCents+amount > p.CapturedCents {
					return // the processor refuses: there was another one, elsewhere
				}
				enter(p.Return(amount, "r", "re", 1))
				done, own = append(done, amount), own+amount
			},
			"came back": func(*rapid.T) {
				amount := take(&done, "refund that was made")
				enter(p.TakeBack(amount, "r", "re", 1))
				own -= amount
			},
			"made elsewhere": func(t *rapid.T) {
				if p.CapturedCents == p.RefundedCents {
					t.Skip("nothing is left")
				}
				enter(p.Return(rapid.Custom(amounts(1, p.CapturedCents-p.RefundedCents)).Draw(t, "elsewhere"), "re", "re", 1))
			},
			"": func(t *rapid.T) {
				var onTheirWay Cents
				for _, amount := range pending {
					onTheirWay += amount
				}
				if p.PendingCents != onTheirWay || own+onTheirWay > p.CapturedCents || sum != p.CapturedCents-p.RefundedCents || p.Left() < 0 {
					t.Fatalf("%+v; ours are %d made and %d on their way, the entries sum to %d", p, own, onTheirWay, sum)
				}
			},
		})
	})
}

func amounts(least, most Cents) func(*rapid.T) Cents {
	return func(t *rapid.T) Cents { return Cents(rapid.Int64Range(int64(least), int64(most)).Draw(t, "cents")) }
}

// TestLateRefundID: it is a refund of the order's store, and the same for ever.
func TestLateRefundID(t *testing.T) {
	order := NewOrderID(7, 1, Entropy{})
	if a, b := LateRefundID(order), NewRefundID(7, 1, Entropy{}); a != b {
		t.Errorf("%s, want the form %s", a, b)
	}
}
