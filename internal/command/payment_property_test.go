package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"pgregory.net/rapid"
)

// till is one order with its stored payment and delivery, and the state at the
// processor, which may be ahead of them.
type till struct {
	now     commerce.Millis
	order   commerce.Order
	payment commerce.Payment
	stock   commerce.Stock
	refunds map[string]commerce.Refund
	jobs    map[commerce.JobKey]commerce.Job
	ledger  []commerce.LedgerEntry

	attention  []commerce.Attention
	deliveries []commerce.Delivery    // one, or none
	saved      func(commerce.Changes) // called with all stored changes; may be nil

	paid      commerce.Cents // at the processor
	made      map[string]commerce.Cents
	back      map[string]bool // of those that were made: the money came back
	returned  int64           // the most pieces that refunds have returned at one time
	callbacks []func(*rapid.T)
}

func newTill(f commerce.Fulfillment) *till {
	o := orderIn(commerce.PendingPayment, f, false)
	o.SubtotalCents, o.TaxCents = 274, 26
	o.Lines = []commerce.OrderLine{{ProductID: "a", Quantity: 2, PriceCents: 91}, {ProductID: "a", Quantity: 1, PriceCents: 92}}
	before := withPayment(o, paying(commerce.PaymentOpen, 0))
	return &till{now: now, order: o, payment: before.Payments[0], stock: before.Stock[0], refunds: map[string]commerce.Refund{},
		jobs: map[commerce.JobKey]commerce.Job{}, made: map[string]commerce.Cents{}, back: map[string]bool{}}
}

// decider is a command.
type decider[R any] interface {
	Needs() commerce.Needs
	Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error)
}

// do decides a command over what is stored, and stores what it changes.
func do[R any](w *till, cmd decider[R]) error {
	w.now++
	stored := stored(w.order, 0)
	stored.Payments, stored.Stock = []commerce.Payment{w.payment}, []commerce.Stock{w.stock}
	stored.Deliveries, stored.Attention = w.deliveries, w.attention
	stored.Refunds, stored.Jobs = slices.Collect(maps.Values(w.refunds)), slices.Collect(maps.Values(w.jobs))
	rows := fill(cmd.Needs(), stored)
	_, changes, err := cmd.Decide(rows, w.now)
	if err != nil {
		return err
	}
	for i := range changes.NewJobs {
		j := &changes.NewJobs[i]
		j.ID, j.State = fmt.Sprint("job_", w.now, "_", i), commerce.JobWaiting
		w.jobs[j.Key()] = *j
	}
	schema.Apply(rows, &changes) // panics for what was not in the needs
	for _, k := range changes.DoneJobs {
		delete(w.jobs, k)
	}
	for _, j := range changes.Jobs {
		w.jobs[j.Key()] = j
	}
	for _, r := range changes.Refunds {
		w.refunds[r.ID] = r
	}
	stored = merge(stored, changes)
	w.order, w.payment, w.deliveries, w.attention = stored.Orders[0], stored.Payments[0], stored.Deliveries, stored.Attention
	if len(changes.Stock) > 0 {
		w.stock = changes.Stock[0]
	}
	w.ledger = append(w.ledger, changes.Ledger...)
	w.returned = max(w.returned, w.restocked())
	if w.saved != nil {
		w.saved(changes)
	}
	return nil
}

// try is do for what may be refused.
func try[R any](t *rapid.T, w *till, cmd decider[R]) {
	if err := do(w, cmd); err != nil {
		if refusal, ok := errors.AsType[*commerce.Error](err); !ok {
			t.Fatalf("%T: %v", cmd, err)
		} else {
			t.Log(refusal.Code)
		}
	}
}

// left is what the processor would still give back.
func (w *till) left() commerce.Cents {
	left := w.paid
	for id, amount := range w.made {
		if !w.back[id] {
			left -= amount
		}
	}
	return left
}

func (w *till) pay(amount commerce.Cents) {
	w.paid = amount
	cmd := RecordPayment{Facts: FactsOf(w.order), Actor: byProcessor, SessionID: "cs", PaymentID: "pi", AmountCents: amount}
	w.callbacks = append(w.callbacks, func(t *rapid.T) { try(t, w, cmd) })
}

// refundAt is a refund that the processor makes.
func (w *till) refundAt(id string, amount commerce.Cents, failed bool) {
	if failed {
		w.back[id] = true
	} else {
		w.made[id] = amount
	}
	cmd := RecordRefundCallback{Facts: FactsOf(w.order), Actor: byProcessor, RefundID: id, Ref: "re " + id, AmountCents: amount, Failed: failed}
	w.callbacks = append(w.callbacks, func(t *rapid.T) { try(t, w, cmd) })
}

