package commerce

import (
	"fmt"
	"slices"
	"time"
)

// Account holds all records about the money of one order.
type Account struct {
	Order   Order
	Payment Payment
	Entries []LedgerEntry // oldest first
	Refunds []Refund
	// Attention is why the merchant is or was asked to look at the order.
	Attention []Attention
}

// Faults lists the errors of an account, for people. The balance must be the sum of the
// entries, each refund must have the entries that its state requires, and the order must
// agree. It returns nothing if the account is right.
func (a Account) Faults() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var captured, refunded, pending Cents
	net := map[string]Cents{} // of each refund
	for i, e := range a.Entries {
		if e.Seq != int64(i+1) {
			fault("entry %d is missing", i+1)
			break
		}
		switch e.Kind {
		case EntryCapture:
			captured += e.AmountCents
		case EntryRefund, EntryRefundFailed:
			refunded -= e.Signed()
			net[e.RefundID] -= e.Signed()
		default:
			fault("entry %d is of the unknown kind %q", e.Seq, e.Kind)
		}
	}
	for _, r := range a.Refunds {
		want := Cents(0)
		switch r.State {
		case RefundDone:
			want = r.AmountCents
		case RefundPending:
			pending += r.AmountCents
		}
		if net[r.ID] != want {
			fault("refund %s is %s, %d cents, but its entries sum to %d", r.ID, r.State, r.AmountCents, net[r.ID])
		}
		delete(net, r.ID)
	}
	for id := range net {
		fault("entries tell of the refund %s, which is not on record", id)
	}
	p := a.Payment
	same := func(what string, balance, sum Cents) {
		if balance != sum {
			fault("%d cents are %s by the balance, %d by the ledger", balance, what, sum)
		}
	}
	same("captured", p.CapturedCents, captured)
	same("refunded", p.RefundedCents, refunded)
	same("on their way back", p.PendingCents, pending)
	if p.Entries != int64(len(a.Entries)) {
		fault("%d entries are counted, %d are there", p.Entries, len(a.Entries))
	}
	return append(append(faults, a.orderFaults()...), a.lineFaults()...)
}

// lineFaults compares what the order says of its refunds by line with these refunds.
func (a Account) lineFaults() (faults []string) {
	rest := a.Order.LineRefunds
	for _, r := range a.Refunds {
		switch r.State {
		case RefundDone:
			rest = rest.Remove(r.Lines, r.Restock)
		case RefundPending:
			rest = rest.Remove(r.Lines, false)
		}
	}
	for _, r := range rest {
		if r.Quantity != 0 || r.TaxCents != 0 || r.Restock != 0 {
			faults = append(faults, fmt.Sprintf("by the order %d pieces of %s, %d cents of their tax and %d pieces for the stock are in refunds, but not by these",
				r.Quantity, r.ProductID, r.TaxCents, r.Restock))
		}
	}
	return faults
}

func (a Account) orderFaults() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	o, p := a.Order, a.Payment
	if o.RefundedCents != p.RefundedCents {
		fault("%d cents are refunded by the order, %d by the balance", o.RefundedCents, p.RefundedCents)
	}
	if p.RefundedCents+p.PendingCents > p.CapturedCents {
		fault("%d of %d cents are refunded, and %d on their way", p.RefundedCents, p.CapturedCents, p.PendingCents)
	}
	switch o.Status {
	case PendingPayment, FailedPayment:
		if p.Left() > 0 && !a.asked() {
			fault("%d cents were captured for an order that is %s, and no attention was raised", p.CapturedCents, o.Status)
		}
	case Cancelled, Refunded:
		if p.Left() > 0 && !a.asked() {
			fault("the order is %s, %d cents are left, and no attention was raised", o.Status, p.Left())
		}
	default:
		if p.CapturedCents != o.TotalCents {
			fault("the order is %s, its total is %d, but %d cents were captured", o.Status, o.TotalCents, p.CapturedCents)
		}
	}
	return faults
}

// asked reports whether the merchant is asked to look at the remaining money of the order,
// or a person has resolved that.
func (a Account) asked() bool {
	return slices.ContainsFunc(a.Attention, func(r Attention) bool {
		aboutMoney := r.Code == AttentionPaymentMismatch || r.Code == AttentionRefundDue || r.Code == AttentionRefundFailed
		return aboutMoney && (r.Open() || r.Settled())
	})
}

// Difference is one between an account and the processor's record of the payment.
type Difference struct {
	Text string // for people
	// Awaited says that a callback of the processor would end the difference.
	Awaited bool
}

// DifferencesAt compares the account with the amounts that the processor reports. The
// processor may or may not have made the refunds that are pending here.
func (a Account) DifferencesAt(paid, refunded Cents) (list []Difference) {
	p := a.Payment
	if paid != p.CapturedCents {
		list = append(list, Difference{fmt.Sprintf("%d cents were paid at %s, %d are captured here", paid, p.Processor, p.CapturedCents), paid > p.CapturedCents})
	}
	if refunded < p.RefundedCents || refunded > p.RefundedCents+p.PendingCents {
		list = append(list, Difference{fmt.Sprintf("%d cents were refunded at %s, %d here, and %d are on their way",
			refunded, p.Processor, p.RefundedCents, p.PendingCents), true})
	}
	return list
}

// young is how long the first callback about a payment may take.
const young = time.Minute

// Young reports whether the payment session was stored or updated so recently that the
// callback about its payment may be on the way.
func (a Account) Young(now Millis) bool {
	return a.Payment.CapturedCents == 0 && now < a.Payment.UpdatedOn.Add(young)
}

// Awaits reports whether the job is about the account's money, so that its outcome may
// change the account.
func (a Account) Awaits(j Job) bool {
	switch j.Kind {
	case JobOpenSession, JobExpireSession:
		return j.Subject == a.Order.ID
	case JobRefund:
		return slices.ContainsFunc(a.Refunds, func(r Refund) bool { return r.ID == j.Subject })
	}
	return false
}
