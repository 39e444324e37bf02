package effect

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/storage"
)

// TestWhatIsDelivered: the provider learns what the parcel is worth, by which it
// is insured, what is in it, and between which doors it goes.
func TestWhatIsDelivered(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, _ *depot) {
		r := &ride{name: "A-1"}
		reporting(v, r)
		requests := near.requests()
		if len(requests) != 1 {
			t.Fatalf("%d requests", len(requests))
		}
		store, err := s.Engine.Reader().Store(context.Background(), storeID)
		if err != nil {
			t.Fatal(err)
		}
		o := s.Order(r.order)
		got := requests[0]
		if got.AskedOn == 0 {
			t.Error("it is not said since when the delivery is asked for")
		}
		got.AskedOn = 0
		want := courier.CreateRequest{QuoteRequest: courier.QuoteRequest{Ref: commerce.DeliveryRef(o.ID, 1), StoreID: storeID, ValueCents: 2500,
			Pickup: courier.PickupAt(store, ""), Dropoff: courier.DropoffAt(o.Address, "")}, QuoteID: "quote of near", OrderID: o.ID,
			Items: []courier.Item{{Name: got.Items[0].Name, Quantity: 2, PriceCents: 1250}}}
		if !reflect.DeepEqual(got, want) || got.Items[0].Name == "" {
			t.Errorf("got\n%+v, want\n%+v", got, want)
		}
	})
}

// TestReadyTime: the provider learns when the goods are ready, counted from the report, unless
// they are ready by now.
func TestReadyTime(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, _ *depot) {
		for name, minutes := range map[string]any{"in half an hour": 30, "at once": 0, "not said": nil} {
			got := (&ride{name: name}).ask(v, "/v1/orders/report", map[string]any{"external_order_id": name, "store_id": storeID, "fulfillment_type": "delivery",
				"delivery_address": address, "ready_in_minutes": minutes, "items": []map[string]any{{"product_id": "prd_0", "quantity": 1, "price": 1250}}})
			o := s.Order(commerce.OrderKey{StoreID: storeID, OrderID: orderIDOf(got)})
			want := commerce.Millis(0)
			if minutes == 30 {
				want = o.CreatedOn.Add(30 * time.Minute)
			}
			requests := near.requests()
			if last := requests[len(requests)-1]; last.OrderID != o.ID || last.ReadyAt != want {
				t.Errorf("%s: %d of order %s made on %d", name, last.ReadyAt, o.ID, o.CreatedOn)
			}
		}
	})
}

// TestCancelIsTriedAgain checks that a failed cancellation is soon tried again, even
// if the provider was removed from the configuration meanwhile and came back.
func TestCancelIsTriedAgain(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		near, far := newDepot("near"), newDepot("far")
		s.depots = []*depot{near, far}
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		r := &ride{name: "A-1"}
		reporting(v, r)
		near.set(cancelling, isDown)
		if a := r.ask(v, r.path("cancel"), map[string]any{}); !strings.Contains(a.body, `"delivery_cancelled":false`) {
			t.Errorf("answered %s", a.body)
		}
		cancels := func() (list []commerce.Job) {
			for _, j := range s.Jobs(commerce.JobWaiting, storeID) {
				if j.Kind == commerce.JobCancelDelivery {
					list = append(list, j)
				}
			}
			return list
		}
		if list := cancels(); len(list) != 1 || list[0].Tries != 1 || list[0].RunAt-commerce.MillisOf(time.Now()) > 5500 || list[0].RunAt <= commerce.MillisOf(time.Now()) {
			t.Errorf("%+v at %d", list, time.Now().UnixMilli())
		}
		v.stop()
		s.depots = []*depot{far}
		without := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		time.Sleep(10 * time.Second)
		without.stop()
		if list := cancels(); len(list) != 1 || !strings.Contains(list[0].Error, `"near" is not configured any more`) {
			t.Errorf("%+v", list)
		}
		s.depots = []*depot{near, far}
		near.set(cancelling, "")
		again := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer again.stop()
		s.hours("the courier to be sent home", s.quiet)
		if n, list := s.underWay(r.order.OrderID); n != 0 || s.Delivery(r.order).State != commerce.DeliveryOver {
			t.Errorf("%d are under way: %s; %+v", n, list, s.Delivery(r.order))
		}
	})
}

// TestRefusalThatTellsNothing: only a provider that says that it has no such
// delivery has none. Until it tells, no delivery is asked for again.
func TestRefusalThatTellsNothing(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, far *depot) {
		near.set(creating, losesAnswer)
		near.set(getting, keepsSilent)
		r := &ride{name: "A-1"}
		reporting(v, r)
		time.Sleep(10 * time.Minute)
		if len(near.requests()) != 1 || len(far.requests()) != 0 {
			t.Errorf("near was asked %d times, far %d times", len(near.requests()), len(far.requests()))
		}
		near.set(getting, "")
		s.hours("a courier", s.quiet)
		s.checkOne(r, near)
	})
}

// TestSilentDelivery: a provider of which nothing was heard for long is asked,
// until it tells.
func TestSilentDelivery(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, _ *depot) {
		r := &ride{name: "A-1"}
		reporting(v, r)
		near.set(getting, isDown)
		near.move(commerce.DeliveryRef(r.order.OrderID, 1), commerce.CourierDone) // and its callback is lost
		check := func() commerce.Job {
			for _, j := range s.Jobs(commerce.JobWaiting, storeID) {
				if j.Kind == commerce.JobCheckDelivery {
					return j
				}
			}
			return commerce.Job{}
		}
		first := check().RunAt
		time.Sleep(commerce.CheckEvery + time.Minute)
		if o, j := s.Order(r.order), check(); o.Status != commerce.Shipped || j.RunAt <= first || j.LeasedBy != "" {
			t.Errorf("while it is down: %s, %+v", o.Status, j)
		}
		near.set(getting, "")
		time.Sleep(2 * commerce.CheckEvery)
		if o := s.Order(r.order); o.Status != commerce.Delivered || check().ID != "" {
			t.Errorf("it has told by now, and the order is %s; %+v", o.Status, check())
		}
	})
}

// unreadable is a database that cannot read stores.
type unreadable struct{ storage.Engine }

func (u unreadable) Reader() storage.Reader { return noStores{u.Engine.Reader()} }

type noStores struct{ storage.Reader }

func (noStores) Store(context.Context, string) (commerce.Store, error) {
	return commerce.Store{}, storage.ErrUnavailable
}

// TestDispatchWithoutDatabase: what cannot be read is no failed try of the job.
func TestDispatchWithoutDatabase(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, far *depot) {
		near.set(quoting, isDown)
		far.set(quoting, isDown)
		r := &ride{name: "A-1"}
		reporting(v, r)
		job := s.Jobs(commerce.JobWaiting, storeID)[0]
		c := couriers{Options{Uses: v.uses, Reads: unreadable{s.Engine}.Reader()}}
		out := c.about(c.dispatch)(context.Background(), job)
		if !errors.Is(out.Err, storage.ErrUnavailable) || out.Record != nil {
			t.Errorf("%+v", out)
		}
		near.set(quoting, "")
	})
}