// run makes a try of a job. The process may die before it records the outcome.
func (w *till) run(t *rapid.T, j commerce.Job, reachable, dies bool) {
	if j.Kind != commerce.JobRefund {
		delete(w.jobs, j.Key()) // a mail, or the end of a session that was paid
		return
	}
	r := w.refunds[j.Subject]
	j = j.LeasedTo("me", w.now+10)
	w.jobs[j.Key()] = j
	record := RecordRefund{RecordJob: RecordJob{Job: j, Delays: commerce.PaymentDelays}, Facts: FactsOf(w.order), RefundID: r.ID, Ref: "re " + r.ID}
	switch _, made := w.made[r.ID]; {
	case !reachable:
		record.Failed = errors.New("away")
	case w.back[r.ID]:
		record.Refused = "it came back"
	case !made && r.AmountCents > w.left():
		record.Refused = "that much is not left"
	case !made:
		w.refundAt(r.ID, r.AmountCents, false)
	}
	if !dies {
		try(t, w, record)
	}
}

func pick[K comparable, V any](t *rapid.T, m map[K]V, compare func(a, b K) int, what string) K {
	if len(m) == 0 {
		t.Skip("no ", what)
	}
	return rapid.SampledFrom(slices.SortedFunc(maps.Keys(m), compare)).Draw(t, what)
}

func byID(a, b commerce.JobKey) int {
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

// TestMoneyAddsUp: partner, customer, processor and processes act in a random order. The
// books add up, stock comes back at most once, money that is owed raises attention, and
// in the end the ledger agrees with the processor.
func TestMoneyAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newTill(commerce.ByPickup)
		facts := FactsOf(w.order)
		n := 0
		id := func() string { n++; return fmt.Sprint("rfd_", n) }
		if rapid.Bool().Draw(t, "begins with a paid order") {
			w.pay(300)
			w.callbacks[0](t)
			if rapid.Bool().Draw(t, "that is confirmed") {
				try(t, w, ConfirmOrder{Facts: facts, Actor: byPartner})
			}
		}
		was := w.order.Status
		t.Repeat(map[string]func(*rapid.T){
			"pay": func(t *rapid.T) {
				if w.paid != 0 {
					t.Skip("paid")
				}
				w.pay(rapid.SampledFrom([]commerce.Cents{300, 300, 300, 250}).Draw(t, "paid"))
			},
			"callback": func(t *rapid.T) {
				if len(w.callbacks) == 0 {
					t.Skip("none")
				}
				w.callbacks[rapid.IntRange(0, len(w.callbacks)-1).Draw(t, "which")](t)
			},
			"confirm":   func(t *rapid.T) { try(t, w, ConfirmOrder{Facts: facts, Actor: byPartner}) },
			"ready":     func(t *rapid.T) { try(t, w, MarkReady{Facts: facts, Actor: byPartner}) },
			"picked up": func(t *rapid.T) { try(t, w, MarkPickedUp{Facts: facts, Actor: byPartner}) },
			"cancel": func(t *rapid.T) {
				try(t, w, CancelOrder{Facts: facts, Actor: byPartner, Refund: rapid.Bool().Draw(t, "with refund"), RefundID: id()})
			},
			"refund": func(t *rapid.T) {
				try(t, w, RefundOrder{Facts: facts, Actor: byPartner, RefundID: id(), AmountCents: commerce.Cents(rapid.SampledFrom([]int64{0, 1, 100, 299, 300, 301}).Draw(t, "amount"))})
			},
			"refund lines": func(t *rapid.T) {
				lines := []commerce.RefundLine{{ProductID: "a", Quantity: rapid.Int64Range(1, 3).Draw(t, "pieces")}}
				if rapid.Bool().Draw(t, "two lines") {
					lines = append(lines, commerce.RefundLine{ProductID: "a", Quantity: 1})
				}
				try(t, w, RefundOrder{Facts: facts, Actor: byPartner, RefundID: id(), Lines: lines, Restock: rapid.Bool().Draw(t, "restock")})
			},
			"job": func(t *rapid.T) {
				j := w.jobs[pick(t, w.jobs, byID, "job")]
				w.run(t, j, rapid.IntRange(0, 3).Draw(t, "away at 0") != 0, rapid.IntRange(0, 3).Draw(t, "dies at 0") == 0)
			},
			"money comes back": func(t *rapid.T) {
				r := pick(t, w.made, func(a, b string) int { return slices.Compare([]byte(a), []byte(b)) }, "refund")
				if w.back[r] {
					t.Skip("it has")
				}
				w.refundAt(r, w.made[r], true)
			},
			"refund in the dashboard": func(t *rapid.T) {
				if w.left() == 0 {
					t.Skip("nothing left")
				}
				w.refundAt(fmt.Sprint("re_", n), commerce.Cents(rapid.Int64Range(1, int64(w.left())).Draw(t, "amount")), false)
				n++
			},
			"": func(t *rapid.T) {
				w.check(t)
				if w.order.Status == commerce.Refunded && was != commerce.Refunded && !w.payment.Returned() {
					t.Fatalf("refunded with %+v", w.payment)
				}
				was = w.order.Status
			},
		})
		w.finish(t)
	})
}

