package command

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// deliveryOrder is an order that is brought by d1. Its id names its store, so that
// its deliveries have names.
func deliveryOrder(status commerce.OrderStatus) commerce.Order {
	o := orderIn(status, commerce.ByDelivery, true)
	o.ID = commerce.NewOrderID(1, now, commerce.Entropy{})
	o.CourierDeliveryID, o.CourierTrackingURL = "d1", "https://u.example"
	return o
}

// active is a delivery by u, which it calls d1.
func active(o commerce.Order, status commerce.CourierStatus) commerce.Delivery {
	return commerce.Delivery{StoreID: o.StoreID, OrderID: o.ID, Attempt: 1, State: commerce.DeliveryActive, Provider: "u", ProviderID: "d1", QuoteID: "q",
		Status: status, SeenOn: now - 1000, HeardOn: now - 1000, AskedOn: now - 5000}
}

func withDelivery(o commerce.Order, d commerce.Delivery, jobs ...commerce.Job) commerce.Changes {
	c := stored(o, 5)
	c.Deliveries, c.Jobs = []commerce.Delivery{d}, jobs
	return c
}

// leased is a job of a delivery that "me" has.
func leased(kind commerce.JobKind, subject string) commerce.Job { return payJob(kind, subject, 0) }

// summary is what a command did, in one line: the order and its delivery as far
// as they were changed, the timeline, the webhooks and the jobs.
func summary(c commerce.Changes) string {
	var parts []string
	for _, o := range c.Orders {
		parts = append(parts, "order "+string(o.Status))
	}
	for _, a := range c.Attention {
		if a.Open() {
			parts = append(parts, "raised "+string(a.Code))
		} else {
			parts = append(parts, "resolved "+string(a.Code))
		}
	}
	for _, d := range c.Deliveries {
		parts = append(parts, fmt.Sprintf("delivery %d %s %s %s", d.Attempt, d.State, d.Status, d.Provider))
	}
	for _, e := range c.Timeline {
		parts = append(parts, string(e.Kind))
	}
	for _, w := range c.Webhooks {
		parts = append(parts, "POST "+string(w.Kind))
	}
	for _, j := range c.NewJobs {
		parts = append(parts, fmt.Sprintf("job %s in %d s", j.Kind, (j.RunAt-now)/1000))
	}
	for range c.DoneJobs {
		parts = append(parts, "done")
	}
	for _, j := range c.Jobs {
		parts = append(parts, fmt.Sprintf("%s after %d tries", j.State, j.Tries))
		if j.State == commerce.JobWaiting {
			parts = append(parts, fmt.Sprintf("next in %d s", (j.RunAt-now)/1000))
		}
	}
	for _, r := range c.Replies {
		if parts = append(parts, "answered"); r.Job.ID != "" {
			parts[len(parts)-1] = "amended"
		}
	}
	return strings.Join(parts, ", ")
}

// change is a test of a command that changes a delivery.
type change struct {
	name     string
	order    commerce.OrderStatus
	delivery func(o commerce.Order) commerce.Delivery
	want     string
}

// in is the delivery with its status, changed as a test likes.
func in(status commerce.CourierStatus, with ...func(*commerce.Delivery)) func(commerce.Order) commerce.Delivery {
	return func(o commerce.Order) commerce.Delivery {
		d := active(o, status)
		for _, f := range with {
			f(&d)
		}
		return d
	}
}

func over(d *commerce.Delivery)            { d.State = commerce.DeliveryOver }
func lastOne(d *commerce.Delivery)         { d.Attempt = commerce.MaxDispatches }
func secondOne(d *commerce.Delivery)       { d.Attempt = 2 }
func publishedBefore(d *commerce.Delivery) { d.ToldOn = now - 10_000 }
func unpublished(d *commerce.Delivery)     { d.ToldOn, d.Untold = now-10_000, true }
func unknown(d *commerce.Delivery)         { d.ProviderID, d.Status = "", "" }
func givenUp(d *commerce.Delivery)         { unknown(d); over(d) }
func unasked(d *commerce.Delivery) {
	unknown(d)
	d.Provider, d.State = "", commerce.DeliveryDispatching
}
func dispatching(d *commerce.Delivery) {
	unknown(d)
	d.State = commerce.DeliveryDispatching
}

