package command

import (
	"errors"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
)

// TestRecordRefundCallback: a refund in each state, and each callback of it.
func TestRecordRefundCallback(t *testing.T) {
	for _, c := range []struct {
		name     string
		was      commerce.RefundState // empty: no refund has this id
		captured commerce.Cents
		amount   commerce.Cents // of the callback
		failed   bool
		want     commerce.RefundState // empty: nothing changes
		refunded commerce.Cents
		entries  []commerce.EntryKind
		flag     string
		code     string // of a refusal
	}{
		{name: "made", was: commerce.RefundPending, captured: 300, amount: 200, want: commerce.RefundDone, refunded: 200, entries: []commerce.EntryKind{commerce.EntryRefund}},
		{name: "made, as is known", was: commerce.RefundDone, captured: 300, amount: 200, refunded: 200},
		{name: "made, but came back before", was: commerce.RefundFailed, captured: 300, amount: 200},
		{name: "failed", was: commerce.RefundPending, captured: 300, amount: 200, failed: true, want: commerce.RefundFailed},
		{name: "came back", was: commerce.RefundDone, captured: 300, amount: 200, failed: true, want: commerce.RefundFailed, entries: []commerce.EntryKind{commerce.EntryRefundFailed}, flag: "refund_failed"},
		{name: "came back, as is known", was: commerce.RefundFailed, captured: 300, amount: 200, failed: true},
		{name: "made elsewhere", captured: 300, amount: 300, want: commerce.RefundDone, refunded: 300, entries: []commerce.EntryKind{commerce.EntryRefund}},
		{name: "failed elsewhere", captured: 300, amount: 200, failed: true, want: commerce.RefundFailed},
		{name: "made elsewhere, more than was paid", captured: 300, amount: 301, code: "too_early"},
		{name: "made elsewhere, the payment is not known", amount: 200, code: "too_early"},
		{name: "failed elsewhere, the payment is not known", amount: 200, failed: true, want: commerce.RefundFailed},
		{name: "of nothing", captured: 300, amount: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, r := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 200)
			r.State = c.was
			before := refunding(o, r, payJob(commerce.JobRefund, "rfd", 0))
			before.Payments[0].CapturedCents = c.captured
			if c.was == "" {
				before.Refunds, before.Payments[0].PendingCents = nil, 0
			}
			cmd := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", AmountCents: c.amount, Failed: c.failed, Message: "closed account"}
			_, changes, err := decided(cmd, before, now)
			if refusal, ok := errors.AsType[*commerce.Error](err); c.code != "" {
				if !ok || refusal.Code != c.code || refusal.Kind != commerce.KindConflict || len(changes.Refunds)+len(changes.Payments) != 0 {
					t.Errorf("%+v, %v", changes, err)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			after := merge(before, changes)
			if c.want == "" {
				if !reflect.DeepEqual(changes, commerce.Changes{}) {
					t.Errorf("changed %+v", changes)
				}
			} else if got := after.Refunds[0]; got.State != c.want || (got.Error != "") != c.failed || (got.Origin == commerce.RefundElsewhere) != (c.was == "") || got.AmountCents == 0 {
				t.Errorf("refund %+v", got)
			}
			var entries []commerce.EntryKind
			for _, e := range changes.Ledger {
				entries = append(entries, e.Kind)
			}
			if !reflect.DeepEqual(entries, c.entries) || after.Payments[0].RefundedCents != c.refunded || after.Payments[0].PendingCents != 0 ||
				openCodes(after.Attention) != c.flag || (after.Orders[0].Status == commerce.Refunded) != (c.refunded == 300) {
				t.Errorf("order %+v\npayment %+v\nentries %v", after.Orders[0], after.Payments[0], entries)
			}
			cmd.Failed = false // what tells of the beginning may come after the end
			if _, late, err := decided(cmd, after, now); err != nil || !reflect.DeepEqual(late, commerce.Changes{}) {
				t.Errorf("reported once more: %+v, %v", late, err)
			}
		})
	}
}

// TestRefundCameBack goes through every status in which there can be money: the
// order is refunded in full, the bank gives the money back, and it is refunded
// again. The order goes back to where it was, or to cancelled if the refund had
// stopped its fulfilment; stock and couriers stay as the refund left them.
func TestRefundCameBack(t *testing.T) {
	for _, status := range commerce.TransitionOf(commerce.RefundInFull).From {
		for _, f := range []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery} {
			for _, deducted := range []bool{false, true} {
				checkRefundCameBack(t, orderIn(status, f, deducted))
			}
		}
	}
	collected := orderIn(commerce.RefundRequested, commerce.ByPickup, true)
	collected.PickedUpAt = now - 5
	checkRefundCameBack(t, collected)
}

