package commerce

import (
	"reflect"
	"testing"
	"time"
)

// TestSum: what each kind of order counts for.
func TestSum(t *testing.T) {
	min := func(n int64) Millis { return Millis(n * 60_000) }
	event := func(kind TimelineKind, at int64) SumEvent { return SumEvent{Kind: kind, CreatedOn: min(at)} }
	promised := func(at, eta int64) SumEvent {
		return SumEvent{Kind: TimelineDeliveryCreated, CreatedOn: min(at), DropoffETA: min(eta)}
	}
	order := Order{TotalCents: 100, TaxCents: 8, DeliveryFeeCents: 5}
	of := func(status OrderStatus, returned Cents) Order {
		o := order
		o.Status, o.RefundedCents = status, returned
		return o
	}
	for name, c := range map[string]struct {
		facts   SumFacts
		figures map[Figure]int64
		confirm time.Duration // 0: none
		finish  time.Duration
	}{
		"never paid": {facts: SumFacts{Order: of(PendingPayment, 0)}, figures: map[Figure]int64{SumMade: 1}},
		"another amount was paid": {facts: SumFacts{Order: of(PendingPayment, 0), CapturedCents: 90},
			figures: map[Figure]int64{SumMade: 1, SumCaptured: 90}},
		"picked up": {facts: SumFacts{Order: of(PickedUp, 0), CapturedCents: 100,
			Events: []SumEvent{event(TimelinePaid, 1), event(TimelineProcessed, 4), event(TimelinePickedUp, 30)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumDone: 1, SumTotal: 100, SumTax: 8, SumFee: 5, SumCaptured: 100},
			confirm: 3 * time.Minute, finish: 26 * time.Minute},
		"reported": {facts: SumFacts{Order: of(Processed, 0), Events: []SumEvent{event(TimelineProcessed, 4)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumTotal: 100, SumTax: 8, SumFee: 5}},
		"cancelled before it was paid": {facts: SumFacts{Order: of(Cancelled, 0)}, figures: map[Figure]int64{SumMade: 1, SumCancelled: 1}},
		"paid and cancelled": {facts: SumFacts{Order: of(Cancelled, 40), CapturedCents: 100, Events: []SumEvent{event(TimelinePaid, 1)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumCancelled: 1, SumTotal: 100, SumTax: 8, SumFee: 5, SumTotalStopped: 100, SumCaptured: 100, SumReturned: 40}},
		"refunded in full": {facts: SumFacts{Order: of(Refunded, 100), CapturedCents: 100, Events: []SumEvent{event(TimelinePaid, 1)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumRefunded: 1, SumTotal: 100, SumTax: 8, SumFee: 5, SumTotalStopped: 100, SumCaptured: 100, SumReturned: 100}},
		"the second courier comes in time": {facts: SumFacts{Order: of(Delivered, 0), Events: []SumEvent{event(TimelineProcessed, 1),
			promised(2, 20), event(TimelineDeliveryCancelled, 3), promised(3, 40), event(TimelineDelivered, 40)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumDone: 1, SumTotal: 100, SumTax: 8, SumFee: 5, SumCourierFound: 1, SumCourierLeft: 1, SumByCourier: 1},
			finish:  39 * time.Minute},
		"the courier is late": {facts: SumFacts{Order: of(Delivered, 0), Events: []SumEvent{event(TimelineProcessed, 1), promised(1, 20), event(TimelineDelivered, 21)}},
			figures: map[Figure]int64{SumMade: 1, SumPaid: 1, SumDone: 1, SumTotal: 100, SumTax: 8, SumFee: 5, SumCourierFound: 1, SumCourierLate: 1, SumByCourier: 1},
			finish:  20 * time.Minute},
	} {
		var got, want Sum
		got.Add(c.facts)
		for figure, n := range c.figures {
			want.Figures[figure] = n
		}
		if c.confirm != 0 {
			want.Confirm.Add(c.confirm)
		}
		if c.finish != 0 {
			want.Finish.Add(c.finish)
		}
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

// TestWaits: quantiles lie in the step of the wait that they tell of.
func TestWaits(t *testing.T) {
	var w Waits
	if w.Quantile(0.5) != 0 {
		t.Error("there is no wait")
	}
	for range 99 {
		w.Add(50 * time.Second)
	}
	w.Add(30 * time.Hour)
	if q := w.Quantile(0.5); q <= 30*time.Second || q > time.Minute {
		t.Errorf("the median is %v", q)
	}
	if q := w.Quantile(1); q != 24*time.Hour {
		t.Errorf("the longest wait is %v", q)
	}
	for _, c := range []struct {
		wait time.Duration
		step int
	}{{-time.Second, 0}, {0, 0}, {15 * time.Second, 0}, {15*time.Second + 1, 1}, {24 * time.Hour, len(WaitSteps) - 1}, {24*time.Hour + 1, len(WaitSteps)}} {
		var one, sum Waits
		one.Add(c.wait)
		sum.Merge(&one)
		if sum[c.step] != 1 || sum.Count() != 1 {
			t.Errorf("%v counts as %v", c.wait, sum)
		}
	}
	for i := 1; i < len(WaitSteps); i++ {
		if WaitSteps[i] <= WaitSteps[i-1] {
			t.Error("the steps do not ascend at", WaitSteps[i])
		}
	}
}

// TestWith: an hour is put in its place, or in the place of its old sum.
func TestWith(t *testing.T) {
	hour := func(n, made int64) (h HourSum) {
		h.Hour, h.Figures[SumMade] = n, made
		return h
	}
	d := DaySums{}
	for _, h := range []HourSum{hour(5, 1), hour(3, 2), hour(9, 3), hour(5, 4), hour(3, 5), hour(9, 6)} {
		d = d.With(h)
	}
	if want := []HourSum{hour(3, 5), hour(5, 4), hour(9, 6)}; !reflect.DeepEqual(d.Hours, want) {
		t.Errorf("%+v", d.Hours)
	}
}

func TestTimeOfOrder(t *testing.T) {
	const at = Millis(1_700_000_000_123)
	id := NewOrderID(1<<20, at, Entropy{255, 255, 255})
	if got := TimeOfOrder(id); got != at {
		t.Errorf("%d", got)
	}
	if id < OrderIDsFrom(1<<20, at) || id >= OrderIDsFrom(1<<20, at+1) || TimeOfOrder("ord_1") != 0 {
		t.Error("ids are not in the order of their times")
	}
}