func (w *till) check(t *rapid.T) {
	var sum, pending, ours commerce.Cents
	for i, e := range w.ledger {
		sum += e.Signed()
		if e.Seq != int64(i+1) || sum < 0 {
			t.Fatalf("ledger %+v", w.ledger)
		}
	}
	for _, r := range w.refunds {
		switch {
		case r.State == commerce.RefundPending:
			pending += r.AmountCents
		case r.State == commerce.RefundDone && r.Origin != commerce.RefundElsewhere:
			ours += r.AmountCents
		}
	}
	p, o := w.payment, w.order
	if sum != p.CapturedCents-p.RefundedCents || p.PendingCents != pending || ours+pending > p.CapturedCents || o.RefundedCents != p.RefundedCents {
		t.Fatalf("order %+v\npayment %+v\nrefunds %+v\nledger %+v", o, p, w.refunds, w.ledger)
	}
	if o.Status == commerce.Refunded && !p.Returned() {
		t.Fatalf("the order is refunded, and %d of %d cents are not", p.CapturedCents-p.RefundedCents, p.CapturedCents)
	}
	if open := strings.Contains(openCodes(w.attention), "refund_failed"); open != (p.CameBackCents > 0) {
		t.Fatalf("%d cents came back, and the merchant is asked to look: %v", p.CameBackCents, open)
	}
	w.checkLines(t)
	if over := o.Status == commerce.Cancelled || o.Status == commerce.Refunded; over && p.Left() > 0 && openCodes(w.attention) == "" {
		t.Fatalf("the order is %s, and no attention is raised for its %d cents", o.Status, p.Left())
	}
}

// restocked are the pieces of made refunds that gave stock back.
func (w *till) restocked() (n int64) {
	for _, r := range w.refunds {
		for _, l := range r.Lines {
			if r.State == commerce.RefundDone && r.Restock {
				n += l.Quantity
			}
		}
	}
	return n
}

// checkLines compares what the order says of its refunds by line with the refunds, and the stock
// with both.
func (w *till) checkLines(t *rapid.T) {
	var pieces int64
	var cents, tax commerce.Cents
	for _, r := range w.refunds {
		for _, l := range r.Lines {
			if r.State == commerce.RefundPending || r.State == commerce.RefundDone {
				pieces, tax, cents = pieces+l.Quantity, tax+l.TaxCents, cents+r.AmountCents
			}
		}
	}
	o, restocked := w.order, w.restocked()
	if got := o.LineRefunds.Of("a"); got.Quantity != pieces || got.TaxCents != tax || got.Restock != restocked || got.Returned != w.returned {
		t.Fatalf("the order says %+v; refunds %+v have %d pieces, %d cents of tax; %d, and once %d pieces went back", got, w.refunds, pieces, tax, restocked, w.returned)
	}
	if pieces > 3 || tax > o.TaxCents || pieces == 3 && tax != o.TaxCents || cents > o.TotalCents {
		t.Fatalf("%d pieces are refunded, with %d cents, of which %d are tax", pieces, cents, tax)
	}
	want := int64(5)
	if o.InventoryDeducted {
		want = 2 + w.returned
	}
	if w.stock.Quantity != want {
		t.Fatalf("%d in stock, deducted %v, returned %d", w.stock.Quantity, o.InventoryDeducted, w.returned)
	}
}

// finish delivers all callbacks in their order, and runs all jobs.
func (w *till) finish(t *rapid.T) {
	for range 3 {
		for i := 0; i < len(w.callbacks); i++ { // and those that come meanwhile
			w.callbacks[i](t)
		}
		for _, j := range slices.SortedFunc(maps.Keys(w.jobs), byID) {
			w.run(t, w.jobs[j], true, false)
		}
	}
	w.check(t)
	if len(w.jobs) != 0 || w.payment.PendingCents != 0 || w.payment.CapturedCents != w.paid || w.payment.CapturedCents-w.payment.RefundedCents != w.left() {
		t.Fatalf("jobs %+v\npayment %+v, and the processor was paid %d, of which it has %d\nrefunds %+v", w.jobs, w.payment, w.paid, w.left(), w.refunds)
	}
}

// TestRefundRefusedAfterCancel: the order was cancelled while its refund was pending,
// and the processor refuses the refund. The money is still here, so attention is raised.
func TestRefundRefusedAfterCancel(t *testing.T) {
	o, r, run := orderIn(commerce.Cancelled, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
	cmd := recordRefund(o, r, run)
	cmd.Refused = "no"
	_, changes, err := decideAndClose(cmd, run, refunding(o, r, run))
	if err != nil || openCodes(changes.Attention) != "refund_due" || len(changes.Released) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestRefundBeforeWhatCameBack: the books do not know yet that an earlier
// refund came back, so that another one seems to be too much. It waits.
func TestRefundBeforeWhatCameBack(t *testing.T) {
	o, r, run := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 200), payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, r, run)
	before.Payments[0].RefundedCents = 150
	cmd := recordRefund(o, r, run)
	got, changes, err := decided(cmd, before, now)
	if err != nil || got.Job.State != commerce.JobWaiting || got.Job.Tries != 1 || len(changes.Jobs) != 1 || len(changes.Payments)+len(changes.Refunds)+len(changes.Ledger) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	callback := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", AmountCents: 200}
	_, changes, err = decided(callback, before, now)
	if refusal, ok := errors.AsType[*commerce.Error](err); !ok || refusal.Code != "too_early" || len(changes.Payments) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
}
