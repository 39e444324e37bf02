package commerce

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestMoneyThatIsLeft: money of an order that will not be fulfilled needs attention, and only then.
func TestMoneyThatIsLeft(t *testing.T) {
	open := func(code AttentionCode) []Attention { return []Attention{{Code: code, Since: 1}} }
	for _, status := range []OrderStatus{PendingPayment, FailedPayment, Cancelled, Refunded} {
		for _, c := range []struct {
			captured  Cents
			attention []Attention
			faults    int
		}{
			{0, nil, 0}, {1, nil, 1}, {1, open(AttentionPaymentMismatch), 0}, {1, open(AttentionRefundDue), 0}, {1, open(AttentionRefundFailed), 0},
			{1, open(AttentionRefundUnknown), 1}, {1, []Attention{{Code: AttentionRefundDue}}, 1},
		} {
			a := Account{Order: Order{Status: status}, Attention: c.attention}
			if c.captured > 0 {
				a.Entries = append(a.Entries, a.Payment.Capture(c.captured, "pi", 1))
			}
			if faults := a.Faults(); len(faults) != c.faults {
				t.Errorf("%s, %d cents are left, %+v: %q", status, c.captured, c.attention, faults)
			}
		}
	}
}

// TestOneHoleIsOneFault: what comes after a missing entry is not told as missing, too.
func TestOneHoleIsOneFault(t *testing.T) {
	a := paidAccount()
	a.Entries = a.Entries[1:]
	if faults := strings.Join(a.Faults(), "\n"); strings.Count(faults, "is missing") != 1 {
		t.Error(faults)
	}
	for name, r := range map[string]LineRefund{"pieces": {Quantity: 1}, "tax": {TaxCents: 1}, "stock": {Restock: 1}} {
		a := paidAccount()
		a.Order.LineRefunds = LineRefunds{r}
		if len(a.Faults()) != 1 {
			t.Errorf("%s that are in no refund: %q", name, a.Faults())
		}
	}
	for _, d := range paidAccount().DifferencesAt(1001, 5) {
		if !strings.Contains(d.Text, "1001 cents were paid at sandbox, 1000 are") && !strings.Contains(d.Text, "5 cents were refunded at sandbox, 300 here, and 100 are") {
			t.Error(d.Text)
		}
	}
	if p := (Payment{CapturedCents: 1, RefundedCents: 1}); !p.Returned() || (Payment{}).Returned() || (Payment{CapturedCents: 2, RefundedCents: 1}).Returned() {
		t.Error("a cent that went back is not returned, or nothing is")
	}
}

// TestRefundOfLinesThatIsNotCovered: lines may be worth more than what is left of the payment.
func TestRefundOfLinesThatIsNotCovered(t *testing.T) {
	o := basket(100)
	for _, c := range []struct {
		paid, refunded Cents
		want           string
	}{{0, 0, "no_processor_payment"}, {709, 709, "already_refunded"}, {709, 0, ""}, {710, 0, ""}, {708, 0, "invalid_amount"}, {709, 1, "invalid_amount"}} {
		p := Payment{CapturedCents: c.paid, RefundedCents: c.refunded}
		priced, amount, err := p.PriceRefund(o, []RefundLine{{ProductID: "a", Quantity: 2}})
		if codeOf(err) != c.want || err == nil && (amount != 709 || len(priced) != 1) {
			t.Errorf("%d of %d cents are refunded: %v, %d, %v", c.refunded, c.paid, priced, amount, err)
		}
	}
	if _, amount, err := o.PriceRefund([]RefundLine{{ProductID: "x", Quantity: 1}}); amount != 0 || err == nil {
		t.Errorf("another product: %d, %v", amount, err)
	}
	if _, amount, err := o.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 3}}); amount != 0 || err == nil {
		t.Errorf("too many pieces: %d, %v", amount, err)
	}
	if _, amount, err := o.PriceRefund([]RefundLine{{ProductID: "free", Quantity: 1}}); amount != 0 || err == nil {
		t.Errorf("a free piece: %d, %v", amount, err)
	}
	gift := Order{Lines: []OrderLine{{ProductID: "free", Quantity: 1}, {ProductID: "cheap", Quantity: 1, PriceCents: 1}}, SubtotalCents: 1, TaxCents: 1}
	if priced, amount, err := gift.PriceRefund([]RefundLine{{ProductID: "cheap", Quantity: 1}}); err != nil || amount != 2 || priced[0].TaxCents != 1 {
		t.Errorf("a cent and its tax: %v, %d, %v", priced, amount, err)
	}
}

