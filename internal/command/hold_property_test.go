package command

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"pgregory.net/rapid"
)

// stall is a store with one product, of which orders take some pieces.
type stall struct {
	now      commerce.Millis
	stored   commerce.Changes
	jobs     []commerce.Job
	moves    []commerce.StockMove
	adjusted int64                 // pieces that were there, and came by adjustments
	began    map[string]OrderFacts // as they were read when the order was made
}

const stallOrders = 6

func newStall() *stall {
	return &stall{now: now, adjusted: 5, began: map[string]OrderFacts{}, stored: commerce.Changes{
		Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s", Active: true, PickupEnabled: true}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", PriceCents: 100, Active: true, Quantity: 5, Moves: 1, MovedOn: now}}},
		moves: []commerce.StockMove{{StoreID: "s", ProductID: "a", Seq: 1, Kind: commerce.MoveOpened, Delta: 5, QuantityAfter: 5, At: now}}}
}

// put replaces the rows with the keys of others, and adds those that are new.
func put[K comparable, V interface{ Key() K }](rows, changed []V) []V {
	for _, v := range changed {
		rows = append(slices.DeleteFunc(rows, func(w V) bool { return w.Key() == v.Key() }), v)
	}
	return rows
}

// sells decides a command over what is stored. The process may die before it is saved: then
// nothing has happened.
func sells[R any](w *stall, cmd decider[R], dies bool) error {
	w.now++
	before := w.stored
	before.Jobs = w.jobs
	rows := fill(cmd.Needs(), before)
	_, changes, err := cmd.Decide(rows, w.now)
	if err != nil || dies {
		return err
	}
	for i := range changes.NewJobs {
		j := &changes.NewJobs[i]
		j.ID, j.State = fmt.Sprint("job_", w.now, "_", i), commerce.JobWaiting
		w.jobs = append(w.jobs, *j)
	}
	schema.Apply(rows, &changes) // panics for what was not in the needs, and for a quantity without a move
	w.jobs = put(w.jobs, changes.Jobs)
	w.jobs = slices.DeleteFunc(w.jobs, func(j commerce.Job) bool { return slices.Contains(changes.DoneJobs, j.Key()) })
	w.stored.Orders, w.stored.Payments = put(w.stored.Orders, changes.Orders), put(w.stored.Payments, changes.Payments)
	w.stored.Stock, w.stored.Attention = put(w.stored.Stock, changes.Stock), put(w.stored.Attention, changes.Attention)
	w.stored.Refunds, w.moves = put(w.stored.Refunds, changes.Refunds), append(w.moves, changes.StockMoves...)
	return nil
}

func (w *stall) stock() commerce.Stock { return w.stored.Stock[0] }

func (w *stall) order(id string) commerce.Order {
	return w.stored.Orders[slices.IndexFunc(w.stored.Orders, func(o commerce.Order) bool { return o.ID == id })]
}

func (w *stall) payment(id string) commerce.Payment {
	i := slices.IndexFunc(w.stored.Payments, func(p commerce.Payment) bool { return p.OrderID == id })
	if i < 0 {
		return commerce.Payment{}
	}
	return w.stored.Payments[i]
}

// sale is a new order.
func (w *stall) sale(t *rapid.T) Sale {
	if len(w.stored.Orders) == stallOrders {
		t.Skip("enough orders")
	}
	return Sale{Actor: byPartner, OrderID: commerce.NewOrderID(7, 9, commerce.Entropy{byte(len(w.stored.Orders))}), StoreID: "s", Fulfillment: commerce.ByPickup,
		Lines: []commerce.OrderLine{{ProductID: "a", Quantity: rapid.Int64Range(1, 3).Draw(t, "pieces"), PriceCents: 100}}}
}

// some draws an order, with its facts as they were read now or when it was made.
func (w *stall) some(t *rapid.T) (commerce.Order, OrderFacts) {
	if len(w.stored.Orders) == 0 {
		t.Skip("no orders")
	}
	o := rapid.SampledFrom(w.stored.Orders).Draw(t, "order")
	if rapid.Bool().Draw(t, "old facts") {
		return o, w.began[o.ID]
	}
	return o, FactsOf(o)
}

