package command

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestFirstDelivery: the delivery of a confirmed order is new, and its first attempt belongs to the
// call that confirmed it.
func TestFirstDelivery(t *testing.T) {
	for ready, want := range map[int64]commerce.Millis{-1: 0, 0: now, 20: now + 20*60_000} {
		o := orderIn(commerce.Paid, commerce.ByDelivery, false)
		o.ID = commerce.NewOrderID(1, now, commerce.Entropy{})
		if ready >= 0 {
			o.ReadyInMinutes = &ready
		}
		_, changes, err := decided(ConfirmOrder{Facts: FactsOf(o), Actor: byPartner}, stored(o, 5), now)
		first := commerce.Delivery{StoreID: "s", OrderID: o.ID, Attempt: 1, State: commerce.DeliveryDispatching, ReadyAt: want, TraceID: byPartner.TraceID, CreatedOn: now, UpdatedOn: now, Changes: 1}
		if err != nil || !reflect.DeepEqual(changes.Deliveries, []commerce.Delivery{first}) || !changes.NewJobs[len(changes.NewJobs)-1].Awaited {
			t.Errorf("ready in %d minutes: %v\n%+v, want\n%+v", ready, err, changes.Deliveries, first)
		}
	}
}

// TestNextDelivery: another attempt keeps nothing of the one before but what belongs to the order.
func TestNextDelivery(t *testing.T) {
	o := deliveryOrder(commerce.Shipped)
	d := in(commerce.CourierAssigned, followed, unpublished)(o)
	d.TraceID, d.CreatedOn, d.Error, d.ReadyAt = "t7", now-99, "x", now+5
	cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", Update: CourierUpdate{ID: "d1", Status: commerce.CourierCancelled, Imminent: true}}
	_, changes, err := decided(cmd, withDelivery(o, d), now)
	next := commerce.Delivery{StoreID: "s", OrderID: o.ID, Attempt: 2, State: commerce.DeliveryDispatching, Avoid: "u", ToldOn: d.ToldOn, Untold: true,
		TraceID: "t7", CreatedOn: now - 99, UpdatedOn: now, Changes: d.Changes + 2}
	if err != nil || !reflect.DeepEqual(changes.Deliveries, []commerce.Delivery{next}) {
		t.Errorf("%v\n%+v, want\n%+v", err, changes.Deliveries, next)
	}
}

// TestMadeDelivery: all that the provider tells of a delivery is on record, with when it was first
// asked.
func TestMadeDelivery(t *testing.T) {
	for _, asked := range []commerce.Millis{0, now - 9} {
		o := deliveryOrder(commerce.Processed)
		d := in("", dispatching)(o)
		d.AskedOn, d.Error = asked, "no route"
		run := leased(commerce.JobDispatch, d.Ref())
		made := CourierUpdate{ID: "d7", QuoteID: "q7", FeeCents: 500, Status: commerce.CourierPending, TrackingURL: "https://u.example/7", PickupETA: now + 1, DropoffETA: now + 2,
			Courier: commerce.Courier{Name: "Ann"}, Imminent: true}
		got, changes, err := decided(RecordDelivery{RecordJob: RecordJob{Job: run}, Facts: FactsOf(o), Attempt: 1, Provider: "u", Made: &made}, withDelivery(o, d, run), now)
		want := d
		want.State, want.Provider, want.ProviderID, want.QuoteID, want.FeeCents = commerce.DeliveryActive, "u", "d7", "q7", 500
		want.Status, want.TrackingURL, want.PickupETA, want.DropoffETA = commerce.CourierPending, made.TrackingURL, made.PickupETA, made.DropoffETA
		want.Courier, want.Imminent, want.Error, want.Changes = made.Courier, true, "", d.Changes+1
		want.SeenOn, want.HeardOn, want.UpdatedOn, want.AskedOn = now, now, now, asked
		if asked == 0 {
			want.AskedOn = now
		}
		if err != nil || !reflect.DeepEqual(changes.Deliveries, []commerce.Delivery{want}) {
			t.Errorf("%v\n%+v, want\n%+v", err, changes.Deliveries, want)
		}
		if o := got.Order; o.CourierQuoteID != "q7" || o.CourierDeliveryID != "d7" || o.CourierTrackingURL != made.TrackingURL {
			t.Errorf("%+v", o)
		}
	}
}

