package command

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// pendingRefund is one that was reserved.
func pendingRefund(origin commerce.RefundOrigin, amount commerce.Cents) commerce.Refund {
	return commerce.Refund{StoreID: "s", ID: "rfd", OrderID: "o", AmountCents: amount, Reason: "duplicate", Origin: origin, TraceID: "t", State: commerce.RefundPending}
}

// refunding is what is stored while a refund of 300 captured cents is on its
// way: the job, the open reply, the payment and the refund.
func refunding(o commerce.Order, r commerce.Refund, run commerce.Job) commerce.Changes {
	p := paying(commerce.PaymentPaid, 300)
	if r.State == commerce.RefundPending {
		p.PendingCents = r.AmountCents
	}
	if r.State == commerce.RefundDone {
		p.RefundedCents = r.AmountCents
	}
	c := withPayment(o, p)
	c.Refunds, c.Jobs, c.Replies = []commerce.Refund{r}, []commerce.Job{run}, []commerce.Reply{openReplyOf(run)}
	return c
}

func recordRefund(o commerce.Order, r commerce.Refund, run commerce.Job) RecordRefund {
	return RecordRefund{RecordJob: RecordJob{Job: run, Delays: commerce.PaymentDelays}, Facts: FactsOf(o), RefundID: r.ID, Ref: "re"}
}

// handedOver are the statuses in which the customer has the goods, or in which
// cancelling has given them back before.
var handedOver = map[commerce.OrderStatus]bool{commerce.Delivered: true, commerce.PickedUp: true, commerce.Cancelled: true}

// TestRefundOrder: the amount is set aside in every status, within what is
// left.
func TestRefundOrder(t *testing.T) {
	for _, status := range commerce.Statuses {
		o, p := orderIn(status, commerce.ByPickup, true), paying(commerce.PaymentPaid, 300)
		p.RefundedCents, p.PendingCents = 100, 50
		for _, c := range []struct {
			amount, want commerce.Cents
			code         string
		}{{0, 150, ""}, {150, 150, ""}, {1, 1, ""}, {151, 0, "invalid_amount"}, {-1, 0, "invalid_amount"}} {
			cmd := RefundOrder{Facts: FactsOf(o), Actor: byPartner, RefundID: "rfd", AmountCents: c.amount, Reason: "duplicate"}
			got, changes, err := decided(cmd, withPayment(o, p), now)
			if c.code != "" {
				if refusal, ok := errors.AsType[*commerce.Error](err); !ok || refusal.Code != c.code || refusal.Field != "amount_cents" || len(changes.Payments) != 0 {
					t.Errorf("%s, %d cents: %+v, %v", status, c.amount, changes, err)
				}
				continue
			}
			want := pendingRefund(commerce.RefundAsked, c.want)
			want.CreatedOn, want.UpdatedOn = now, now
			if err != nil || !reflect.DeepEqual(got, want) || changes.Payments[0].PendingCents != 50+c.want || changes.Payments[0].RefundedCents != 100 ||
				changes.Orders[0].Status != status || len(changes.Ledger)+len(changes.Timeline)+len(changes.Webhooks) != 0 ||
				changes.NewJobs[0] != (commerce.Job{Kind: commerce.JobRefund, Mode: commerce.Live, Owner: "s", PartnerID: "p", Subject: "rfd", RunAt: now, Awaited: true}) {
				t.Errorf("%s, %d cents: %+v, %v", status, c.amount, changes, err)
			}
		}
	}
}

// TestFullRefund goes through every status in which there can be money: stock
// comes back exactly when it had been deducted and the goods were not handed
// over, and the order is refunded only when all of the money went back.
func TestFullRefund(t *testing.T) {
	for _, status := range commerce.TransitionOf(commerce.RefundInFull).From {
		for _, f := range []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery} {
			for _, deducted := range []bool{false, true} {
				for _, amount := range []commerce.Cents{300, 299} {
					o, r := orderIn(status, f, deducted), pendingRefund(commerce.RefundAsked, amount)
					checkFullRefund(t, o, r)
				}
			}
		}
	}
}