// job draws a job of a kind that is due, leased.
func (w *stall) job(t *rapid.T, kind commerce.JobKind) commerce.Job {
	var due []commerce.Job
	for _, j := range w.jobs {
		if j.Kind == kind && j.Due(w.now) {
			due = append(due, j)
		}
	}
	if len(due) == 0 {
		t.Skip("no job")
	}
	j := rapid.SampledFrom(due).Draw(t, "job").LeasedTo("me", w.now+10)
	w.jobs = put(w.jobs, []commerce.Job{j})
	return j
}

// TestHoldsAddUp: checkouts that hold and that do not, payments, ends of pages and of holds,
// confirmations, refunds and adjustments come in any order, late and repeated, and processes
// die. What is held is what the orders hold; each hold becomes one sale or is released once;
// what was held and paid can be confirmed.
func TestHoldsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newStall()
		dies := func() bool { return rapid.IntRange(0, 4).Draw(t, "dies at 0") == 0 }
		run := func(err error) {
			if _, refusal := errors.AsType[*commerce.Error](err); err != nil && !refusal {
				t.Fatal(err)
			}
		}
		actions := map[string]func(*rapid.T){
			"settings": func(t *rapid.T) {
				w.stored.Stores[0].HoldMinutes = rapid.SampledFrom([]int64{0, 5, 60}).Draw(t, "minutes")
			},
			"time": func(t *rapid.T) {
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{5, 60}).Draw(t, "minutes") * time.Minute)
			},
			"checkout": func(t *rapid.T) {
				cmd := StartCheckout{Sale: w.sale(t), Titles: []commerce.LineTitle{{}}, Processor: "box"}
				short := cmd.Lines[0].Quantity > w.stock().Quantity
				err := sells(w, cmd, dies())
				if short != (err != nil) {
					t.Fatalf("checkout of %d of %+v: %v", cmd.Lines[0].Quantity, w.stock(), err)
				}
			},
			"report": func(t *rapid.T) { run(sells(w, ReportOrder{Sale: w.sale(t), ExternalID: fmt.Sprint(w.now)}, dies())) },
			"session": func(t *rapid.T) {
				j := w.job(t, commerce.JobOpenSession)
				cmd := RecordPaymentSession{RecordJob: RecordJob{Job: j}, Facts: w.began[j.Subject], SessionID: "cs", URL: "u"}
				if rapid.Bool().Draw(t, "refused") {
					cmd.SessionID, cmd.URL, cmd.Refused = "", "", "no"
				}
				run(sells(w, cmd, dies()))
			},
			"end of hold": func(t *rapid.T) {
				j := w.job(t, commerce.JobEndHold)
				before, dead := w.order(j.Subject), dies()
				run(sells(w, EndHold{RecordJob: RecordJob{Job: j}, Facts: FactsOf(before)}, dead))
				ended(t, before, w.order(j.Subject), before.Status == commerce.PendingPayment && !dead)
			},
			"end of page": func(t *rapid.T) {
				before, facts := w.some(t)
				state, dead := w.payment(before.ID).State, dies()
				run(sells(w, RecordPaymentCallback{Facts: facts, Kind: CallbackExpired, Actor: byProcessor}, dead))
				ends := before.Status == commerce.PendingPayment && (state == commerce.PaymentOpening || state == commerce.PaymentOpen) && !dead
				ended(t, before, w.order(before.ID), ends)
			},
			"pay": func(t *rapid.T) {
				o, facts := w.some(t)
				amount := o.TotalCents - rapid.SampledFrom([]commerce.Cents{0, 0, 0, 1}).Draw(t, "too little")
				run(sells(w, RecordPayment{Facts: facts, Actor: byProcessor, SessionID: "cs", PaymentID: "pi", AmountCents: amount}, dies()))
			},
			"confirm": func(t *rapid.T) {
				o, facts := w.some(t)
				err := sells(w, ConfirmOrder{Facts: facts, Actor: byPartner}, dies())
				if o.Status == commerce.Paid && o.HeldUntil != 0 && err != nil {
					t.Fatalf("%+v is held, and cannot be confirmed: %v", o, err)
				}
				run(err)
			},
			"cancel": func(t *rapid.T) {
				_, facts := w.some(t)
				run(sells(w, CancelOrder{Facts: facts, Actor: byPartner}, dies()))
			},
			"refund in full": func(t *rapid.T) {
				o, facts := w.some(t)
				if left := w.payment(o.ID).Left(); left > 0 {
					run(sells(w, RecordRefundCallback{Facts: facts, Actor: byProcessor, RefundID: "re" + o.ID, Ref: "re", AmountCents: left}, dies()))
				}
			},
			"adjust": func(t *rapid.T) {
				delta := rapid.Int64Range(-2, 2).Draw(t, "delta")
				dead := dies()
				err := sells(w, AdjustInventory{Actor: byPartner, Lines: []AdjustmentLine{{Product: w.stock().Key(), Delta: delta}}}, dead)
				if run(err); err == nil && !dead {
					w.adjusted += delta
				}
			},
			"": w.check,
		}
		t.Repeat(actions)
		w.now = w.now.Add(2 * time.Hour)
		for _, j := range slices.Clone(w.jobs) {
			if j.Kind == commerce.JobEndHold {
				run(sells(w, EndHold{RecordJob: RecordJob{Job: j}, Facts: w.began[j.Subject]}, false))
			}
		}
		w.check(t)
		for _, o := range w.stored.Orders {
			if o.Status == commerce.PendingPayment && o.HeldUntil != 0 {
				t.Fatalf("%+v is held for ever", o)
			}
		}
	})
}

