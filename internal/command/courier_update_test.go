package command

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// followed is a delivery whose courier is known: name, place and arrival.
func followed(d *commerce.Delivery) {
	d.Courier = commerce.Courier{Name: "Ann", Phone: "+1", Vehicle: "bicycle", ImageURL: "https://u.example/a.png", At: &commerce.Point{Lat: 30, Lng: -97}}
	d.PickupETA, d.DropoffETA, d.Imminent, d.Changes = now+1, now+2, true, 7
	d.ToldOn = now - 1
}

// TestCourierUpdates: an update adds to the stored facts and removes none, and an update
// that is older than the newest one changes nothing. Each change that a follower can
// see has a number of its own.
func TestCourierUpdates(t *testing.T) {
	elsewhere := &commerce.Point{Lat: 31, Lng: -98}
	for _, c := range []struct {
		name    string
		update  CourierUpdate
		want    func(*commerce.Delivery)
		changes int64
	}{
		{"seen before the newest", CourierUpdate{SeenOn: now - 1001, PickupETA: now + 50, DropoffETA: now + 60, Courier: commerce.Courier{Name: "Bob", At: elsewhere}}, func(*commerce.Delivery) {}, 0},
		{"without name and place", CourierUpdate{SeenOn: now - 1000, Imminent: true}, func(*commerce.Delivery) {}, 0},
		{"a place alone", CourierUpdate{Imminent: true, Courier: commerce.Courier{At: elsewhere}}, func(d *commerce.Delivery) { d.Courier.At = elsewhere }, 1},
		{"a place that is none", CourierUpdate{Imminent: true, Courier: commerce.Courier{At: &commerce.Point{Lat: 91}}}, func(*commerce.Delivery) {}, 0},
		{"a name alone", CourierUpdate{Imminent: true, Courier: commerce.Courier{Name: "Bob"}}, func(d *commerce.Delivery) { d.Courier.Name = "Bob" }, 1},
		{"a phone alone", CourierUpdate{Imminent: true, Courier: commerce.Courier{Phone: "+2"}}, func(d *commerce.Delivery) { d.Courier.Phone = "+2" }, 1},
		{"another vehicle and picture", CourierUpdate{Imminent: true, Courier: commerce.Courier{Vehicle: "van", ImageURL: "https://u.example/b.png"}},
			func(d *commerce.Delivery) { d.Courier.Vehicle, d.Courier.ImageURL = "van", "https://u.example/b.png" }, 1},
		{"a name, seen with the newest", CourierUpdate{SeenOn: now - 1000, Imminent: true, Courier: commerce.Courier{Name: "Bob"}}, func(d *commerce.Delivery) { d.Courier.Name = "Bob" }, 1},
		{"a name, seen ahead of time", CourierUpdate{SeenOn: now + 9, Imminent: true, Courier: commerce.Courier{Name: "Bob"}}, func(d *commerce.Delivery) { d.Courier.Name = "Bob" }, 1},
		{"another page", CourierUpdate{Imminent: true, TrackingURL: "https://u.example/2"}, func(d *commerce.Delivery) { d.TrackingURL = "https://u.example/2" }, 0},
		{"another time of pick-up", CourierUpdate{Imminent: true, PickupETA: now + 9}, func(d *commerce.Delivery) { d.PickupETA = now + 9 }, 1},
		{"another time of arrival", CourierUpdate{Imminent: true, DropoffETA: now + 9}, func(d *commerce.Delivery) { d.DropoffETA = now + 9 }, 1},
		{"not imminent any more", CourierUpdate{}, func(d *commerce.Delivery) { d.Imminent = false }, 1},
		{"another status, and no more", CourierUpdate{Imminent: true, Status: commerce.CourierEnRoute}, func(d *commerce.Delivery) { d.Status = commerce.CourierEnRoute }, 1},
		{"another status and another name", CourierUpdate{Imminent: true, Status: commerce.CourierEnRoute, Courier: commerce.Courier{Name: "Bob"}},
			func(d *commerce.Delivery) { d.Status, d.Courier.Name = commerce.CourierEnRoute, "Bob" }, 2},
	} {
		o := deliveryOrder(commerce.OutForDelivery)
		d := in(commerce.CourierLoaded, followed)(o)
		c.update.ID = "d1"
		cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", Update: c.update}
		got, _, err := decided(cmd, withDelivery(o, d), now)
		want := d
		c.want(&want)
		if err != nil || !reflect.DeepEqual(got.Delivery.Courier, want.Courier) || got.Delivery.PickupETA != want.PickupETA ||
			got.Delivery.DropoffETA != want.DropoffETA || got.Delivery.Imminent != want.Imminent || got.Delivery.Status != want.Status ||
			got.Delivery.TrackingURL != want.TrackingURL || want.TrackingURL != "" && got.Order.CourierTrackingURL != want.TrackingURL || got.Delivery.SeenOn > now {
			t.Errorf("%s: %v\n%+v, want\n%+v", c.name, err, got.Delivery, want)
		}
		if got := got.Delivery.Changes - d.Changes; got != c.changes {
			t.Errorf("%s: %d changes, want %d", c.name, got, c.changes)
		}
	}
}

