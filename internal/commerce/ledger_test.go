package commerce

import (
	"strings"
	"testing"
)

// paidAccount was captured in full; one refund arrived, one came back, and one
// is on its way.
func paidAccount() Account {
	a := Account{
		Order:   Order{StoreID: "s", ID: "o", Status: Processed, TotalCents: 1000},
		Payment: Payment{StoreID: "s", OrderID: "o", Processor: "sandbox"},
	}
	p := &a.Payment
	a.Entries = append(a.Entries, p.Capture(1000, "pi", 1))
	for _, r := range []struct {
		id     string
		amount Cents
		state  RefundState
	}{{"done", 300, RefundDone}, {"back", 200, RefundFailed}, {"refused", 50, RefundFailed}, {"pending", 100, RefundPending}} {
		if _, err := p.Reserve(r.amount); err != nil {
			panic(err)
		}
		a.Refunds = append(a.Refunds, Refund{StoreID: "s", ID: r.id, OrderID: "o", AmountCents: r.amount, State: r.state})
		if r.state != RefundPending {
			p.Release(r.amount)
		}
		if r.id == "done" || r.id == "back" {
			a.Entries = append(a.Entries, p.Return(r.amount, r.id, "re", 2))
		}
	}
	a.Entries = append(a.Entries, p.TakeBack(200, "back", "re", 3))
	a.Order.RefundedCents = p.RefundedCents
	return a
}

func TestAccountFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Account)
		says  string // empty: all is well
	}{
		{"sound", func(*Account) {}, ""},
		{"an entry is lost", func(a *Account) { a.Entries = a.Entries[1:] }, "entry 1 is missing"},
		{"the last entry is lost", func(a *Account) { a.Entries = a.Entries[:3] }, "4 entries are counted, 3 are there"},
		{"an entry was changed", func(a *Account) { a.Entries[0].AmountCents++ }, "1000 cents are captured by the balance, 1001 by the ledger"},
		{"an entry of no refund", func(a *Account) { a.Entries[1].RefundID = "x" }, "tell of the refund x"},
		{"an unknown kind", func(a *Account) { a.Entries[3].Kind = "gift" }, "unknown kind"},
		{"a refund twice", func(a *Account) { a.Entries = append(a.Entries, a.Payment.Return(300, "done", "re", 4)) }, "its entries sum to 600"},
		{"a refund that is not entered", func(a *Account) { a.Refunds[2].State = RefundDone }, "refund refused is done, 50 cents, but its entries sum to 0"},
		{"a failed one that is", func(a *Account) { a.Refunds[0].State = RefundFailed }, "refund done is failed"},
		{"a reservation that is lost", func(a *Account) { a.Payment.PendingCents = 0 }, "0 cents are on their way back by the balance, 100 by the ledger"},
		{"lines that the order knows", func(a *Account) {
			lines := []RefundLine{{ProductID: "a", Quantity: 2, TaxCents: 3}}
			for i := range a.Refunds {
				a.Refunds[i].Lines, a.Refunds[i].Restock = lines, true
			}
			a.Order.LineRefunds = LineRefunds{{ProductID: "a", Quantity: 4, TaxCents: 6, Restock: 2, Returned: 4}}
		}, ""},
		{"lines that it does not know", func(a *Account) { a.Refunds[3].Lines = []RefundLine{{ProductID: "a", Quantity: 2, TaxCents: 3}} },
			"by the order -2 pieces of a, -3 cents of their tax"},
		{"lines of a refund that failed", func(a *Account) { a.Order.LineRefunds = LineRefunds{{ProductID: "a", Quantity: 1}} }, "by the order 1 pieces of a"},
		{"the order says more", func(a *Account) { a.Order.RefundedCents++ }, "301 cents are refunded by the order"},
		{"the balance says less", func(a *Account) { a.Payment.RefundedCents--; a.Order.RefundedCents-- }, "299 cents are refunded by the balance, 300 by the ledger"},
		{"more goes back than was paid", func(a *Account) {
			a.Entries[0].AmountCents, a.Payment.CapturedCents, a.Order.TotalCents = 399, 399, 399
		}, "300 of 399 cents are refunded, and 100 on their way"},
		{"all of it goes back", func(a *Account) {
			a.Entries[0].AmountCents, a.Payment.CapturedCents, a.Order.TotalCents = 400, 400, 400
		}, ""},
		{"another total", func(a *Account) { a.Order.TotalCents = 999 }, "its total is 999, but 1000 cents were captured"},
		{"cancelled, money left", func(a *Account) { a.Order.Status = Cancelled }, "no attention was raised"},
		{"cancelled, asked for another reason", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionDisputed, Since: 1}}
		}, "no attention was raised"},
		{"cancelled, asked before the order was", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1, ResolvedOn: 2, ResolvedBy: "order:refund_in_full"}}
		}, "no attention was raised"},
		{"cancelled, resolved by a person", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1, ResolvedOn: 2, ResolvedBy: "staff:usr_1"}}
		}, ""},
		{"cancelled, attention raised", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1}}
		}, ""},
		{"never marked as paid", func(a *Account) { a.Order.Status = PendingPayment }, "no attention was raised"},
	} {
		a := paidAccount()
		c.spoil(&a)
		faults := strings.Join(a.Faults(), "\n")
		if (faults == "") != (c.says == "") || !strings.Contains(faults, c.says) {
			t.Errorf("%s: %q, want %q", c.name, faults, c.says)
		}
	}
}

func TestAccountFaultsAtTheProcessor(t *testing.T) {
	for _, c := range []struct {
		paid, refunded       Cents
		differences, awaited int
	}{{1000, 300, 0, 0}, {1000, 400, 0, 0}, {1000, 299, 1, 1}, {1000, 401, 1, 1}, {1001, 300, 1, 1}, {999, 300, 1, 0}, {0, 300, 1, 0}, {2000, 0, 2, 2}} {
		list, awaited := paidAccount().DifferencesAt(c.paid, c.refunded), 0
		for _, d := range list {
			if d.Awaited {
				awaited++
			}
		}
		if len(list) != c.differences || awaited != c.awaited {
			t.Errorf("%d paid, %d refunded: %+v", c.paid, c.refunded, list)
		}
	}
}

// TestAccountExplained: what may explain a difference with the processor.
func TestAccountExplained(t *testing.T) {
	a := paidAccount()
	for _, c := range []struct {
		job  Job
		want bool
	}{
		{Job{Kind: JobRefund, Subject: a.Refunds[0].ID}, true}, {Job{Kind: JobRefund, Subject: "rfd_of_another"}, false},
		{Job{Kind: JobOpenSession, Subject: a.Order.ID}, true}, {Job{Kind: JobExpireSession, Subject: a.Order.ID}, true},
		{Job{Kind: JobExpireSession, Subject: "ord_another"}, false}, {Job{Kind: JobMailPaid, Subject: a.Order.ID}, false},
	} {
		if got := a.Awaits(c.job); got != c.want {
			t.Errorf("%+v: %v, want %v", c.job, got, c.want)
		}
	}
	a.Payment.UpdatedOn = 1000
	for _, c := range []struct {
		captured Cents
		now      Millis
		want     bool
	}{{0, 1000, true}, {0, 60_999, true}, {0, 61_000, false}, {1, 1000, false}} {
		a.Payment.CapturedCents = c.captured
		if got := a.Young(c.now); got != c.want {
			t.Errorf("%d captured, at %d: %v, want %v", c.captured, c.now, got, c.want)
		}
	}
}
