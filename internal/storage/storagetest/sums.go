package storagetest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var sums = map[string]func(*testing.T, Database){
	"sums are read by stores, mode and hours":            sumsOfHours,
	"orders are read in the order of their last change":  changedOrders,
	"the facts of orders are read by the hour of the id": ordersToSum,
	"the facts of events are read by their ids":          eventsToSum,
}

// sampleSums are two hours of a day, with figures at both ends.
func sampleSums() commerce.DaySums {
	first, second := commerce.HourSum{Hour: 3}, commerce.HourSum{Hour: 23}
	first.Figures[0], first.Confirm[0], first.Finish[len(first.Finish)-1] = 1, 2, 3
	second.Figures[commerce.Figures-1], second.Figures[commerce.SumTotal] = 4, 1<<53
	return commerce.DaySums{DaySumsKey: commerce.DaySumsKey{StoreID: "sto_1", Day: 86_400_000, Mode: commerce.Test, PartnerID: "ptn_1", Source: "partner"},
		Hours: []commerce.HourSum{first, second}}
}

const (
	sumHour = commerce.Millis(60 * 60 * 1000)
	sumDay  = 24 * sumHour
)

func sumsOfHours(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var c commerce.Changes
	made, all := int64(0), []string{"sto_1", "sto_2", "sto_3"}
	for _, store := range all {
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			for day := range commerce.Millis(3) {
				d := commerce.DaySums{DaySumsKey: commerce.DaySumsKey{StoreID: store, Day: day * sumDay, Mode: mode, Source: "partner"}}
				for _, hour := range []int64{0, 5, 23} {
					made++
					h := commerce.HourSum{Hour: hour}
					h.Figures[commerce.SumMade] = made
					d.Hours = append(d.Hours, h)
				}
				c.HourSums = append(c.HourSums, d)
			}
		}
	}
	store(t, e, c)
	for _, q := range []storage.SumFilter{
		{Mode: commerce.Live, StoreIDs: all, Until: 9 * sumDay},
		{Mode: commerce.Test, StoreIDs: all, Until: 9 * sumDay},
		{Mode: commerce.Live, StoreIDs: all, From: 5 * sumHour, Until: sumDay + 5*sumHour},
		{Mode: commerce.Live, StoreIDs: []string{"sto_1", "sto_3", "sto_4"}, From: sumDay, Until: 2*sumDay + sumHour},
		{Mode: commerce.Live, StoreIDs: []string{}, Until: 9 * sumDay},
	} {
		var got, want []int64
		err := e.Reader().HourSums(context.Background(), q, func(_ commerce.DaySumsKey, h *commerce.HourSum) { got = append(got, h.Of(commerce.SumMade)) })
		for _, d := range c.HourSums {
			for _, h := range d.Hours {
				if at := d.Day + commerce.Millis(h.Hour)*sumHour; d.Mode == q.Mode && slices.Contains(q.StoreIDs, d.StoreID) && at >= q.From && at < q.Until {
					want = append(want, h.Of(commerce.SumMade))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v, want %v", q, got, err, want)
		}
	}
	p := commerce.SumPosition{Name: "a", At: 1, Worker: "w", LeasedUntil: 2}
	store(t, e, commerce.Changes{SumPositions: []commerce.SumPosition{p}})
	if got, err := e.Reader().SumPosition(context.Background(), "a"); err != nil || got != p {
		t.Errorf("%+v, %v", got, err)
	}
}

// sumOrder is an order of a store as orders to sum are read.
func sumOrder(no int64, at commerce.Millis, n byte, partner string, mode commerce.Mode, updated commerce.Millis) commerce.Order {
	return commerce.Order{StoreID: storeName(int(no)), ID: commerce.NewOrderID(no, at, commerce.Entropy{n}), PartnerID: partner, Mode: mode, Source: "partner",
		Status: commerce.Processed, TotalCents: 100, TaxCents: 8, DeliveryFeeCents: 3, RefundedCents: commerce.Cents(n), CreatedOn: at, UpdatedOn: updated}
}

func changedOrders(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var orders []commerce.Order
	for n := range byte(12) {
		orders = append(orders, sumOrder(1+int64(n%2), commerce.Millis(n), n, []string{"", "ptn_1", "ptn_2"}[n%3], commerce.Live, commerce.Millis(100-n/2)))
	}
	orders = append(orders, sumOrder(1, 99, 99, "", commerce.Test, 1))
	for n, o := range []storage.OrderChange{{ID: "", At: 98}, {ID: "", At: 94}, {ID: "ptn_1", At: 99}, {ID: "ptn_1", At: 96}} { // never changed
		orders = append(orders, sumOrder(1, o.At, byte(50+n), o.ID, commerce.Live, o.At))
	}
	store(t, e, commerce.Changes{Orders: orders})
	for _, partner := range []string{"", "ptn_1", "ptn_3"} {
		for _, from := range []commerce.Millis{0, 96, 97, 200} {
			for _, limit := range []int{1, 3, 20} {
				got, err := e.Reader().ChangedOrders(context.Background(), partner, commerce.Live, from, limit)
				var want []storage.OrderChange
				for _, o := range orders {
					for _, at := range slices.Compact([]commerce.Millis{o.CreatedOn, o.UpdatedOn}) {
						if o.PartnerID == partner && o.Mode == commerce.Live && at >= from {
							want = append(want, storage.OrderChange{ID: o.ID, At: at})
						}
					}
				}
				slices.SortFunc(want, storage.OrderChange.Compare)
				want = want[:min(len(want), limit)]
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%q from %d, %d at most: %v, %v, want %v", partner, from, limit, got, err, want)
				}
			}
		}
	}
}