// TestAnotherCourier: the order shows nothing more of a courier that left. An update
// that waits for the partner still waits, and the changes are still counted.
func TestAnotherCourier(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	o.CourierQuoteID = "q"
	d := in(commerce.CourierAssigned, followed, unpublished)(o)
	cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", Update: CourierUpdate{ID: "d1", Status: commerce.CourierCancelled, Imminent: true}}
	got, _, err := decided(cmd, withDelivery(o, d), now)
	if err != nil || got.Order.CourierDeliveryID != "" || got.Order.CourierQuoteID != "" || got.Order.CourierTrackingURL != "" {
		t.Errorf("the order still shows a courier: %+v, %v", got.Order, err)
	}
	next := got.Delivery
	if next.Attempt != 2 || next.State != commerce.DeliveryDispatching || next.Avoid != "u" || !next.Untold || next.ToldOn != d.ToldOn ||
		next.Changes != d.Changes+2 || next.Courier != (commerce.Courier{}) || next.ProviderID != "" {
		t.Errorf("the next attempt is %+v", next)
	}
}

// TestGoodsOfAnOrderThatMovedOn: the courier has the goods of an order that is in
// no status from which it could be on its way.
func TestGoodsOfAnOrderThatMovedOn(t *testing.T) {
	o := deliveryOrder(commerce.RefundRequested)
	cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", Update: CourierUpdate{ID: "d1", Status: commerce.CourierLoaded}}
	_, changes, err := decided(cmd, withDelivery(o, in(commerce.CourierAssigned)(o)), now)
	const want = "order refund_requested, delivery 1 active pickup_complete u, delivery.status_changed, POST delivery.out_for_delivery"
	if got := summary(changes); err != nil || got != want {
		t.Errorf("%s, want %s; %v", got, want, err)
	}
}

// TestTellOfNoDelivery: there is no order, or no delivery of it.
func TestTellOfNoDelivery(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	for name, rows := range map[string]commerce.Changes{"no order": {}, "no delivery": stored(o, 1)} {
		cmd := SendCourierUpdate{Facts: FactsOf(o), Job: commerce.JobKey{ID: "job"}}
		_, changes, err := decided(cmd, rows, now)
		refusal, ok := errors.AsType[*commerce.Error](err)
		if !ok || refusal.Kind != commerce.KindNotFound || !reflect.DeepEqual(changes, commerce.Changes{}) {
			t.Errorf("%s: %+v, %v", name, changes, err)
		}
	}
}

