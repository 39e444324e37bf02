package commerce

import "testing"

// TestRaiseAndResolve follows one reason from its first time to its second.
func TestRaiseAndResolve(t *testing.T) {
	var a Attention
	for _, step := range []struct {
		name string
		do   func(Attention) Attention
		want Attention
		open bool
	}{
		{"resolved before it was raised", func(a Attention) Attention { return a.Resolve("order:cancel", 1) }, Attention{}, false},
		{"raised", func(a Attention) Attention { return a.Raise("x", 2) }, Attention{Since: 2, Detail: "x"}, true},
		{"raised again", func(a Attention) Attention { return a.Raise("y", 3) }, Attention{Since: 2, Detail: "y"}, true},
		{"resolved", func(a Attention) Attention { return a.Resolve("order:cancel", 4) }, Attention{Since: 2, Detail: "y", ResolvedOn: 4, ResolvedBy: "order:cancel"}, false},
		{"resolved again", func(a Attention) Attention { return a.Resolve("staff:u", 5) }, Attention{Since: 2, Detail: "y", ResolvedOn: 4, ResolvedBy: "order:cancel"}, false},
		{"raised once more", func(a Attention) Attention { return a.Raise("z", 6) }, Attention{Since: 6, Detail: "z"}, true},
	} {
		if a = step.do(a); a != step.want || a.Open() != step.open {
			t.Errorf("%s: %+v, open %v; want %+v", step.name, a, a.Open(), step.want)
		}
	}
}

// TestReasons: every code has one rank, and what the bank, a second payment and a
// courier with the goods have begun is never resolved by an event of the order.
func TestReasons(t *testing.T) {
	for i, r := range Reasons {
		if r.Code.Rank() != i {
			t.Errorf("%s stands in the list twice", r.Code)
		}
	}
	if last := AttentionCode("unheard_of").Rank(); last != len(Reasons) {
		t.Errorf("an unknown code has rank %d", last)
	}
	for _, trigger := range []Trigger{Confirm, Cancel, RefundInFull, CourierCreated, CourierDelivered, DeclineRefund} {
		for _, code := range ResolvedBy(trigger) {
			switch code {
			case AttentionDisputed, AttentionSecondPayment, AttentionRefundAfterAll, AttentionRefundUnknown, AttentionGoodsWithCourier, AttentionNotCancelled, AttentionTwoCouriers, AttentionGoodsReturning:
				t.Errorf("%s is resolved by %s", code, trigger)
			}
		}
	}
}