func ordersToSum(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var c commerce.Changes
	want := map[int64][]commerce.SumFacts{}
	for n, at := range []commerce.Millis{0, sumHour - 1, sumHour, sumHour + 1, 2*sumHour - 1, 2 * sumHour} {
		for no := range int64(2) {
			o := sumOrder(1+no, at, byte(n), "ptn_1", commerce.Test, at)
			f := commerce.SumFacts{Order: o}
			if n%2 == 0 {
				f.CapturedCents = commerce.Cents(n + 1)
				c.Payments = append(c.Payments, commerce.Payment{StoreID: o.StoreID, OrderID: o.ID, CapturedCents: f.CapturedCents})
			}
			for i, kind := range append([]commerce.TimelineKind{commerce.TimelineCreated, commerce.TimelineNote}, commerce.SumEvents...) {
				event := commerce.TimelineEvent{StoreID: o.StoreID, OrderID: o.ID, Seq: int64(i + 1), Kind: kind, CreatedOn: at + commerce.Millis(i)}
				if kind == commerce.TimelineDeliveryCreated || kind == commerce.TimelineDelivered {
					event.Data = commerce.DeliveryData{DropoffETA: 77}
				}
				c.Timeline = append(c.Timeline, event)
				if i >= 2 {
					summed := commerce.SumEvent{Kind: kind, CreatedOn: event.CreatedOn}
					if kind == commerce.TimelineDeliveryCreated {
						summed.DropoffETA = 77
					}
					f.Events = append(f.Events, summed)
				}
			}
			c.Orders = append(c.Orders, o)
			f.Order.CreatedOn, f.Order.UpdatedOn = 0, 0 // they are not read
			want[1+no] = append(want[1+no], f)
		}
	}
	needs := schematest.Needs(c)
	Change(t, e, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	for _, limit := range []int{1, 2, 10} {
		from := commerce.OrderIDsFrom(2, sumHour)
		var got []commerce.SumFacts
		for {
			page, err := e.Reader().OrdersToSum(context.Background(), storeName(2), from, commerce.OrderIDsFrom(2, 2*sumHour), limit)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			from = page[limit-1].Order.ID + "0"
		}
		if !reflect.DeepEqual(got, want[2][2:5]) {
			t.Errorf("in pages of %d:\n got %+v\nwant %+v", limit, got, want[2][2:5])
		}
	}
}

func eventsToSum(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	var c commerce.Changes
	var want []commerce.WebhookFacts
	for n := range 12 {
		partner := []string{"ptn_1", "ptn_2"}[n%2]
		f := commerce.WebhookFacts{ID: commerce.NewID(commerce.PrefixEvent, commerce.Millis(n), commerce.Entropy{}), StoreID: "sto_1", Mode: commerce.Test}
		if n == 8 {
			f.StoreID = "" // a test of the endpoint
		}
		c.Webhooks = append(c.Webhooks, commerce.WebhookEvent{PartnerID: partner, ID: f.ID, Kind: commerce.WebhookPaid, Mode: f.Mode, StoreID: f.StoreID, Data: []byte("{}")})
		for i := range n % 3 { // none, one that failed, or one that failed and one that arrived
			f.Tried, f.Delivered = true, i == 1
			c.Attempts = append(c.Attempts, commerce.WebhookAttempt{PartnerID: partner, EventID: f.ID, ID: "att_" + string(rune('0'+i)), Status: []int64{0, 204}[i]})
		}
		if partner == "ptn_1" && n >= 2 && n < 10 && f.StoreID != "" {
			want = append(want, f)
		}
	}
	Change(t, e, of("ptn_1", "ptn_2"), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	for _, limit := range []int{1, 3, 10} {
		var got []commerce.WebhookFacts
		from, to := commerce.NewID(commerce.PrefixEvent, 2, commerce.Entropy{}), commerce.NewID(commerce.PrefixEvent, 10, commerce.Entropy{})
		for {
			page, through, err := e.Reader().EventsToSum(context.Background(), "ptn_1", from, to, limit)
			if err != nil {
				t.Fatal(err)
			}
			if through == "" {
				break
			}
			got, from = append(got, page...), through+"0"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pages of %d:\n got %+v\nwant %+v", limit, got, want)
		}
	}
}
