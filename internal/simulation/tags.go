package simulation

import (
	"cmp"
	"fmt"
)

// How providers misbehave, when they do, by the tags of docs/SANDBOX.md. The last ones end
// without a delivery.
var (
	payTags     = []string{"late", "twice", "unordered", "late.twice", "slow"}
	courierTags = []string{"twice", "late", "unordered", "skip-pickup", "cancel", "late.twice", "slow", "limited", "return", "cancel-always", "cancel-later", "uncancellable", "no-couriers"}
)

// What goes wrong with the money of some customers, as tags of docs/SANDBOX.md.
const (
	refuses   = "refund-refused"
	returns   = "refund-fails-later"
	disputed  = "disputed"
	paidTwice = "paid-twice"
	paidLess  = "paid-less"
)

var banks = []string{refuses, returns, disputed, paidTwice, paidLess}

// tag draws how the providers behave to the order.
func (s *story) tag(lot func(n int) int) {
	pays := ""
	if lot(4) == 0 && !s.w.Calm && s.w.troubled(tags) {
		pays = "+" + payTags[lot(len(payTags))]
	}
	if lot(4) == 0 && !s.w.Calm && s.w.troubled(tags) {
		s.misdeeds = courierTags[lot(len(courierTags))]
		s.line2 = "sandbox:" + s.misdeeds
	}
	if lot(4) > 0 { // few positions on the way are enough
		s.line2 = "sandbox:brief." + s.misdeeds
	}
	if lot(6) == 0 && !s.w.Calm && s.w.troubled(tags) {
		s.bank = banks[lot(len(banks))]
		pays = cmp.Or(pays, "+") + "." + s.bank
	}
	s.email = fmt.Sprintf("c%d%s@example.com", s.n, pays)
}
