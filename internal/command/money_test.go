package command

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// dataOf is the data of the first timeline event that has some of the type.
func dataOf[D any](c commerce.Changes) (data D) {
	for _, e := range c.Timeline {
		if d, ok := e.Data.(D); ok {
			return d
		}
	}
	return data
}

// TestRefundOfACancellation: the refund that a cancellation starts has its reason and its trace, and the
// payment says when its amount was set aside.
func TestRefundOfACancellation(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	cmd := CancelOrder{Facts: FactsOf(o), Actor: byPartner, Reason: "sold out", Refund: true, RefundID: "r2"}
	got, changes, err := decided(cmd, withPayment(o, paying(commerce.PaymentPaid, 300)), now)
	want := commerce.Refund{StoreID: "s", ID: "r2", OrderID: "o", AmountCents: 300, Reason: "sold out", Origin: commerce.RefundCancelled, TraceID: byPartner.TraceID,
		State: commerce.RefundPending, CreatedOn: now, UpdatedOn: now}
	if err != nil || !reflect.DeepEqual(got.Refund, &want) || !reflect.DeepEqual(changes.Refunds, []commerce.Refund{want}) || changes.Payments[0].UpdatedOn != now {
		t.Errorf("%+v, %+v, %v", got.Refund, changes.Payments, err)
	}
}

// TestSmallPayments: a cent is a payment. Nothing is none, and cannot go back.
func TestSmallPayments(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	cmd := RecordPayment{Facts: FactsOf(o), PaymentID: "another", AmountCents: 1, Actor: byProcessor}
	if _, changes, err := decided(cmd, withPayment(o, paying(commerce.PaymentPaid, 1)), now); err != nil || openCodes(changes.Attention) != "second_payment" || len(changes.Ledger) > 0 {
		t.Errorf("a second payment: %+v, %v", changes, err)
	}
	o.Status = commerce.Cancelled
	cmd.AmountCents = 0
	if _, changes, err := decided(cmd, withPayment(o, paying(commerce.PaymentOpen, 0)), now); err == nil || !changes.Empty() {
		t.Errorf("nothing, too late: %+v, %v", changes, err)
	}
	cmd.AmountCents = 5
	if _, changes, err := decided(cmd, withPayment(o, paying(commerce.PaymentOpen, 0)), now); err != nil || changes.Refunds[0].TraceID != byProcessor.TraceID || changes.NewJobs[0].Awaited {
		t.Errorf("too late: %+v, %v", changes, err)
	}
}