func checkRefundCameBack(t *testing.T, o commerce.Order) {
	t.Helper()
	run := payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, pendingRefund(commerce.RefundAsked, 300), run)
	refund := recordRefund(o, before.Refunds[0], run)
	_, changes, err := decided(refund, before, now)
	if err != nil {
		t.Fatal(err)
	}
	refunded := merge(before, changes)
	failed := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", AmountCents: 300, Failed: true, Message: "closed account"}
	_, changes, err = decided(failed, refunded, now)
	want := o.Status
	if !handedOver[o.Status] && o.PickedUpAt == 0 {
		want = commerce.Cancelled
	}
	codes := "refund_failed"
	if want == commerce.RefundRequested { // the decision is open again
		codes += " refund_requested"
	}
	back := merge(refunded, changes)
	order, was := back.Orders[0], refunded.Orders[0]
	if err != nil || order.Status != want || order.RefundedCents != 0 || back.Payments[0].Left() != 300 || openCodes(back.Attention) != codes {
		t.Errorf("%s %s: %+v, %+v, %v", o.Status, o.Fulfillment, order, back.Payments[0], err)
	}
	if order.InventoryDeducted != was.InventoryDeducted || len(changes.Stock)+len(changes.Deliveries)+len(changes.NewJobs) != 0 {
		t.Errorf("%s %s: the money came back, and so did %+v", o.Status, o.Fulfillment, changes)
	}
	event, note, notified := changes.Webhooks[0], changes.Timeline[0], order
	notified.NotifiedOn = event.About.Order.NotifiedOn
	if !reflect.DeepEqual(webhookKinds(changes), []commerce.WebhookKind{commerce.WebhookRefundFailed}) || event.Timestamp <= was.NotifiedOn ||
		!reflect.DeepEqual(event.About, &commerce.EventData{Order: notified, Previous: commerce.Refunded, Refund: back.Refunds[0]}) ||
		!reflect.DeepEqual(noteCodes(changes.Timeline), []string{"refund_failed"}) || note.Status != want {
		t.Errorf("%s %s: published %+v and %s %+v", o.Status, o.Fulfillment, note, event.Kind, event.About)
	}
	again := RefundOrder{Facts: FactsOf(o), Actor: byPartner, RefundID: "rfd_2"}
	second, changes, err := decided(again, back, now)
	if err != nil || second.AmountCents != 300 {
		t.Fatalf("%+v, %v", second, err)
	}
	run.Subject = second.ID
	asked := merge(back, changes)
	asked.Jobs = []commerce.Job{run}
	refund = recordRefund(o, second, run)
	_, changes, err = decided(refund, asked, now)
	after := merge(asked, changes)
	if order := after.Orders[0]; err != nil || order.Status != commerce.Refunded || order.RefundedCents != 300 || openCodes(after.Attention) != "" ||
		order.InventoryDeducted != was.InventoryDeducted {
		t.Errorf("%s %s, refunded again: %+v, %q, %v", o.Status, o.Fulfillment, order, openCodes(after.Attention), err)
	}
}

// TestRefundedAgainInParts: the reason to look stays open until all that came
// back is refunded again, whatever else is left of the payment. A refund that was
// under way before does not count for that.
func TestRefundedAgainInParts(t *testing.T) {
	o, r, run := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 120), payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, r, run)
	before.Payments[0].CameBackCents, before.Attention = 200, raisedOn(o, "refund_failed")
	before.Attention[0].Since = 50
	before.Refunds[0].CreatedOn = 50 // asked for before any money came back
	for _, open := range []string{"refund_failed", "refund_failed", ""} {
		cmd := recordRefund(o, r, run)
		_, changes, err := decided(cmd, before, now)
		after := merge(before, changes)
		if got := openCodes(after.Attention); err != nil || got != open || after.Orders[0].Status != commerce.Paid {
			t.Errorf("%d cents came back: open %q, want %q; %v", before.Payments[0].CameBackCents, got, open, err)
		}
		before.Payments[0].CameBackCents = after.Payments[0].CameBackCents
		before.Refunds[0].CreatedOn = 51
	}
}

// TestRefundedBefore: an order that a program before this one
// left refunded without its money, and one of which no status is known.
func TestRefundedBefore(t *testing.T) {
	o, r, run := orderIn(commerce.Refunded, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, r, run)
	before.Attention = raisedOn(o, "refund_failed")
	cmd := recordRefund(o, r, run)
	_, changes, err := decided(cmd, before, now)
	after := merge(before, changes)
	if err != nil || after.Orders[0].Status != commerce.Refunded || openCodes(after.Attention) != "" {
		t.Errorf("refunded again: %+v, %v", after, err)
	}
	if got := o.After(commerce.TransitionOf(commerce.RefundCameBack)).Status; got != commerce.Cancelled {
		t.Errorf("without a status before, it is %q", got)
	}
}