// TestCheckEndsItsLease: the check of a silent delivery waits for its next time,
// and any worker may take it then.
func TestCheckEndsItsLease(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	d := in(commerce.CourierAssigned)(o)
	job := leased(commerce.JobCheckDelivery, d.Ref())
	cmd := RecordCheck{Job: job, Record: RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u"}}
	_, changes, err := decided(cmd, withDelivery(o, d, job), now)
	if err != nil || len(changes.Jobs) != 1 || changes.Jobs[0].LeasedBy != "" || changes.Jobs[0].LeasedUntil != 0 || changes.Jobs[0].RunAt <= now {
		t.Errorf("%+v, %v", changes.Jobs, err)
	}
}

// TestPushOnlyWithCallback: an event is stored for every partner, and pushed to one
// that has a callback URL.
func TestPushOnlyWithCallback(t *testing.T) {
	for _, url := range []string{"", "https://p.example"} {
		o := orderIn(commerce.Processed, commerce.ByPickup, true)
		before := stored(o, 1)
		before.Partners[0].CallbackURL = url
		cmd := MarkReady{Facts: FactsOf(o), Actor: byPartner}
		_, changes, err := decided(cmd, before, now)
		if err != nil || len(changes.Webhooks) != 1 || (len(changes.Webhooks[0].To) == 1) != (url != "") {
			t.Errorf("with the URL %q: %+v, %v", url, changes.Webhooks, err)
		}
	}
}

// TestConfirmedAfterAll: the order was short of stock once, and is not any more.
func TestConfirmedAfterAll(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	before := stored(o, 5)
	before.Attention = raisedOn(o, "insufficient_stock", "refund_failed")
	cmd := ConfirmOrder{Facts: FactsOf(o), Actor: byPartner}
	_, changes, err := decided(cmd, before, now)
	if open := openCodes(merge(before, changes).Attention); err != nil || open != "refund_failed" {
		t.Errorf("open are %q, %v", open, err)
	}
}

// TestRefundElsewhere: a refund that was made in the processor's dashboard is on
// record with all that is known of it.
func TestRefundElsewhere(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	for _, failed := range []bool{false, true} {
		before := withPayment(o, paying(commerce.PaymentPaid, 300))
		cmd := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "re_1", Ref: "re_1", AmountCents: 120, Failed: failed, Message: "no"}
		_, changes, err := decided(cmd, before, now)
		if err != nil || len(changes.Refunds) != 1 {
			t.Fatalf("%+v, %v", changes, err)
		}
		want := commerce.Refund{StoreID: "s", ID: "re_1", OrderID: "o", AmountCents: 120, Origin: commerce.RefundElsewhere, TraceID: "n",
			State: commerce.RefundDone, TotalRefundedCents: 120, OrderStatus: commerce.Paid, Ref: "re_1", CreatedOn: now, UpdatedOn: now}
		if failed {
			want.State, want.Error, want.TotalRefundedCents, want.OrderStatus = commerce.RefundFailed, "no", 0, ""
		}
		if !reflect.DeepEqual(changes.Refunds[0], want) {
			t.Errorf("failed %v:\n%+v, want\n%+v", failed, changes.Refunds[0], want)
		}
	}
}

// TestSandboxStep: what becomes of the job of an object that is gone, that another
// process has changed, that moves on, and that stands still.
func TestSandboxStep(t *testing.T) {
	job := leased(commerce.JobSandboxStep, "del_1")
	job.Tries, job.Error = 3, "away"
	object := commerce.SandboxObject{ID: "del_1", Version: 5, Data: []byte("{}")}
	again := job.LeasedTo("", 0)
	again.RunAt = now
	next := again
	next.RunAt, next.Tries, next.Error = now+9, 0, ""
	moved := commerce.SandboxObject{ID: "del_1", Version: 6, Data: []byte(`{"a":1}`), UpdatedOn: now}
	for _, c := range []struct {
		name    string
		objects []commerce.SandboxObject
		version int64
		next    time.Duration
		want    commerce.Changes
	}{
		{"gone", nil, 5, 9, commerce.Changes{DoneJobs: []commerce.JobKey{job.Key()}}},
		{"changed by another process", []commerce.SandboxObject{object}, 4, 9, commerce.Changes{Jobs: []commerce.Job{again}}},
		{"moved on", []commerce.SandboxObject{object}, 5, 9, commerce.Changes{Sandbox: []commerce.SandboxObject{moved}, Jobs: []commerce.Job{next}}},
		{"at its end", []commerce.SandboxObject{object}, 5, 0, commerce.Changes{Sandbox: []commerce.SandboxObject{moved}, DoneJobs: []commerce.JobKey{job.Key()}}},
	} {
		cmd := RecordSandboxStep{RecordJob: RecordJob{Job: job}, Version: c.version, Data: moved.Data, Next: c.next * time.Millisecond}
		_, changes, err := decided(cmd, commerce.Changes{Sandbox: c.objects, Jobs: []commerce.Job{job}}, now)
		if err != nil || !reflect.DeepEqual(changes, c.want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", c.name, err, changes, c.want)
		}
	}
}