// TestOutOfRadius: the merchant is told once of an address beyond the radius, while a courier is
// looked for.
func TestOutOfRadius(t *testing.T) {
	for _, c := range []struct {
		name   string
		status commerce.OrderStatus
		beyond bool
		seen   bool // the merchant has dealt with it
		want   string
	}{
		{"in reach", commerce.Processed, false, false, ""},
		{"beyond", commerce.Processed, true, false, "out_of_radius"},
		{"dealt with", commerce.Processed, true, true, ""},
		{"cancelled", commerce.Cancelled, true, false, ""},
	} {
		o := deliveryOrder(c.status)
		d := in("", dispatching)(o)
		run := leased(commerce.JobDispatch, d.Ref())
		before := withDelivery(o, d, run)
		if c.seen {
			before.Attention = raisedOn(o, "out_of_radius")
			before.Attention[0] = before.Attention[0].Resolve("staff:ann", now-1)
		}
		cmd := RecordDelivery{RecordJob: RecordJob{Job: run}, Facts: FactsOf(o), Attempt: 1, Provider: "u", Made: madeByU, Reach: commerce.Reach{Miles: new(7.25), Beyond: c.beyond}}
		_, changes, err := decided(cmd, before, now)
		if got := openCodes(changes.Attention); err != nil || got != c.want || c.want != "" && !strings.Contains(changes.Attention[0].Detail, "7.2 miles") {
			t.Errorf("%s: %v, %+v", c.name, err, changes.Attention)
		}
		dead := deadJob(commerce.JobDispatch, d.Ref())
		before.Jobs = []commerce.Job{dead}
		cmd.RecordJob, cmd.Made = byAnn(dead), nil
		if _, changes, err := decided(cmd, before, now); err != nil || strings.Contains(openCodes(changes.Attention), "out_of_radius") {
			t.Errorf("%s, given up: %v, %+v", c.name, err, changes.Attention)
		}
	}
}

// TestNotDispatched: what the merchant and the partner are told of an attempt that failed.
func TestNotDispatched(t *testing.T) {
	long := strings.Repeat("x", commerce.MaxNote+5)
	denied := &commerce.CredentialsError{Message: "the key was revoked"}
	const general, over = "The courier provider could not be reached, or did not answer", "No courier was found, and nobody looks for one any more: "
	for _, c := range []struct {
		name          string
		failed        error
		refused, told string
		last          bool
		detail, codes string
		notes         []string
		error         string
	}{
		{"refused", nil, "no courier is free", "", false, "no courier is free", "not_dispatched", []string{"not_dispatched"}, "no courier is free"},
		{"refused, at length", nil, long, "", false, long[:commerce.MaxNote], "not_dispatched", []string{"not_dispatched"}, long[:commerce.MaxNote]},
		{"failed", errors.New("dial tcp"), "", "", false, general, "not_dispatched", []string{"not_dispatched"}, "dial tcp"},
		{"failed, with a text", errors.New("dial tcp"), "", "no place", false, "no place", "not_dispatched", []string{"not_dispatched"}, "dial tcp"},
		{"failed for the last time", errors.New("dial tcp"), "", "", true, over + general, "not_dispatched", []string{"not_dispatched"}, over + "dial tcp"},
		{"denied", denied, "", "", false, general, "not_dispatched provider_refuses_us", []string{"provider_refuses_us"}, denied.Error()},
		{"denied for the last time", denied, "", "", true, over + general, "not_dispatched", []string{"not_dispatched"}, over + denied.Error()},
	} {
		o := deliveryOrder(commerce.Processed)
		d := in("", dispatching)(o)
		run := leased(commerce.JobDispatch, d.Ref())
		if c.last {
			run.Tries = int64(len(commerce.DispatchDelays))
		}
		cmd := RecordDelivery{RecordJob: RecordJob{Job: run, Delays: commerce.DispatchDelays, Failed: c.failed}, Facts: FactsOf(o), Attempt: 1, Provider: "u", Refused: c.refused, Told: c.told}
		_, changes, err := decided(cmd, withDelivery(o, d, run), now)
		if err != nil || openCodes(changes.Attention) != c.codes || changes.Attention[0].Detail != c.detail || !reflect.DeepEqual(noteCodes(changes.Timeline), c.notes) || changes.Deliveries[0].Error != c.error {
			t.Errorf("%s: %v\n%+v\n%q\n%v", c.name, err, changes.Attention, changes.Deliveries[0].Error, noteCodes(changes.Timeline))
		}
	}
}

