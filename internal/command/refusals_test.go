package command

import (
	"errors"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
)

// attempt is a command that is decided over what is stored.
type attempt struct {
	name string
	do   func(stored commerce.Changes) (any, commerce.Changes, error)
}

func attemptOf[R any](name string, cmd decider[R]) attempt {
	return attempt{name, func(stored commerce.Changes) (any, commerce.Changes, error) { return decided(cmd, stored, now) }}
}

// aboutOrders are the commands about an order that is stored. job is one that "me" has.
func aboutOrders(f OrderFacts, job commerce.Job) []attempt {
	run, dead := RecordJob{Job: job}, byAnn(job)
	update := RecordCourierUpdate{Facts: f, Attempt: 1, Provider: "u", Update: CourierUpdate{ID: "d1", Status: commerce.CourierLoaded}}
	return []attempt{
		attemptOf("add note", AddNote{Facts: f, Actor: byStaff, Text: "x"}),
		attemptOf("ask courier", AskCourier{Facts: f, Job: job, Attempt: 1, Provider: "u"}),
		attemptOf("cancel", CancelOrder{Facts: f, Actor: byStaff}),
		attemptOf("confirm", ConfirmOrder{Facts: f, Actor: byStaff}),
		attemptOf("decline refund", DeclineRefund{Facts: f, Actor: byStaff}),
		attemptOf("dispatch again", DispatchAgain{Facts: f, Actor: byStaff}),
		attemptOf("end hold", EndHold{RecordJob: run, Facts: f}),
		attemptOf("give up", GiveUpJob{RecordJob: dead, Facts: &f}),
		attemptOf("picked up", MarkPickedUp{Facts: f, Actor: byStaff}),
		attemptOf("ready", MarkReady{Facts: f, Actor: byStaff}),
		attemptOf("check", RecordCheck{Job: job, Record: update}),
		attemptOf("courier update", update),
		attemptOf("delivery", RecordDelivery{RecordJob: run, Facts: f, Attempt: 1, Provider: "u", Made: madeByU}),
		attemptOf("delivery cancelled", RecordDeliveryCancelled{RecordJob: run, Facts: f, Cancelled: true}),
		attemptOf("payment", RecordPayment{Facts: f, AmountCents: 300, Actor: byProcessor}),
		attemptOf("payment callback", RecordPaymentCallback{Facts: f, Kind: CallbackExpired, Actor: byProcessor}),
		attemptOf("payment session", RecordPaymentSession{RecordJob: run, Facts: f, SessionID: "cs"}),
		attemptOf("refund", RecordRefund{RecordJob: run, Facts: f, RefundID: "rfd", Ref: "re"}),
		attemptOf("refund order", RefundOrder{Facts: f, RefundID: "rfd", Actor: byStaff}),
		attemptOf("request refund", RequestRefund{Facts: f, Actor: byStaff}),
		attemptOf("resolve attention", ResolveAttention{Facts: f, Actor: byStaff, Code: commerce.AttentionRefundDue}),
		attemptOf("retry", RetryJob{Job: commerce.JobKey{Slot: 1, ID: "job_dead"}, Kind: commerce.JobDispatch, Facts: &f, Attempt: 1}),
		attemptOf("send courier update", SendCourierUpdate{Facts: f, Job: job.Key()}),
		attemptOf("metadata", UpdateMetadata{Facts: f, Actor: byPartner}),
	}
}

// TestUnknownOrder: every command about an order that is not stored is refused, and changes nothing.
func TestUnknownOrder(t *testing.T) {
	job, dead := leased(commerce.JobDispatch, "x"), deadJob(commerce.JobDispatch, "x")
	dead.ID = "job_dead"
	for _, c := range aboutOrders(FactsOf(deliveryOrder(commerce.Processed)), job) {
		got, changes, err := c.do(commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Jobs: []commerce.Job{job, dead}})
		refusal, ok := errors.AsType[*commerce.Error](err)
		if !ok || refusal.Kind != commerce.KindNotFound || !changes.Empty() {
			t.Errorf("%s: %v, %+v, %+v", c.name, err, got, changes)
		}
	}
}