// TestRefundOfOneProductInTwoLines: each product stands once in a refund, with all of its pieces and tax.
func TestRefundOfOneProductInTwoLines(t *testing.T) {
	o := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 4, PriceCents: 100}}, SubtotalCents: 400, TaxCents: 40}
	priced, amount, err := o.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}, {ProductID: "a", Quantity: 2}})
	if want := []RefundLine{{"a", 3, 30}}; err != nil || amount != 330 || !reflect.DeepEqual(priced, want) {
		t.Errorf("%v, %d, %v", priced, amount, err)
	}
	for _, c := range []struct{ price, want Cents }{{100, 33}, {50, 17}, {149, 50}, {150, 50}, {151, 50}} { // a third, rounded half up
		o := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 9, PriceCents: c.price}}, SubtotalCents: 300, TaxCents: 100}
		if priced, _, err := o.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}}); err != nil || priced[0].TaxCents != c.want {
			t.Errorf("the tax of %d cents is %v, want %d, %v", c.price, priced, c.want, err)
		}
	}
	half := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 9, PriceCents: 1}}, SubtotalCents: 9, TaxCents: 13}
	if priced, _, err := half.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}}); err != nil || priced[0].TaxCents != 1 { // 1.44...
		t.Errorf("%v, %v", priced, err)
	}
	two := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 2, PriceCents: 100}}, SubtotalCents: 200, TaxCents: 1}
	if priced, _, err := two.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}}); err != nil || priced[0].TaxCents != 1 {
		t.Errorf("half a cent of tax: %v, %v", priced, err)
	}
	six, sum := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 6, PriceCents: 100}}, SubtotalCents: 600, TaxCents: 3}, Cents(0)
	for range 6 { // each share is half a cent, so it is used up after three
		priced, amount, err := six.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}})
		if err != nil {
			t.Fatal(err)
		}
		six.LineRefunds, sum = six.LineRefunds.Add(priced), sum+amount
	}
	if _, _, err := six.PriceRefund([]RefundLine{{ProductID: "a", Quantity: 1}}); sum != 603 || err == nil {
		t.Errorf("six pieces of 603 cents are worth %d, and there is a seventh: %v", sum, err)
	}
	if (Order{TaxCents: 5}).taxOf(7) != 0 {
		t.Error("the tax of an order that costs nothing has shares")
	}
}

// TestGiveBack: a piece is given back to stock once, at its price, though its refund is made again.
func TestGiveBack(t *testing.T) {
	o := Order{Lines: []OrderLine{{ProductID: "a", Quantity: 1, PriceCents: 300}, {ProductID: "a", Quantity: 2, PriceCents: 200}, {ProductID: "b", Quantity: 1, PriceCents: 50}}}
	give := func(pieces int64) string {
		return fmt.Sprint(o.GiveBack([]RefundLine{{ProductID: "a", Quantity: pieces}}))
	}
	for _, c := range []struct {
		got, want string
	}{{give(1), "[{a 1 300}]"}, {fmt.Sprint(o.Demands()), "[{a 2 400} {b 1 50}]"}, {give(1), "[{a 1 200}]"}, {fmt.Sprint(o.Demands()), "[{a 1 200} {b 1 50}]"}} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	o.LineRefunds = o.LineRefunds.Remove([]RefundLine{{ProductID: "a", Quantity: 1}}, true) // its money came back
	if got := give(1); got != "[]" {
		t.Errorf("given back twice: %s", got)
	}
	if got := give(1) + fmt.Sprint(o.Demands()); got != "[{a 1 200}][{b 1 50}]" {
		t.Error(got)
	}
	if got := give(1); got != "[]" {
		t.Errorf("more than was sold: %s", got)
	}
}