// ended: the hold of an unpaid order ends with its time and with the page, and no other does.
func ended(t *rapid.T, before, after commerce.Order, ends bool) {
	if ends && after.HeldUntil != 0 || !ends && after.HeldUntil != before.HeldUntil {
		t.Fatalf("ends %v: %+v\nwas %+v", ends, after, before)
	}
}

// check compares the stock with what the orders say, and with its moves.
func (w *stall) check(t *rapid.T) {
	var held, sold int64
	for _, o := range w.stored.Orders {
		if _, known := w.began[o.ID]; !known {
			w.began[o.ID] = FactsOf(o)
		}
		pieces := o.Lines[0].Quantity
		switch {
		case o.HeldUntil != 0:
			held += pieces
			waits := slices.ContainsFunc(w.jobs, func(j commerce.Job) bool { return j.Kind == commerce.JobEndHold && j.Subject == o.ID })
			if o.InventoryDeducted || o.Status != commerce.Paid && (o.Status != commerce.PendingPayment || !waits) {
				t.Fatalf("held, with a job %v: %+v", waits, o)
			}
		case o.InventoryDeducted:
			sold += pieces
		}
		w.checkHold(t, o)
	}
	if s := w.stock(); s.Held != held || s.SoldCount != sold || s.Quantity != w.adjusted-held-sold || s.Quantity < 0 {
		t.Fatalf("%d held, %d sold of %d: %+v\norders %+v", held, sold, w.adjusted, s, w.stored.Orders)
	}
	check := commerce.NewStockCheck(w.stock(), func(fault string, _ bool) { t.Fatal(fault) })
	for _, m := range slices.Backward(w.moves) {
		check.Add(m)
	}
	check.End()
}

// checkHold: an order that held goods sold or released them once, or holds them still.
func (w *stall) checkHold(t *rapid.T, o commerce.Order) {
	count := map[commerce.MoveKind]int{}
	for _, m := range w.moves {
		if m.Order == commerce.OrderBodyOf(o.ID) && m.Held != nil {
			count[m.Kind]++
		}
	}
	ended := count[commerce.MoveReleased] + count[commerce.MoveSold]
	if began := count[commerce.MoveHeld]; w.began[o.ID].Holds != (began == 1) || (began-ended == 1) != (o.HeldUntil != 0) || ended > began {
		t.Fatalf("%v of order %+v", count, o)
	}
}
