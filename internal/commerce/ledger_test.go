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
		{"a kind that nobody knows", func(a *Account) { a.Entries[3].Kind = "gift" }, "unknown kind"},
		{"a refund twice", func(a *Account) { a.Entries = append(a.Entries, a.Payment.Return(300, "done", "re", 4)) }, "its entries sum to 600"},
		{"a refund that is not entered", func(a *Account) { a.Refunds[2].State = RefundDone }, "refund refused is done, 50 cents, but its entries sum to 0"},
		{"a failed one that is", func(a *Account) { a.Refunds[0].State = RefundFailed }, "refund done is failed"},
		{"a reservation that is lost", func(a *Account) { a.Payment.PendingCents = 0 }, "0 cents are on their way back by the balance, 100 by the ledger"},
		{"the order says more", func(a *Account) { a.Order.RefundedCents++ }, "301 cents are refunded by the order"},
		{"another total", func(a *Account) { a.Order.TotalCents = 999 }, "its total is 999, but 1000 cents were captured"},
		{"cancelled, money left", func(a *Account) { a.Order.Status = Cancelled }, "nobody was asked to look"},
		{"cancelled, asked for another reason", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionDisputed, Since: 1}}
		}, "nobody was asked to look"},
		{"cancelled, asked before the order was", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1, ResolvedOn: 2, ResolvedBy: "order:refund_in_full"}}
		}, "nobody was asked to look"},
		{"cancelled, settled by a person", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1, ResolvedOn: 2, ResolvedBy: "staff:usr_1"}}
		}, ""},
		{"cancelled, somebody asked", func(a *Account) {
			a.Order.Status, a.Attention = Cancelled, []Attention{{Code: AttentionRefundDue, Since: 1}}
		}, ""},
		{"never marked as paid", func(a *Account) { a.Order.Status = PendingPayment }, "nobody was asked to look"},
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
		paid, refunded Cents
		faults         int
	}{{1000, 300, 0}, {1000, 400, 0}, {1000, 299, 1}, {1000, 401, 1}, {0, 300, 1}, {2000, 0, 2}} {
		if faults := paidAccount().FaultsAt(c.paid, c.refunded); len(faults) != c.faults {
			t.Errorf("%d paid, %d refunded: %q", c.paid, c.refunded, faults)
		}
	}
}