// TestDeedsOfOthers: what was not done now is no deed.
func TestDeedsOfOthers(t *testing.T) {
	const now = 7
	for name, c := range map[string]Changes{
		"a refund that was made":              {Refunds: []Refund{{ID: "r", State: RefundDone, UpdatedOn: now}}},
		"a refund that failed before":         {Refunds: []Refund{{ID: "r", State: RefundFailed, UpdatedOn: now - 1}}},
		"another attention":                   {Attention: []Attention{{Code: AttentionDisputed, Since: now}}},
		"a mismatch of before":                {Attention: []Attention{{Code: AttentionPaymentMismatch, Since: now - 1}}},
		"a mismatch that is resolved at once": {Attention: []Attention{{Code: AttentionPaymentMismatch, Since: now, ResolvedOn: now}}},
	} {
		if got := c.Deeds(nil, now); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	refused := Changes{Refunds: []Refund{{ID: "r", State: RefundFailed, UpdatedOn: now}}, Ledger: []LedgerEntry{{Kind: EntryRefundFailed, RefundID: "q"}, {Kind: EntryRefund, RefundID: "r"}}}
	if got := fmt.Sprint(refused.Deeds(nil, now)); got != "[{refund failed_later live} {refund done live} {refund refused live}]" {
		t.Error(got)
	}
}

// TestSumsOfCouriers: which orders count as brought, late, and finished.
func TestSumsOfCouriers(t *testing.T) {
	created, promised := SumEvent{Kind: TimelineDeliveryCreated, CreatedOn: 2}, SumEvent{Kind: TimelineDeliveryCreated, CreatedOn: 2, DropoffETA: 5}
	confirmed, pickedUp := SumEvent{Kind: TimelineProcessed, CreatedOn: 1}, SumEvent{Kind: TimelinePickedUp, CreatedOn: 9}
	delivered := func(on Millis) SumEvent { return SumEvent{Kind: TimelineDelivered, CreatedOn: on} }
	for _, c := range []struct {
		name              string
		events            []SumEvent
		found, by, late   int64
		finished, confirm int64
	}{
		{"in time", []SumEvent{confirmed, promised, delivered(5)}, 1, 1, 0, 1, 0},
		{"late", []SumEvent{confirmed, promised, delivered(6)}, 1, 1, 1, 1, 0},
		{"late, without a promise", []SumEvent{confirmed, created, delivered(6)}, 1, 1, 0, 1, 0},
		{"picked up in the end", []SumEvent{confirmed, promised, pickedUp}, 1, 0, 0, 1, 0},
		{"delivered, and then picked up", []SumEvent{confirmed, created, delivered(6), pickedUp}, 1, 1, 0, 1, 0},
		{"on its way", []SumEvent{confirmed, promised}, 1, 0, 0, 0, 0},
		{"brought by no courier of ours", []SumEvent{confirmed, delivered(6)}, 0, 0, 0, 1, 0},
		{"finished without being confirmed", []SumEvent{delivered(6)}, 0, 0, 0, 0, 0},
		{"paid", []SumEvent{{Kind: TimelinePaid, CreatedOn: 1}, {Kind: TimelineProcessed, CreatedOn: 3}}, 0, 0, 0, 0, 1},
	} {
		var s Sum
		s.Add(SumFacts{Events: c.events})
		if s.Of(SumCourierFound) != c.found || s.Of(SumByCourier) != c.by || s.Of(SumCourierLate) != c.late || s.Finish.Count() != c.finished || s.Confirm.Count() != c.confirm {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// TestQuantiles: the waits of a step are taken as spread evenly over it.
func TestQuantiles(t *testing.T) {
	var w Waits
	for range 10 {
		w.Add(10 * time.Second)
	}
	if q := w.Quantile(1); q != 15*time.Second {
		t.Errorf("all of one step end after %v", q)
	}
	for range 10 {
		w.Add(20 * time.Second)
	}
	for part, want := range map[float64]time.Duration{0.25: 7500 * time.Millisecond, 0.5: 15 * time.Second, 0.75: 22500 * time.Millisecond, 1: 30 * time.Second} {
		if q := w.Quantile(part); q != want {
			t.Errorf("%v of the waits end after %v, want %v", part, q, want)
		}
	}
}