// TestCourierGone: the merchant reads why a courier does not deliver, as far as it is known.
func TestCourierGone(t *testing.T) {
	for reason, want := range map[string]string{
		"flat tyre": "The courier of attempt 4 does not deliver: flat tyre", "": "The courier of attempt 4 does not deliver: no reason was given",
	} {
		o := deliveryOrder(commerce.Shipped)
		cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 4, Provider: "u", Update: CourierUpdate{ID: "d1", Status: commerce.CourierCancelled, Reason: reason}}
		_, changes, err := decided(cmd, withDelivery(o, in(commerce.CourierAssigned, lastOne)(o)), now)
		if err != nil || len(changes.Attention) != 1 || changes.Attention[0].Detail != want {
			t.Errorf("%q: %v, %+v", reason, err, changes.Attention)
		}
	}
}

// TestCalledOff: a delivery that is called off is over, has no arrival to wait for, and keeps the
// status in which its courier ended it.
func TestCalledOff(t *testing.T) {
	for _, c := range []struct {
		name     string
		delivery func(commerce.Order) commerce.Delivery
		want     func(*commerce.Delivery)
	}{
		{"on its way", in(commerce.CourierAssigned, followed), func(d *commerce.Delivery) {
			d.State, d.Status, d.Changes, d.CalledOff, d.UpdatedOn = commerce.DeliveryOver, commerce.CourierCancelled, d.Changes+1, true, now
			clearArrival(d)
		}},
		{"ended by its courier", in(commerce.CourierReturned, followed, over), func(d *commerce.Delivery) { d.CalledOff, d.UpdatedOn = true, now }},
	} {
		o := deliveryOrder(commerce.Cancelled)
		d := c.delivery(o)
		d.TraceID = "t7"
		want := d
		c.want(&want)
		run := leased(commerce.JobCancelDelivery, o.ID)
		cmd := RecordDeliveryCancelled{RecordJob: RecordJob{Job: run}, Facts: FactsOf(o), Cancelled: true, ProviderID: "d9"}
		if _, changes, err := decided(cmd, withDelivery(o, d, run), now); err != nil || !reflect.DeepEqual(changes.Deliveries, []commerce.Delivery{want}) {
			t.Errorf("%s: %v\n%+v, want\n%+v", c.name, err, changes.Deliveries, want)
		}
	}
}

// TestStaffNote: a note of staff is on the timeline, with its code, and cut to what one may hold.
func TestStaffNote(t *testing.T) {
	o := orderIn(commerce.Paid, commerce.ByPickup, false)
	got, changes, err := decided(AddNote{Facts: FactsOf(o), Actor: byStaff, Text: strings.Repeat("x", commerce.MaxNote+5)}, stored(o, 1), now)
	if err != nil || len(changes.Timeline) != 1 || !reflect.DeepEqual(changes.Orders, []commerce.Order{got}) {
		t.Fatalf("%+v, %v", changes, err)
	}
	if e := changes.Timeline[0]; e.Message != strings.Repeat("x", commerce.MaxNote) || e.Actor != "staff:usr_1" || !reflect.DeepEqual(noteCodes(changes.Timeline), []string{CodeStaffNote}) {
		t.Errorf("%+v", e)
	}
}