// TestMovedOrder: an act on an order that has moved since the actor saw it is refused, if it would
// change the order.
func TestMovedOrder(t *testing.T) {
	for _, c := range []struct {
		status  commerce.OrderStatus
		f       commerce.Fulfillment
		attempt func(OrderFacts) attempt
	}{
		{commerce.Paid, commerce.ByPickup, func(f OrderFacts) attempt { return attemptOf("cancel", CancelOrder{Facts: f, Actor: byStaff}) }},
		{commerce.Paid, commerce.ByPickup, func(f OrderFacts) attempt { return attemptOf("confirm", ConfirmOrder{Facts: f, Actor: byStaff}) }},
		{commerce.RefundRequested, commerce.ByPickup, func(f OrderFacts) attempt { return attemptOf("decline", DeclineRefund{Facts: f, Actor: byStaff}) }},
		{commerce.Processed, commerce.ByDelivery, func(f OrderFacts) attempt {
			return attemptOf("dispatch again", DispatchAgain{Facts: f, Actor: byStaff})
		}},
		{commerce.ReadyForPickup, commerce.ByPickup, func(f OrderFacts) attempt { return attemptOf("picked up", MarkPickedUp{Facts: f, Actor: byStaff}) }},
		{commerce.Processed, commerce.ByPickup, func(f OrderFacts) attempt { return attemptOf("ready", MarkReady{Facts: f, Actor: byStaff}) }},
		{commerce.Paid, commerce.ByPickup, func(f OrderFacts) attempt {
			return attemptOf("refund", RefundOrder{Facts: f, RefundID: "r2", Actor: byStaff})
		}},
		{commerce.Paid, commerce.ByPickup, func(f OrderFacts) attempt {
			return attemptOf("request refund", RequestRefund{Facts: f, Actor: byStaff})
		}},
	} {
		o := orderIn(c.status, c.f, false)
		o.UpdatedOn, o.RequestedFrom = now-5, commerce.Paid
		before := withPayment(o, paying(commerce.PaymentPaid, 300))
		before.Deliveries = []commerce.Delivery{in(commerce.CourierAssigned)(o)}
		for seen, want := range map[commerce.Millis]string{now - 5: "", 0: "", now - 6: "changed_meanwhile"} {
			f := FactsOf(o)
			f.Seen = seen
			_, changes, err := c.attempt(f).do(before)
			if codeOf(err) != want || changes.Empty() != (want != "") {
				t.Errorf("%s, seen at %d: %v, %+v", c.attempt(f).name, seen, err, changes)
			}
		}
	}
}

// TestGoneJob: another worker has finished the job of an attempt. Nothing is changed, and the job
// that is returned is not told to be done.
func TestGoneJob(t *testing.T) {
	o := deliveryOrder(commerce.Processed)
	job := leased(commerce.JobDispatch, commerce.DeliveryRef(o.ID, 1))
	before := withDelivery(o, in("", dispatching)(o))
	before.Payments, before.Refunds = []commerce.Payment{paying(commerce.PaymentOpening, 0)}, []commerce.Refund{pendingRefund(commerce.RefundAsked, 100)}
	for _, c := range aboutOrders(FactsOf(o), job) {
		got, changes, err := c.do(before)
		if recorded, ok := got.(Recorded); ok && c.name != "give up" && (err != nil || !changes.Empty() || !reflect.DeepEqual(recorded, Recorded{Job: job})) {
			t.Errorf("%s: %v, %+v, %+v", c.name, err, got, changes)
		}
	}
}

// TestAccess: a partner loses access to its orders with the store. Staff keep it, and an order that
// the merchant made is under no partner.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		name    string
		partner string // that made the order
		stores  []string
		by      commerce.Actor
		want    string
	}{
		{"of all stores", "p", nil, byPartner, ""},
		{"of the store", "p", []string{"s"}, byPartner, ""},
		{"of another store", "p", []string{"z"}, byPartner, "store_not_allowed"},
		{"of another store, by staff", "p", []string{"z"}, byStaff, ""},
		{"by staff", "", []string{"z"}, byStaff, ""},
		{"of the merchant", "", []string{"z"}, byPartner, ""},
	} {
		o := orderIn(commerce.Paid, commerce.ByPickup, false)
		o.PartnerID = c.partner
		f := FactsOf(o)
		for _, cmd := range []interface {
			Needs() commerce.Needs
			Access(*commerce.Rows) error
		}{CancelOrder{Facts: f, Actor: c.by}, RefundOrder{Facts: f, Actor: c.by}, UpdateMetadata{Facts: f, Actor: c.by}} {
			rows := fill(cmd.Needs(), commerce.Changes{Partners: []commerce.Partner{{ID: "p", StoreIDs: c.stores}}, Orders: []commerce.Order{o}})
			if err := cmd.Access(rows); codeOf(err) != c.want {
				t.Errorf("%T %s: %v, want %q", cmd, c.name, err, c.want)
			}
		}
	}
}