// TestWhatPaymentsTell: the timeline tells which payment it was.
func TestWhatPaymentsTell(t *testing.T) {
	o := orderIn(commerce.PendingPayment, commerce.ByPickup, false)
	_, changes, err := decided(RecordPayment{Facts: FactsOf(o), PaymentID: "pi", AmountCents: 300, Actor: byProcessor}, withPayment(o, paying(commerce.PaymentOpen, 0)), now)
	if d := dataOf[commerce.PaymentData](changes); err != nil || d != (commerce.PaymentData{AmountCents: 300, PaymentID: "pi"}) {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestDeclineTells: the timeline tells that a refund was declined.
func TestDeclineTells(t *testing.T) {
	o := orderIn(commerce.RefundRequested, commerce.ByPickup, false)
	o.RequestedFrom = commerce.Paid
	_, changes, err := decided(DeclineRefund{Facts: FactsOf(o), Actor: byStaff, Reason: "eaten"}, stored(o, 1), now)
	if codes := noteCodes(changes.Timeline); err != nil || !slices.Equal(codes, []string{"refund_declined"}) {
		t.Errorf("%v, %v", codes, err)
	}
}

// TestFullRefundGivesBackOnce: a refund of all lines ends the order. Its pieces go back into stock once,
// the courier is called off, and the answer shows the delivery.
func TestFullRefundGivesBackOnce(t *testing.T) {
	for _, restock := range []bool{false, true} {
		o := deliveryOrder(commerce.Shipped)
		r, run := pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
		r.OrderID, r.Restock, r.Lines = o.ID, restock, []commerce.RefundLine{{ProductID: "a", Quantity: 3}}
		o.LineRefunds = o.LineRefunds.Add(r.Lines)
		before := refunding(o, r, run)
		before.Payments[0].OrderID, before.Deliveries = o.ID, []commerce.Delivery{in(commerce.CourierAssigned)(o)}
		got, changes, err := decided(recordRefund(o, r, run), before, now)
		if err != nil || got.Order.Status != commerce.Refunded || got.Delivery.OrderID != o.ID || !got.Order.Restocked {
			t.Fatalf("%+v, %v", got, err)
		}
		if len(changes.Stock) != 1 || changes.Stock[0].Quantity != 8 || len(changes.StockMoves) != 1 {
			t.Errorf("%+v, %+v", changes.Stock, changes.StockMoves)
		}
		if moves := dataOf[commerce.RefundData](changes).Moves; !slices.Equal(moves, []commerce.InventoryMove{{ProductID: "a", Delta: 3, Left: 8}}) {
			t.Errorf("told of %+v", moves)
		}
		if j := changes.NewJobs[0]; j.Kind != commerce.JobCancelDelivery || j.Awaited {
			t.Errorf("%+v", j)
		}
	}
}

// TestLinesOfAFullRefund: a refund of one line may be of all the money. Then all goods go back into
// stock, in one move, and the line is marked as given back.
func TestLinesOfAFullRefund(t *testing.T) {
	o := orderIn(commerce.Processed, commerce.ByPickup, true)
	r, run := pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
	r.Restock, r.Lines = true, []commerce.RefundLine{{ProductID: "a", Quantity: 1}}
	o.LineRefunds = o.LineRefunds.Add(r.Lines)
	got, changes, err := decided(recordRefund(o, r, run), refunding(o, r, run), now)
	if err != nil || len(changes.StockMoves) != 1 || changes.Stock[0].Quantity != 8 {
		t.Errorf("%+v, %v", changes, err)
	}
	if line := got.Order.LineRefunds.Of("a"); line.Restock != 1 || line.Returned != 1 {
		t.Errorf("%+v", line)
	}
}

// TestUnknownRefund: an outcome of a refund that is not stored is refused.
func TestUnknownRefund(t *testing.T) {
	o, run := orderIn(commerce.Paid, commerce.ByPickup, false), payJob(commerce.JobRefund, "rfd", 0)
	before := withPayment(o, paying(commerce.PaymentPaid, 300))
	before.Jobs = []commerce.Job{run}
	if _, changes, err := decided(recordRefund(o, commerce.Refund{ID: "rfd"}, run), before, now); codeOf(err) != "not_found" || !changes.Empty() {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestAnswerOfARefund: the answer about an order by delivery shows the delivery, also if it goes on.
func TestAnswerOfARefund(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	r, run := pendingRefund(commerce.RefundAsked, 100), payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, r, run)
	before.Payments[0].OrderID, before.Deliveries = o.ID, []commerce.Delivery{in(commerce.CourierAssigned)(o)}
	if got, _, err := decided(recordRefund(o, r, run), before, now); err != nil || got.Order.Status != commerce.Shipped || !reflect.DeepEqual(got.Delivery, before.Deliveries[0]) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPartialRestock: pieces that come back are told, and the order is marked.
func TestPartialRestock(t *testing.T) {
	o := orderIn(commerce.PickedUp, commerce.ByPickup, true)
	r, run := pendingRefund(commerce.RefundAsked, 100), payJob(commerce.JobRefund, "rfd", 0)
	for _, lines := range [][]commerce.RefundLine{{{ProductID: "a", Quantity: 1}}, nil} {
		r.Restock, r.Lines = true, lines
		at := o
		at.LineRefunds = at.LineRefunds.Add(lines)
		got, changes, err := decided(recordRefund(at, r, run), refunding(at, r, run), now)
		if err != nil || got.Order.Restocked != (lines != nil) || len(changes.Stock) != len(lines) || len(dataOf[commerce.RefundData](changes).Moves) != len(lines) {
			t.Errorf("%+v: %+v, %v", lines, changes, err)
		}
	}
}

// TestRefundThatWasGivenUp: the processor has made it after all, or has not.
func TestRefundThatWasGivenUp(t *testing.T) {
	o := orderIn(commerce.PickedUp, commerce.ByPickup, true)
	r, run := pendingRefund(commerce.RefundAsked, 100), payJob(commerce.JobRefund, "rfd", 0)
	r.State, r.Lines = commerce.RefundGivenUp, []commerce.RefundLine{{ProductID: "a", Quantity: 1}}
	got, changes, err := decided(recordRefund(o, r, run), refunding(o, r, run), now)
	if err != nil || got.Refund.State != commerce.RefundDone || openCodes(changes.Attention) != "refund_after_all" || !reflect.DeepEqual(got.Order.LineRefunds, o.LineRefunds.Add(r.Lines)) {
		t.Errorf("made: %+v, %v", got, err)
	}
	refused := recordRefund(o, r, run)
	refused.Refused = "no"
	if got, changes, err := decided(refused, refunding(o, r, run), now); err != nil || got.Refund.State != commerce.RefundGivenUp || len(changes.Refunds)+len(changes.Ledger)+len(changes.Orders) > 0 {
		t.Errorf("refused: %+v, %+v, %v", got, changes, err)
	}
}

// TestFailedRefundOfAnUnknownPayment: an attempt that fails keeps its own reason.
func TestFailedRefundOfAnUnknownPayment(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	r, run := pendingRefund(commerce.RefundAsked, 900), payJob(commerce.JobRefund, "rfd", 0)
	cmd := recordRefund(o, r, run)
	cmd.Failed = errors.New("timeout")
	if got, _, err := decided(cmd, refunding(o, r, run), now); err != nil || got.Job.Error != "timeout" {
		t.Errorf("%+v, %v", got.Job, err)
	}
	cmd.Failed = nil
	if got, _, err := decided(cmd, refunding(o, r, run), now); err != nil || got.Job.Error != tooEarly().Error() {
		t.Errorf("made: %+v, %v", got.Job, err)
	}
}

// TestReturnedMoney: only what the bank returned since the merchant settled it counts, and a refund
// sets nothing off against what is settled.
func TestReturnedMoney(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	r, run := pendingRefund(commerce.RefundAsked, 100), payJob(commerce.JobRefund, "rfd", 0)
	r.CreatedOn = now - 1
	before := refunding(o, r, run)
	before.Payments[0].CameBackCents = 70
	before.Attention = raisedOn(o, "refund_failed")
	before.Attention[0] = before.Attention[0].Resolve("staff:ann", now-2)
	got, _, err := decided(recordRefund(o, r, run), before, now)
	if err != nil || got.Payment.CameBackCents != 70 {
		t.Errorf("%+v, %v", got.Payment, err)
	}
	r.State = commerce.RefundDone
	before = refunding(o, r, run)
	before.Payments[0].CameBackCents = 70
	for open, want := range map[bool]commerce.Cents{false: 100, true: 170} {
		before.Attention = nil
		if open {
			before.Attention = raisedOn(o, "refund_failed")
		}
		callback := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", AmountCents: 100, Failed: true, Message: "closed account"}
		if _, changes, err := decided(callback, before, now); err != nil || changes.Payments[0].CameBackCents != want {
			t.Errorf("open before %v: %+v, %v", open, changes.Payments, err)
		}
	}
	callback := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", Failed: true} // without an amount, of a refund that is known
	if got, _, err := decided(callback, before, now); err != nil || got.State != commerce.RefundFailed {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReleasedGoods: a hold that ends leaves an order as it is. Goods that are given back with the
// order's end mark it, and one that is marked stays marked.
func TestReleasedGoods(t *testing.T) {
	for _, c := range []struct {
		effect       commerce.StockEffect
		before, want bool
	}{{commerce.ReleasesStock, false, false}, {commerce.ReleasesStock, true, true}, {commerce.RestoresStock, false, true}, {commerce.RestoresStock, true, true}} {
		o := orderIn(commerce.PendingPayment, commerce.ByPickup, false)
		o.HeldUntil, o.Restocked = now+1, c.before
		before := stored(o, 5)
		before.Stock[0].Held = 3
		oc := begin(o, fill(commerce.Needs{Orders: []commerce.OrderKey{o.Key()}, Partners: []string{"p"}, Stock: commerce.ProductKeys("s", o.Lines)}, before), now, byPartner)
		if moves, err := oc.moveStock(c.effect); err != nil || len(moves) != 1 || oc.order.Restocked != c.want || oc.order.HeldUntil != 0 {
			t.Errorf("%+v: %+v, %v", c, oc.order, err)
		}
	}
}