// updateCase is a test of an update of a delivery.
type updateCase struct {
	change
	update   CourierUpdate // with the ID d1 if it has none
	attempt  int64         // 0: the first
	provider string        // empty: u
	raised   string        // the reason that is open before
}

var updateCases = []updateCase{
	{change: change{"assigned", commerce.Shipped, in(commerce.CourierPending),
		"order shipped, delivery 1 active pickup u, delivery.courier_assigned, delivery.courier_update, POST delivery.courier_update"},
		update: CourierUpdate{Status: commerce.CourierAssigned}},
	{change: change{"assigned, shortly after an update", commerce.Shipped, in(commerce.CourierPending, publishedBefore),
		"order shipped, delivery 1 active pickup u, delivery.courier_assigned, job courier_update in 20 s"}, update: CourierUpdate{Status: commerce.CourierAssigned}},
	{change: change{"assigned, with a job that will publish it", commerce.Shipped, in(commerce.CourierPending, unpublished),
		"order shipped, delivery 1 active pickup u, delivery.courier_assigned"}, update: CourierUpdate{Status: commerce.CourierAssigned}},
	{change: change{"moved", commerce.Shipped, in(commerce.CourierAssigned), "order shipped, delivery 1 active pickup u, delivery.courier_update, POST delivery.courier_update"},
		update: CourierUpdate{Status: commerce.CourierAssigned, Courier: commerce.Courier{At: &commerce.Point{Lat: 30, Lng: -97}}}},
	{change: change{"not moved", commerce.Shipped, in(commerce.CourierAssigned), "delivery 1 active pickup u"}, update: CourierUpdate{Status: commerce.CourierAssigned}},
	{change: change{"picked up", commerce.Shipped, in(commerce.CourierAssigned),
		"order out_for_delivery, delivery 1 active pickup_complete u, delivery.out_for_delivery, POST order.out_for_delivery, POST delivery.out_for_delivery"},
		update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"on the way without a pick-up", commerce.Shipped, in(commerce.CourierPending),
		"order out_for_delivery, delivery 1 active en_route_to_dropoff u, delivery.out_for_delivery, POST order.out_for_delivery, POST delivery.out_for_delivery"},
		update: CourierUpdate{Status: commerce.CourierEnRoute}},
	{change: change{"on the way after the pick-up", commerce.OutForDelivery, in(commerce.CourierLoaded, publishedBefore),
		"order out_for_delivery, delivery 1 active en_route_to_dropoff u, delivery.status_changed, job courier_update in 20 s"}, update: CourierUpdate{Status: commerce.CourierEnRoute}},
	{change: change{"delivered", commerce.OutForDelivery, in(commerce.CourierEnRoute),
		"order delivered, delivery 1 over delivered u, delivery.delivered, POST order.delivered, POST delivery.delivered"}, update: CourierUpdate{Status: commerce.CourierDone}},
	{change: change{"delivered straight", commerce.Shipped, in(commerce.CourierPending),
		"order delivered, delivery 1 over delivered u, delivery.delivered, POST order.delivered, POST delivery.delivered"}, update: CourierUpdate{Status: commerce.CourierDone}},
	{change: change{"delivered, again", commerce.Delivered, in(commerce.CourierDone, over), "delivery 1 over delivered u"}, update: CourierUpdate{Status: commerce.CourierDone}},
	{change: change{"picked up, late", commerce.Delivered, in(commerce.CourierDone, over), "delivery 1 over delivered u"}, update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"assigned, late", commerce.OutForDelivery, in(commerce.CourierEnRoute), ""}, update: CourierUpdate{Status: commerce.CourierAssigned, SeenOn: now - 2000}},
	{change: change{"returning", commerce.OutForDelivery, in(commerce.CourierEnRoute, publishedBefore),
		"order out_for_delivery, raised goods_returning, delivery 1 active returning u, delivery.status_changed, order.note, job courier_update in 20 s"}, update: CourierUpdate{Status: commerce.CourierReturning}},
	{change: change{"returned", commerce.OutForDelivery, in(commerce.CourierReturning),
		"order out_for_delivery, raised goods_returned, delivery 1 over returned u, delivery.cancelled, order.note, POST delivery.cancelled"}, update: CourierUpdate{Status: commerce.CourierReturned}},
	{change: change{"cancelled on the way", commerce.OutForDelivery, in(commerce.CourierEnRoute),
		"order out_for_delivery, raised goods_with_courier, delivery 1 over cancelled u, delivery.cancelled, order.note, POST delivery.cancelled"}, update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"cancelled before the pick-up", commerce.Shipped, in(commerce.CourierAssigned),
		"order shipped, delivery 2 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s"}, update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"the last one cancels", commerce.Shipped, in(commerce.CourierAssigned, lastOne),
		"order shipped, raised courier_gave_up, delivery 4 over cancelled u, delivery.cancelled, order.note, POST delivery.cancelled"}, update: CourierUpdate{Status: commerce.CourierCancelled}, attempt: 4},
	{change: change{"of the attempt before", commerce.Shipped, in(commerce.CourierAssigned, secondOne), ""}, update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"the one before has the goods", commerce.Shipped, in(commerce.CourierAssigned, secondOne), "order shipped, raised two_couriers, order.note"}, update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"by another provider", commerce.Shipped, in(commerce.CourierAssigned), ""}, update: CourierUpdate{Status: commerce.CourierDone}, provider: "v"},
	{change: change{"of another delivery", commerce.Shipped, in(commerce.CourierAssigned), ""}, update: CourierUpdate{ID: "d2", Status: commerce.CourierDone}},
	{change: change{"before any call to a provider", commerce.Processed, in("", unasked), ""}, update: CourierUpdate{Status: commerce.CourierDone}},
	{change: change{"before the answer", commerce.Processed, in("", dispatching),
		"order shipped, delivery 1 active pending u, delivery.created, delivery.shipped, POST delivery.created, POST order.shipped, job check_delivery in 300 s"},
		update: CourierUpdate{Status: commerce.CourierPending}},
	{change: change{"given up before", commerce.Processed, in("", givenUp),
		"order shipped, delivery 1 active pending u, delivery.created, delivery.shipped, POST delivery.created, POST order.shipped, job check_delivery in 300 s"},
		update: CourierUpdate{Status: commerce.CourierPending}},
	{change: change{"made for a cancelled order", commerce.Cancelled, in("", dispatching), "order cancelled, delivery 1 active pending u, job cancel_delivery in 0 s"},
		update: CourierUpdate{Status: commerce.CourierPending}},
	{change: change{"cancelled as it was asked for", commerce.Cancelled, in(commerce.CourierAssigned), "order cancelled, delivery 1 over cancelled u, delivery.status_changed"},
		update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"returned, of a cancelled order", commerce.Cancelled, in(commerce.CourierReturning), "order cancelled, resolved goods_returning, delivery 1 over returned u, delivery.status_changed"},
		update: CourierUpdate{Status: commerce.CourierReturned}, raised: "goods_returning"},
	{change: change{"delivered all the same", commerce.Cancelled, in(commerce.CourierEnRoute),
		"order cancelled, raised goods_with_courier, delivery 1 over delivered u, delivery.status_changed, order.note, POST delivery.delivered"}, update: CourierUpdate{Status: commerce.CourierDone}},
	{change: change{"delivered all the same, as staff know", commerce.Cancelled, in(commerce.CourierEnRoute),
		"order cancelled, delivery 1 over delivered u, delivery.status_changed, POST delivery.delivered"}, update: CourierUpdate{Status: commerce.CourierDone}, raised: "goods_with_courier"},
	{change: change{"left with the goods of a cancelled order", commerce.Cancelled, in(commerce.CourierEnRoute),
		"order cancelled, raised goods_with_courier, delivery 1 over cancelled u, delivery.status_changed, order.note"}, update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"picked up, as is told after the courier was called off", commerce.Cancelled, in(commerce.CourierCancelled, over),
		"order cancelled, raised goods_with_courier, delivery 1 over cancelled u, order.note"}, update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"called off, and told again", commerce.Cancelled, in(commerce.CourierCancelled, over),
		"delivery 1 over cancelled u"}, update: CourierUpdate{Status: commerce.CourierCancelled}},
	{change: change{"called off, and brought back", commerce.Cancelled, in(commerce.CourierCancelled, over),
		"delivery 1 over cancelled u"}, update: CourierUpdate{Status: commerce.CourierReturned}},
	{change: change{"delivered all the same, beyond the radius", commerce.Cancelled, in(commerce.CourierEnRoute),
		"order cancelled, resolved out_of_radius, raised goods_with_courier, delivery 1 over delivered u, delivery.status_changed, order.note, POST delivery.delivered"},
		update: CourierUpdate{Status: commerce.CourierDone}, raised: "out_of_radius"},
	{change: change{"picked up all the same", commerce.Cancelled, in(commerce.CourierAssigned),
		"order cancelled, delivery 1 active pickup_complete u, delivery.status_changed, delivery.courier_update, POST delivery.courier_update"},
		update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"over, and another name", commerce.Delivered, in(commerce.CourierDone, over), "delivery 1 over delivered u"},
		update: CourierUpdate{Status: commerce.CourierDone, Courier: commerce.Courier{Name: "Bob"}}},
	{change: change{"moved, just when the next update is due", commerce.Shipped, in(commerce.CourierAssigned, func(d *commerce.Delivery) { d.ToldOn = now.Add(-commerce.CourierUpdateEvery) }),
		"order shipped, delivery 1 active pickup u, delivery.courier_update, POST delivery.courier_update"},
		update: CourierUpdate{Status: commerce.CourierAssigned, Imminent: true}},
	{change: change{"the one before has the goods, which is known", commerce.Shipped, in(commerce.CourierAssigned, secondOne), ""},
		update: CourierUpdate{Status: commerce.CourierLoaded}, raised: "two_couriers"},
	{change: change{"the one before has the goods of a cancelled order", commerce.Cancelled, in(commerce.CourierAssigned, secondOne),
		"order cancelled, raised goods_with_courier, order.note"}, update: CourierUpdate{Status: commerce.CourierLoaded}},
	{change: change{"the one before has brought back the goods of a cancelled order", commerce.Cancelled, in(commerce.CourierAssigned, secondOne), ""},
		update: CourierUpdate{Status: commerce.CourierReturned}},
	{change: change{"of an attempt that is not begun", commerce.Shipped, in(commerce.CourierAssigned), ""}, update: CourierUpdate{Status: commerce.CourierLoaded}, attempt: 2},
	{change: change{"another delivery of the provider has the goods", commerce.Shipped, in(commerce.CourierAssigned), ""}, update: CourierUpdate{ID: "d2", Status: commerce.CourierLoaded}},
	{change: change{"the last one cancels, which is replaced", commerce.Shipped, in(commerce.CourierAssigned, lastOne, func(d *commerce.Delivery) { d.Replacing = true }),
		"order shipped, delivery 5 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s"}, update: CourierUpdate{Status: commerce.CourierCancelled}, attempt: 4},
}

