package command

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

var byStaff = commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1", Mode: commerce.Live, TraceID: "t"}

// codeOf is the code of a refusal; empty: there is none.
func codeOf(err error) string {
	if refusal, ok := errors.AsType[*commerce.Error](err); ok {
		return refusal.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestRefundRequested: a request keeps the status beneath it, which couriers move on, and to
// which a decline goes back. Goods that the customer has cannot be cancelled.
func TestRefundRequested(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	before := withDelivery(o, in(commerce.CourierAssigned)(o))
	request := RequestRefund{Facts: FactsOf(o), Actor: byStaff, Reason: "cold"}
	got, changes, err := decided(request, before, now)
	if want := "order refund_requested, raised refund_requested, order.refund_requested"; err != nil || summary(changes) != want || got.Order.RequestedFrom != commerce.Shipped {
		t.Fatalf("%s, want %s; %v", summary(changes), want, err)
	}
	before.Orders, before.Attention = changes.Orders, changes.Attention
	if again, changes, err := decided(request, before, now); err != nil || !again.Replay || !reflect.DeepEqual(changes, commerce.Changes{}) {
		t.Errorf("a second request: %+v, %v", changes, err)
	}
	for status, beneath := range map[commerce.CourierStatus]commerce.OrderStatus{commerce.CourierLoaded: commerce.OutForDelivery, commerce.CourierDone: commerce.Delivered} {
		update := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", Update: CourierUpdate{ID: "d1", Status: status}}
		tracked, _, err := decided(update, before, now)
		if err != nil || tracked.Order.Status != commerce.RefundRequested || tracked.Order.RequestedFrom != beneath {
			t.Errorf("%s: %s beneath %s, %v", status, tracked.Order.RequestedFrom, tracked.Order.Status, err)
		}
		at := before
		at.Orders = []commerce.Order{tracked.Order}
		decline := DeclineRefund{Facts: FactsOf(o), Actor: byStaff, Reason: "eaten"}
		got, changes, err := decided(decline, at, now)
		if want := "order " + string(beneath) + ", resolved refund_requested, order.note"; err != nil || summary(changes) != want || got.Order.RequestedFrom != "" {
			t.Errorf("declined: %s, want %s; %v", summary(changes), want, err)
		}
		cancel := CancelOrder{Facts: FactsOf(o), Actor: byStaff}
		_, _, err = decided(cancel, at, now)
		if handedOver := beneath == commerce.Delivered; (codeOf(err) == "wrong_status") != handedOver {
			t.Errorf("cancelled from %s: %v", beneath, err)
		}
	}
	if _, _, err := (DeclineRefund{Facts: FactsOf(o), Actor: byStaff}).Decide(fill(DeclineRefund{Facts: FactsOf(o)}.Needs(), withDelivery(o, active(o, ""))), now); codeOf(err) != "wrong_status" {
		t.Errorf("nothing was requested: %v", err)
	}
}

// TestRequestThatCameBack: the bank returns the refund of an order that had a request, which
// is open again then, with the status beneath it.
func TestRequestThatCameBack(t *testing.T) {
	o := orderIn(commerce.RefundRequested, commerce.ByPickup, true)
	o.RequestedFrom = commerce.PickedUp
	o = o.After(commerce.TransitionOf(commerce.RefundInFull))
	if o = o.After(commerce.TransitionOf(commerce.RefundCameBack)); o.Status != commerce.RefundRequested || o.Beneath() != commerce.PickedUp {
		t.Errorf("%s beneath %s", o.RequestedFrom, o.Status)
	}
	o.RequestedFrom = commerce.Paid
	o = o.After(commerce.TransitionOf(commerce.RefundInFull)).After(commerce.TransitionOf(commerce.RefundCameBack))
	if o.Status != commerce.Cancelled || o.RequestedFrom != "" {
		t.Errorf("a refund that stopped the order: %s, requested from %q", o.Status, o.RequestedFrom)
	}
}

// TestDispatchAgain: staff replace a courier that has not come, and one that gave up, and no
// other. No courier is asked for while another one may still come.
func TestDispatchAgain(t *testing.T) {
	for _, c := range []struct {
		name     string
		order    commerce.OrderStatus
		delivery func(commerce.Order) commerce.Delivery
		want     string // what is done, or the code of the refusal
	}{
		{"a courier is on the way", commerce.Shipped, in(commerce.CourierAssigned), "order shipped, delivery 1 active pickup u, order.note, job cancel_delivery in 0 s"},
		{"the last one gave up", commerce.Shipped, in(commerce.CourierCancelled, over, lastOne), "order shipped, resolved courier_gave_up, delivery 5 dispatching  , order.note, job dispatch in 0 s"},
		{"the goods came back", commerce.OutForDelivery, in(commerce.CourierReturned, over), "order out_for_delivery, resolved goods_returned, delivery 2 dispatching  , order.note, job dispatch in 0 s"},
		{"a courier has the goods", commerce.OutForDelivery, in(commerce.CourierLoaded), "not_dispatched_again"},
		{"one is looked for", commerce.Processed, in("", dispatching), "not_dispatched_again"},
		{"one may have been found", commerce.Processed, in("", givenUp), "not_dispatched_again"},
		{"the customer has it", commerce.Delivered, in(commerce.CourierDone, over), "not_dispatched_again"},
		{"it is cancelled", commerce.Cancelled, in(commerce.CourierCancelled, over), "not_dispatched_again"},
	} {
		o := deliveryOrder(c.order)
		before := withDelivery(o, c.delivery(o))
		switch c.delivery(o).Status {
		case commerce.CourierCancelled:
			before.Attention = raisedOn(o, string(commerce.AttentionCourierGaveUp))
		case commerce.CourierReturned:
			before.Attention = raisedOn(o, string(commerce.AttentionGoodsReturned))
		}
		cmd := DispatchAgain{Facts: FactsOf(o), Actor: byStaff, Reason: "late"}
		_, changes, err := decided(cmd, before, now)
		if got := summary(changes) + codeOf(err); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, j := range changes.NewJobs {
			if j.Awaited {
				t.Errorf("%s: no call waits for %+v", c.name, j)
			}
		}
		for _, a := range changes.Attention {
			if a.ResolvedBy != "staff:usr_1" {
				t.Errorf("%s: resolved by %s", c.name, a.ResolvedBy)
			}
		}
	}
}

// TestCourierReplaced: the next courier is looked for when the provider has called the one
// before off, and only then. A report of the provider that was faster is enough.
func TestCourierReplaced(t *testing.T) {
	replacing := func(d *commerce.Delivery) { d.Replacing = true }
	for _, c := range []struct {
		name     string
		delivery func(commerce.Order) commerce.Delivery
		record   RecordDeliveryCancelled
		want     string
	}{
		{"called off", in(commerce.CourierAssigned, replacing), RecordDeliveryCancelled{Attempt: 1, Cancelled: true},
			"order shipped, delivery 2 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s, done"},
		{"never made", in(commerce.CourierAssigned, replacing), RecordDeliveryCancelled{Attempt: 1},
			"order shipped, delivery 2 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s, done"},
		{"too late", in(commerce.CourierAssigned, replacing), RecordDeliveryCancelled{Attempt: 1, TooLate: "loaded"},
			"order shipped, delivery 1 active pickup u, order.note, done"},
		{"still on its way", in(commerce.CourierAssigned, replacing), RecordDeliveryCancelled{Attempt: 1, ProviderID: "d1"},
			"order shipped, delivery 1 active pickup u, order.note, done"},
		{"it has delivered meanwhile", in(commerce.CourierDone, over, replacing), RecordDeliveryCancelled{Attempt: 1}, "delivery 1 over delivered u, done"},
		{"it has the goods meanwhile", in(commerce.CourierLoaded, replacing), RecordDeliveryCancelled{Attempt: 1, TooLate: "loaded"}, "delivery 1 active pickup_complete u, done"},
		{"its report was faster", in(commerce.CourierPending, secondOne), RecordDeliveryCancelled{Attempt: 1, Cancelled: true}, "done"},
		{"and the next one is to be replaced, too", in(commerce.CourierPending, secondOne, replacing), RecordDeliveryCancelled{Attempt: 1, Cancelled: true}, "done"},
		{"called off, by its id", in(commerce.CourierAssigned, replacing, followed), RecordDeliveryCancelled{Cancelled: true, ProviderID: "d1"},
			"order shipped, delivery 2 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s, done"},
		{"another one is not wanted", in(commerce.CourierAssigned), RecordDeliveryCancelled{Attempt: 1, Cancelled: true}, "done"},
		{"it has given up meanwhile", in(commerce.CourierCancelled, over, replacing), RecordDeliveryCancelled{Attempt: 1, Cancelled: true}, "delivery 1 over cancelled u, done"},
		{"it is not called off for good", in(commerce.CourierAssigned, replacing), RecordDeliveryCancelled{Attempt: 1, RecordJob: RecordJob{Failed: errors.New("timeout")}},
			"order shipped, delivery 1 active pickup u, order.note, dead after 9 tries"},
	} {
		o := deliveryOrder(commerce.Shipped)
		job := leased(commerce.JobCancelDelivery, o.ID)
		job.Tries = int64(len(commerce.CancelDelays))
		cmd := c.record
		cmd.RecordJob, cmd.Facts = RecordJob{Job: job, Delays: commerce.CancelDelays, Failed: cmd.Failed}, FactsOf(o)
		d := c.delivery(o)
		d.TraceID = "t7"
		_, changes, err := decided(cmd, withDelivery(o, d, job), now)
		if got := summary(changes); err != nil || got != c.want {
			t.Errorf("%s: %s, want %s; %v", c.name, got, c.want, err)
		}
		for _, w := range changes.Webhooks { // what it tells is of the courier that was called off
			if d := w.About.Delivery; w.TraceID != "t7" || d.Status != commerce.CourierCancelled || !d.CalledOff || d.PickupETA+d.DropoffETA != 0 || d.Imminent || w.About.Order.ID != o.ID {
				t.Errorf("%s: told of %+v", c.name, d)
			}
		}
	}
}

// TestReplacedTooLate: no other courier is looked for when there is nothing left to deliver.
func TestReplacedTooLate(t *testing.T) {
	for status, want := range map[commerce.OrderStatus]string{
		commerce.Delivered: "delivery 1 active pickup u, done",
		commerce.Cancelled: "delivery 1 over cancelled u, done",
	} {
		o := deliveryOrder(status)
		job := leased(commerce.JobCancelDelivery, o.ID)
		d := in(commerce.CourierAssigned, func(d *commerce.Delivery) { d.Replacing = true })(o)
		cmd := RecordDeliveryCancelled{RecordJob: RecordJob{Job: job}, Facts: FactsOf(o), Attempt: 1, Cancelled: true}
		if _, changes, err := decided(cmd, withDelivery(o, d, job), now); err != nil || summary(changes) != want {
			t.Errorf("%s: %s, want %s; %v", status, summary(changes), want, err)
		}
	}
}

// TestSeen: an act on an order that has moved since the person saw it is refused. An act that
// was done meanwhile is not.
func TestSeen(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	o.UpdatedOn = now - 5
	before := withPayment(o, paying(commerce.PaymentPaid, o.TotalCents))
	for _, seen := range []commerce.Millis{0, now - 5, now - 6} {
		facts := FactsOf(o)
		facts.Seen = seen
		want := ""
		if seen == now-6 {
			want = "changed_meanwhile"
		}
		confirm := ConfirmOrder{Facts: facts, Actor: byStaff}
		got, _, err := decided(confirm, before, now)
		if codeOf(err) != want {
			t.Errorf("confirmed as of %d: %v, want %q", seen, err, want)
		}
		refund := RefundOrder{Facts: facts, Actor: byStaff, RefundID: "rfd_1"}
		if _, _, err := decided(refund, before, now); codeOf(err) != want {
			t.Errorf("refunded as of %d: %v, want %q", seen, err, want)
		}
		if err != nil {
			continue
		}
		confirmed := before
		confirmed.Orders = []commerce.Order{got.Order}
		if again, _, err := decided(confirm, confirmed, now); err != nil || !again.Replay {
			t.Errorf("a double click: %v", err)
		}
	}
}

// TestResolveAttention: a person resolves a reason once, with a note, but not one that was
// raised again, and not the request of a refund.
func TestResolveAttention(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	before := stored(o, 1)
	before.Attention = raisedOn(o, "payment_disputed", "refund_requested")
	since := before.Attention[0].Since
	for _, c := range []struct {
		code  commerce.AttentionCode
		since commerce.Millis
		want  string
	}{
		{commerce.AttentionDisputed, since, ""}, {commerce.AttentionDisputed, 0, ""}, {commerce.AttentionDisputed, since + 1, "changed_meanwhile"},
		{commerce.AttentionRefundRequested, since, "refund_requested"}, {commerce.AttentionOutOfRadius, 0, "not_found"},
	} {
		cmd := ResolveAttention{Facts: FactsOf(o), Actor: byStaff, Code: c.code, Since: c.since, Note: "told the bank"}
		a, changes, err := decided(cmd, before, now)
		if codeOf(err) != c.want {
			t.Errorf("%s of %d: %v, want %q", c.code, c.since, err, c.want)
		}
		if err != nil {
			continue
		}
		if a.Open() || !a.Settled() || a.Detail != "told the bank (was: as before)" || len(changes.Attention) != 1 {
			t.Errorf("%+v, %+v", a, changes)
		}
		again := before
		again.Attention = changes.Attention
		if _, changes, err := decided(cmd, again, now); err != nil || !reflect.DeepEqual(changes, commerce.Changes{}) {
			t.Errorf("again: %+v, %v", changes, err)
		}
	}
}

// TestCreateNativeOrder: staff sell at the prices of the catalog with the tax of the store, and
// the order is the merchant's own.
func TestCreateNativeOrder(t *testing.T) {
	store := commerce.Store{ID: "s", No: 1, Active: true, PickupEnabled: true, TaxRateBps: 1000}
	before := stored(orderIn(commerce.Paid, commerce.ByPickup, false), 5)
	before.Orders, before.Stores = nil, []commerce.Store{store}
	before.Stock[0].PriceCents = 300
	cmd := CreateNativeOrder{Sale: Sale{Actor: byStaff, OrderID: "ord_n", CustomerID: "cus_n", StoreID: "s", Fulfillment: commerce.ByPickup,
		Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 2}}}}
	o, changes, err := decided(cmd, before, now)
	if err != nil || o.Status != commerce.Processed || o.TotalCents != 660 || o.TaxCents != 60 || o.PartnerID != "" || o.Source != commerce.SourceService || !o.InventoryDeducted {
		t.Fatalf("%+v, %v", o, err)
	}
	if changes.Stock[0].Quantity != 3 || len(changes.Webhooks) != 0 || len(changes.External) != 0 || !slices.Contains(cmd.Needs().Stores, "s") || cmd.Needs().Partners != nil {
		t.Errorf("%+v", changes)
	}
	cmd.Lines[0].Quantity = 6
	if _, _, err := decided(cmd, before, now); codeOf(err) != "insufficient_stock" {
		t.Errorf("more than there is: %v", err)
	}
}