func checkFullRefund(t *testing.T, o commerce.Order, r commerce.Refund) {
	t.Helper()
	run := payJob(commerce.JobRefund, "rfd", 0)
	cmd := recordRefund(o, r, run)
	before := refunding(o, r, run)
	before.Attention = raisedOn(o, "refund_due")
	got, changes, err := decideAndClose(cmd, run, before)
	if err != nil {
		t.Fatal(err)
	}
	full := r.AmountCents == 300
	stops := full && !handedOver[o.Status]
	want, attention := o.Status, "refund_due"
	if full {
		want, attention = commerce.Refunded, ""
	}
	order, payment := changes.Orders[0], changes.Payments[0]
	if order.Status != want || openCodes(merge(before, changes).Attention) != attention || order.RefundedCents != r.AmountCents || payment.RefundedCents != r.AmountCents || payment.PendingCents != 0 ||
		order.InventoryDeducted != (o.InventoryDeducted && !stops) {
		t.Errorf("%s %s, %d cents: %+v, %+v", o.Status, o.Fulfillment, r.AmountCents, order, payment)
	}
	if back := len(changes.Stock) == 1 && changes.Stock[0].Quantity == 8; back != (stops && o.InventoryDeducted) {
		t.Errorf("%s %s, deducted %v, %d cents: stock %+v", o.Status, o.Fulfillment, o.InventoryDeducted, r.AmountCents, changes.Stock)
	}
	var kinds []commerce.TimelineKind
	for _, e := range changes.Timeline {
		kinds = append(kinds, e.Kind)
	}
	wantKinds, wantWebhooks := []commerce.TimelineKind{commerce.TimelineRefunded}, []commerce.WebhookKind{commerce.WebhookRefunded}
	if stops && o.Fulfillment == commerce.ByDelivery {
		wantKinds = []commerce.TimelineKind{commerce.TimelineDeliveryCancelled, commerce.TimelineRefunded}
		wantWebhooks = []commerce.WebhookKind{commerce.WebhookDeliveryCancelled, commerce.WebhookRefunded}
	}
	if !reflect.DeepEqual(kinds, wantKinds) || !reflect.DeepEqual(webhookKinds(changes), wantWebhooks) {
		t.Errorf("%s %s, %d cents: timeline %v, webhooks %v", o.Status, o.Fulfillment, r.AmountCents, kinds, webhookKinds(changes))
	}
	if a := got.Refund; changes.Replies[0].Open() || a.ID != "rfd" || a.OrderID != "o" || a.AmountCents != r.AmountCents || a.TotalRefundedCents != r.AmountCents || a.OrderStatus != want {
		t.Errorf("answered %+v with %+v", changes.Replies, a)
	}
	if e := changes.Ledger; len(e) != 1 || e[0].Kind != commerce.EntryRefund || e[0].AmountCents != r.AmountCents || e[0].Ref != "re" || e[0].RefundID != "rfd" || e[0].Seq != 2 {
		t.Errorf("ledger %+v", e)
	}
}

func webhookKinds(c commerce.Changes) (kinds []commerce.WebhookKind) {
	for _, w := range c.Webhooks {
		kinds = append(kinds, w.Kind)
	}
	return kinds
}