func TestRecordCourierUpdate(t *testing.T) {
	for _, c := range updateCases {
		o := deliveryOrder(c.order)
		d := c.delivery(o)
		if d.ProviderID == "" {
			o.CourierDeliveryID, o.CourierTrackingURL = "", ""
		}
		if c.update.ID == "" {
			c.update.ID = "d1"
		}
		cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: max(c.attempt, 1), Provider: "u", Update: c.update}
		if c.provider != "" {
			cmd.Provider = c.provider
		}
		before := withDelivery(o, d)
		before.Attention = raisedOn(o, c.raised)
		got, changes, err := decided(cmd, before, now)
		if s := summary(changes); err != nil || s != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
		if after := merge(before, changes); got.Order.Status != after.Orders[0].Status || !reflect.DeepEqual(got.Delivery, after.Deliveries[0]) {
			t.Errorf("%s: returned %+v", c.name, got)
		}
		if got.Known != (c.want == "" || c.want == summary(commerce.Changes{Deliveries: []commerce.Delivery{d}})) {
			t.Errorf("%s: known before: %v", c.name, got.Known)
		}
		for _, e := range changes.Timeline {
			if e.Actor != "provider:"+cmd.Provider {
				t.Errorf("%s: an event by %s", c.name, e.Actor)
			}
		}
		for _, j := range changes.NewJobs {
			if j.Awaited {
				t.Errorf("%s: no call waits for %+v", c.name, j)
			}
		}
	}
}