// TestRefundOfAMismatch: money of a payment that did not make the
// order paid goes back, and the order is over.
func TestRefundOfAMismatch(t *testing.T) {
	o, r, run := orderIn(commerce.PendingPayment, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
	before := refunding(o, r, run)
	before.Attention = raisedOn(o, "payment_mismatch")
	cmd := recordRefund(o, r, run)
	_, changes, err := decided(cmd, before, now)
	if err != nil || openCodes(merge(before, changes).Attention) != "" || changes.Orders[0].Status != commerce.Refunded || !changes.Payments[0].Returned() {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestRecordRefund: what else may become of the job.
func TestRecordRefund(t *testing.T) {
	const last = 6 // tries that failed, before the last one
	away := errors.New("no route")
	for _, c := range []struct {
		name     string
		origin   commerce.RefundOrigin
		was      commerce.RefundState // empty: pending
		tries    int64
		gone     bool // the job
		swept    bool // the reply
		refused  string
		failed   error
		flagged  string               // before
		want     commerce.RefundState // empty: the refund is not touched
		pending  commerce.Cents
		note     string
		flag     string
		closed   bool
		released bool
		job      commerce.JobState
	}{
		{name: "refused", origin: commerce.RefundAsked, refused: "no", want: commerce.RefundFailed, note: "refund_refused", released: true},
		{name: "refused, after the reply was swept", origin: commerce.RefundAsked, swept: true, refused: "no", want: commerce.RefundFailed, note: "refund_refused"},
		{name: "made, after the reply was swept", origin: commerce.RefundAsked, swept: true, want: commerce.RefundDone},
		{name: "made by cancel", origin: commerce.RefundCancelled, want: commerce.RefundDone, closed: true},
		{name: "refused to cancel", origin: commerce.RefundCancelled, refused: "no", want: commerce.RefundFailed, note: "refund_due", flag: "refund_due", closed: true},
		{name: "of late money", origin: commerce.RefundLate, want: commerce.RefundDone},
		{name: "of late money, refused", origin: commerce.RefundLate, refused: "no", want: commerce.RefundFailed, note: "refund_due", flag: "refund_due"},
		{name: "a callback was faster", origin: commerce.RefundAsked, was: commerce.RefundDone, want: commerce.RefundDone, closed: true},
		{name: "a callback that it failed was faster", origin: commerce.RefundAsked, was: commerce.RefundFailed, want: commerce.RefundFailed, released: true},
		{name: "a callback was faster, and a try says no", origin: commerce.RefundAsked, was: commerce.RefundDone, refused: "no", want: commerce.RefundDone, closed: true},
		{name: "unreachable", origin: commerce.RefundAsked, failed: away, job: commerce.JobWaiting, pending: 200},
		{name: "unreachable for too long", origin: commerce.RefundAsked, tries: last, failed: away, job: commerce.JobDead, pending: 200, note: "refund_unknown", flag: "refund_unknown"},
		{name: "unreachable for too long, as is known", origin: commerce.RefundAsked, tries: last + 1, flagged: "refund_unknown", failed: away, job: commerce.JobDead,
			pending: 200, flag: "refund_unknown"},
		{name: "recorded by another worker", origin: commerce.RefundAsked, gone: true, pending: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, r, run := orderIn(commerce.Processed, commerce.ByPickup, true), pendingRefund(c.origin, 200), payJob(commerce.JobRefund, "rfd", c.tries)
			if c.was != "" {
				r.State = c.was
			}
			if c.origin == commerce.RefundLate { // no call asked for it
				run.ReplyTo = commerce.ReplyKey{}
			}
			before := refunding(o, r, run)
			before.Attention = raisedOn(o, c.flagged)
			if c.gone {
				before.Jobs = nil
			}
			if c.swept {
				before.Replies = nil
			}
			cmd := recordRefund(o, r, run)
			cmd.Refused, cmd.Failed = c.refused, c.failed
			got, changes, err := decideAndClose(cmd, run, before)
			if err != nil {
				t.Fatal(err)
			}
			checkSessionJob(t, run, changes, c.gone, c.job)
			after := merge(before, changes)
			if (len(changes.Refunds) == 1) != (c.want != "" && c.was == "") || c.want != "" && after.Refunds[0].State != c.want || after.Payments[0].PendingCents != c.pending ||
				openCodes(after.Attention) != c.flag || after.Orders[0].Status != commerce.Processed {
				t.Errorf("%+v", changes)
			}
			if returned := after.Payments[0].RefundedCents == 200; returned != (c.want == commerce.RefundDone) || (len(changes.Ledger) == 1) != (returned && c.was == "") {
				t.Errorf("payment %+v, ledger %+v", after.Payments[0], changes.Ledger)
			}
			if codes := noteCodes(changes.Timeline); c.note == "" && codes != nil || c.note != "" && !reflect.DeepEqual(codes, []string{c.note}) {
				t.Errorf("notes %v", codes)
			}
			if (len(changes.Released) == 1) != c.released || (len(changes.Replies) == 1) != c.closed {
				t.Errorf("released %+v, closed %+v", changes.Released, changes.Replies)
			}
			if c.closed && (changes.Replies[0].Open() || got.Order.ID != "o" || got.Refund.State != after.Refunds[0].State || got.Refund.Error != after.Refunds[0].Error) {
				t.Errorf("closed %+v with %+v", changes.Replies, got)
			}
		})
	}
}

// merge is what is stored after changes, of an order with one payment.
func merge(before, changes commerce.Changes) commerce.Changes {
	if len(changes.Orders) > 0 {
		before.Orders = changes.Orders
	}
	if len(changes.Payments) > 0 {
		before.Payments = changes.Payments
	}
	if len(changes.Refunds) > 0 {
		before.Refunds = changes.Refunds
	}
	if len(changes.Deliveries) > 0 {
		before.Deliveries = changes.Deliveries
	}
	before.Attention = mergeAttention(before.Attention, changes.Attention)
	return before
}

// TestCancelEndsThePayment goes through the states of the payment: the session
// is ended, and the money goes back if that is asked for, or is flagged.
func TestCancelEndsThePayment(t *testing.T) {
	for _, c := range []struct {
		name              string
		state             commerce.PaymentState
		captured          commerce.Cents
		refunded, pending commerce.Cents
		flagged           string // before
		expires           bool
		due               commerce.Cents
		flag              string // without refund: true
	}{
		{name: "opening", state: commerce.PaymentOpening}, // its job sees that the order is over
		{name: "open", state: commerce.PaymentOpen, expires: true},
		{name: "refused", state: commerce.PaymentRefused},
		{name: "expired", state: commerce.PaymentExpired},
		{name: "paid", state: commerce.PaymentPaid, captured: 300, due: 300, flag: "refund_due"},
		{name: "another amount was paid", state: commerce.PaymentPaid, captured: 299, flagged: "payment_mismatch", due: 299, flag: "refund_due"},
		{name: "refunded in part", state: commerce.PaymentPaid, captured: 300, refunded: 100, pending: 50, due: 150, flag: "refund_due"},
		{name: "all on its way", state: commerce.PaymentPaid, captured: 300, refunded: 100, pending: 200},
		{name: "its outcome is unknown", state: commerce.PaymentPaid, captured: 300, pending: 300, flagged: "refund_unknown", flag: "refund_unknown"},
		{name: "stock was gone", state: commerce.PaymentPaid, captured: 300, flagged: "insufficient_stock", due: 300, flag: "refund_due"},
		{name: "paid twice", state: commerce.PaymentPaid, captured: 300, flagged: "second_payment", due: 300, flag: "second_payment refund_due"},
	} {
		for _, refund := range []bool{false, true} {
			o, p := orderIn(commerce.Paid, commerce.ByPickup, false), paying(c.state, c.captured)
			p.RefundedCents, p.PendingCents = c.refunded, c.pending
			before := withPayment(o, p)
			before.Attention = raisedOn(o, c.flagged)
			cmd := CancelOrder{Facts: FactsOf(o), Actor: byPartner, Reason: "no", Refund: refund, RefundID: "rfd"}
			got, changes, err := decided(cmd, before, now)
			if err != nil || got.Order.Status != commerce.Cancelled {
				t.Fatalf("%s: %+v, %v", c.name, changes, err)
			}
			var want []commerce.Job
			if c.expires {
				want = append(want, commerce.Job{Kind: commerce.JobExpireSession, Mode: commerce.Live, Owner: "s", PartnerID: "p", Subject: "o", RunAt: now})
			}
			flag := c.flag
			if refund && c.due > 0 {
				want = append(want, commerce.Job{Kind: commerce.JobRefund, Mode: commerce.Live, Owner: "s", PartnerID: "p", Subject: "rfd", RunAt: now, Awaited: true})
				flag = strings.TrimSpace(strings.TrimSuffix(flag, "refund_due"))
				if r := changes.Refunds[0]; r.AmountCents != c.due || r.Origin != commerce.RefundCancelled || !reflect.DeepEqual(*got.Refund, r) || changes.Payments[0].PendingCents != c.pending+c.due {
					t.Errorf("%s: refund %+v, payment %+v", c.name, r, changes.Payments)
				}
			} else if got.Refund != nil || len(changes.Refunds) != 0 {
				t.Errorf("%s, refund %v: %+v", c.name, refund, changes.Refunds)
			}
			if open := openCodes(merge(before, changes).Attention); !reflect.DeepEqual(changes.NewJobs, want) || open != flag {
				t.Errorf("%s, refund %v: jobs %+v, flag %q, want %q", c.name, refund, changes.NewJobs, open, flag)
			}
		}
	}
}

// TestRefundTellsItsPlace: callbacks complete two refunds before the job of the first
// one is recorded. Its answer tells the total and the status as they were when
// it was entered, not what the other refund made of them.
func TestRefundTellsItsPlace(t *testing.T) {
	o, run := orderIn(commerce.Paid, commerce.ByPickup, false), payJob(commerce.JobRefund, "rfd", 0)
	first, second := pendingRefund(commerce.RefundAsked, 100), pendingRefund(commerce.RefundAsked, 200)
	second.ID = "rfd_2"
	stored := refunding(o, first, run)
	stored.Payments[0].PendingCents = 300
	for _, r := range []commerce.Refund{first, second} {
		stored.Refunds = []commerce.Refund{r}
		callback := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: r.ID, Ref: "re", AmountCents: r.AmountCents}
		_, changes, err := decided(callback, stored, now)
		if err != nil {
			t.Fatal(err)
		}
		if stored = merge(stored, changes); r.ID == first.ID {
			first = stored.Refunds[0]
		}
	}
	stored.Refunds = []commerce.Refund{first}
	cmd := recordRefund(o, first, run)
	got, changes, err := decideAndClose(cmd, run, stored)
	if err != nil || stored.Orders[0].Status != commerce.Refunded || len(changes.Replies) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
	if r := got.Refund; r.AmountCents != 100 || r.TotalRefundedCents != 100 || r.OrderStatus != commerce.Paid {
		t.Errorf("answered with %+v", r)
	}
}

// TestLateRefund: a try that stalled made the refund although an operator gave it
// up meanwhile. The money went back, so it is in the books; it is not entered if
// there is no money left for it.
func TestLateRefund(t *testing.T) {
	o, r := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300)
	r.State, r.Error = commerce.RefundGivenUp, "given up"
	run := payJob(commerce.JobRefund, "rfd", 7).LeasedTo("stalled", now-commerce.Millis(minute))
	stored := refunding(o, r, run.LeasedTo("", 0))
	stored.Jobs[0].State, stored.Replies = commerce.JobGivenUp, nil
	cmd := recordRefund(o, r, run)
	_, changes, err := decided(cmd, stored, now)
	if err != nil || len(changes.Ledger) != 1 || changes.Ledger[0].AmountCents != 300 {
		t.Fatalf("%v, %+v", err, changes.Ledger)
	}
	if len(changes.Attention) == 0 {
		t.Error("no attention is raised")
	}
	if p, r := changes.Payments[0], changes.Refunds[0]; p.RefundedCents != 300 || p.PendingCents != 0 || r.State != commerce.RefundDone || r.Error != "" {
		t.Errorf("%+v\n%+v", p, r)
	}
	stored.Payments[0].RefundedCents = 300
	if _, changes, err := decided(cmd, stored, now); err != nil || len(changes.Ledger) != 0 {
		t.Errorf("a refund of what is not there: %v, %+v", err, changes.Ledger)
	}
}
