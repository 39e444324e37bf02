package effect

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fixture"
)

// delivering runs a test in a shop with two depots, of which near is asked
// first.
func delivering(t *testing.T, test func(s *shop, v *process, near, far *depot)) {
	t.Helper()
	in(t, func(s *shop) {
		s.admit()
		near, far := newDepot("near"), newDepot("far")
		s.depots = []*depot{near, far}
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer v.stop()
		test(s, v, near, far)
	})
}

// hours is eventually for what is tried again after hours; only in a bubble.
func (s *shop) hours(what string, ok func() bool) {
	s.T.Helper()
	check.Eventually(s.T, 6*time.Hour, 5*time.Second, what, ok)
}

// checkOne: there is one delivery of an order, at this depot, and the order knows
// of it.
func (s *shop) checkOne(r *ride, at *depot) {
	s.T.Helper()
	o, d := s.Order(r.order), s.Delivery(r.order)
	if n, list := s.underWay(o.ID); n != 1 || d.Provider != at.name || d.ProviderID != at.name+" "+d.Ref() || o.CourierDeliveryID != d.ProviderID ||
		o.Status != commerce.Shipped || s.Attention(r.order) != "" {
		s.T.Errorf("%s: want one delivery, by %s; order %+v\ndelivery %+v\n%d under way: %s", r.name, at.name, o, d, n, list)
	}
}

// TestWhoIsAskedNext checks that the next provider is asked at once if the first one
// refused, limits our calls, or cannot be asked for a quote: then it has created
// nothing. If it was asked for the delivery and did not answer, the outcome is
// unknown, and no other provider is asked, however long that takes.
func TestWhoIsAskedNext(t *testing.T) {
	const heals = 40 * time.Second
	for _, c := range []struct {
		call    call
		trouble trouble
		far     bool // it is brought by the other one
	}{
		{quoting, isDown, true}, {quoting, refuses, true}, {quoting, isLimited, true}, {quoting, isSlow, true},
		{creating, refuses, true}, {creating, isLimited, true}, {creating, hasExpired, true},
		{creating, losesAnswer, false}, {creating, isDown, false}, {creating, isSlow, false},
	} {
		t.Run(fmt.Sprint(c.call, " ", c.trouble), func(t *testing.T) {
			delivering(t, func(s *shop, v *process, near, far *depot) {
				near.set(c.call, c.trouble)
				r := &ride{name: "A-1"}
				reporting(v, r)
				if made := strings.Contains(r.calls[0].heard.body, `"created":true`); made != c.far {
					t.Errorf("answered %s", r.calls[0].heard.body)
				}
				time.Sleep(heals)
				near.set(c.call, "")
				s.hours("a courier", s.quiet)
				at := near
				if c.far {
					at = far
				}
				s.checkOne(r, at)
			})
		})
	}
}

// TestNoProviderAccepts checks that each reason is recorded once, that the order waits,
// and that the first free courier delivers.
func TestNoProviderAccepts(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, far *depot) {
		near.set(quoting, refuses)
		far.set(creating, refuses)
		r := &ride{name: "A-1"}
		reporting(v, r)
		time.Sleep(time.Minute)
		o, d := s.Order(r.order), s.Delivery(r.order)
		if notes := s.notes(o); o.Status != commerce.Processed || s.Attention(r.order) != "not_dispatched" || len(notes) != 1 || !strings.Contains(notes[0], "no courier is free") {
			t.Errorf("%+v, notes %q", o, notes)
		}
		if d.Provider != "" || d.State != commerce.DeliveryDispatching {
			t.Errorf("it is unknown which provider has the delivery, but it is %+v", d)
		}
		far.set(creating, "")
		s.hours("a courier", s.quiet)
		s.checkOne(r, far)
	})
}

// TestAnImpatientPartner asks again and again, so that tries follow upon each
// other. A call that was given up just now is not taken for one that never was,
// however long ago the first one was made.
func TestAnImpatientPartner(t *testing.T) {
	slowly := func(near *depot, refused call) {
		near.set(creating, isSlow)
		near.once(beforeCreate, func() { // and when it is asked once more, it refuses
			near.once(beforeQuote, func() { near.set(refused, refuses) })
		})
	}
	for _, refused := range []call{quoting, creating} {
		for _, down := range []time.Duration{0, settling} {
			delivering(t, func(s *shop, v *process, near, far *depot) {
				r := &ride{name: fmt.Sprint(refused, " refused, down for ", down)}
				if down > 0 {
					near.set(creating, isDown)
					reporting(v, r)
					time.Sleep(down)
				}
				slowly(near, refused)
				for range 10 {
					reporting(v, r)
				}
				s.hours("a courier", s.quiet)
				s.checkOne(r, near)
			})
		}
	}
}

// TestNotOfTheFleetAnyMore checks that no other provider is asked if the one that may
// have the delivery is no longer configured.
func TestNotOfTheFleetAnyMore(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		near, far := newDepot("near"), newDepot("far")
		s.depots = []*depot{near, far}
		near.set(creating, losesAnswer)
		r := &ride{name: "A-1"}
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		reporting(v, r)
		v.stop()
		s.depots = []*depot{far}
		without := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		time.Sleep(time.Hour)
		without.stop()
		if d := s.Delivery(r.order); !strings.Contains(d.Error, `"near" is not configured any more`) {
			t.Errorf("%+v", d)
		}
		s.depots = []*depot{near, far}
		again := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer again.stop()
		s.hours("a courier", s.quiet)
		s.checkOne(r, near)
	})
}

// TestTwoProcessesLookForACourier: the lease of the first ends while it is at
// some point of its try, and the second has the job.
func TestTwoProcessesLookForACourier(t *testing.T) {
	for _, c := range []struct {
		stalled point // where the first process is
		near    trouble
		want    string
	}{
		{beforeQuote, "", "near"}, {beforeQuote, refuses, "far"}, {beforeQuote, isDown, "far"},
		{beforeCreate, "", "near"}, {beforeCreate, refuses, "near"}, {beforeCreate, isDown, "near"},
		{afterCreate, "", "near"}, {afterCreate, isDown, "near"},
	} {
		t.Run(fmt.Sprintf("%s, then a quote %q", c.stalled, c.near), func(t *testing.T) {
			delivering(t, func(s *shop, first *process, near, far *depot) {
				var second *process
				near.once(c.stalled, func() {
					near.set(quoting, c.near)
					first.m.idle.Store(true) // else it may claim the job again itself
					s.returnJobs(first.runner.Worker)
					second = s.serve(newMortal(s.Engine, 0, false), nil, nil)
					over := make(chan struct{})
					far.once(beforeCreate, func() { // the first one goes on while the second one asks
						near.set(quoting, "")
						close(over)
						time.Sleep(time.Second)
					})
					select {
					case <-over:
					case <-time.After(5 * time.Second):
						near.set(quoting, "")
					}
				})
				r := &ride{name: "A-1"}
				reporting(first, r)
				s.hours("a courier", s.quiet)
				second.stop()
				for _, d := range s.depots {
					if d.name == c.want {
						s.checkOne(r, d)
					}
				}
			})
		})
	}
}

// TestCancelledMeanwhile cancels, or refunds, an order at every point of the search
// for its courier, which may be slow to cancel too, while the process lives or dies.
// In the end no courier is on the way, and the stock is back.
func TestCancelledMeanwhile(t *testing.T) {
	for _, at := range []point{beforeQuote, beforeCreate, afterCreate} {
		for _, trouble := range []trouble{"", isDown, losesAnswer} {
			for _, by := range []move{cancellingIt, refunding} {
				for _, dies := range []bool{false, true} {
					name := fmt.Sprintf("%s, cancelling %q", at, trouble)
					in(t, func(s *shop) { s.cancelledMeanwhile(name, at, trouble, by, dies) })
				}
			}
		}
	}
}

func (s *shop) cancelledMeanwhile(name string, at point, trouble trouble, by move, dies bool) {
	s.admit()
	near := newDepot("near")
	s.depots = []*depot{near}
	near.set(cancelling, trouble)
	before := s.Stock(0).Quantity
	r := &ride{name: name}
	v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	v.perform(r, []move{paying})
	near.once(at, func() {
		by(v, r)
		if dies {
			close(v.m.dead)
		}
	})
	confirmed := make(chan struct{})
	go func() {
		defer close(confirmed)
		confirming(v, r)
	}()
	select {
	case <-confirmed:
	case <-v.m.dead:
	}
	v.effects.EndWaits()
	s.stop(v.effects)
	<-confirmed
	v.stop()
	second := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	defer second.stop()
	time.Sleep(time.Minute)
	near.set(cancelling, "")
	s.hours("the courier to be sent home", s.quiet)
	o, d := s.Order(r.order), s.Delivery(r.order)
	n, list := s.underWay(o.ID)
	if n != 0 || d.State != commerce.DeliveryOver || s.Attention(r.order) != "" && s.Attention(r.order) != "refund_due" || o.InventoryDeducted || s.Stock(0).Quantity != before ||
		o.Status != commerce.Cancelled && o.Status != commerce.Refunded {
		s.T.Errorf("%s, dies %v: order %+v\ndelivery %+v\n%d under way: %s", name, dies, o, d, n, list)
	}
	if counts := s.Kinds(r.order); counts[commerce.TimelineDeliveryCancelled] != 1 || counts[commerce.TimelineDeliveryCreated] != 0 {
		s.T.Errorf("%s, dies %v: the timeline is %v", name, dies, counts)
	}
	second.checkAnswers(r, true)
}

// TestCancelWaitsForTheTruth checks that a courier whose creation had no answer is
// cancelled when the call takes effect.
func TestCancelWaitsForTheTruth(t *testing.T) {
	delivering(t, func(s *shop, v *process, near, far *depot) {
		near.set(creating, isSlow)
		r := &ride{name: "A-1"}
		known := make(chan struct{}) // which order it is
		near.once(beforeCreate, func() {
			time.AfterFunc(late/2, func() {
				<-known
				cancellingIt(v, r)
			})
		})
		s.depots = []*depot{near}
		go reporting(v, &ride{name: "A-1"})
		time.Sleep(time.Second)
		list := s.Jobs(commerce.JobWaiting, storeID)
		orderID, _, _ := commerce.ParseDeliveryRef(list[0].Subject)
		r.order = commerce.OrderKey{StoreID: storeID, OrderID: orderID}
		close(known)
		time.Sleep(2 * late)
		s.hours("the courier to be sent home", s.quiet)
		if has, n := near.has(orderID); n != 0 || len(has) != 1 || s.Order(r.order).Status != commerce.Cancelled || s.Delivery(r.order).State != commerce.DeliveryOver {
			t.Errorf("%+v; %d under way: %v", s.Delivery(r.order), n, has)
		}
	})
}

// TestNoticesBeforeTheRecord: providers post what they made before they answer.
// The process may die before it records the answer.
func TestNoticesBeforeTheRecord(t *testing.T) {
	for _, status := range []commerce.CourierStatus{commerce.CourierPending, commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierDone, commerce.CourierCancelled} {
		for _, dies := range []bool{false, true} {
			in(t, func(s *shop) { s.noticeFirst(status, dies) })
		}
	}
}

func (s *shop) noticeFirst(status commerce.CourierStatus, dies bool) {
	s.admit()
	near, far := newDepot("near"), newDepot("far")
	s.depots = []*depot{near, far}
	r := &ride{name: fmt.Sprintf("%s, dies %v", status, dies)}
	v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	near.once(afterCreate, func() {
		ref := strings.TrimPrefix(refOf(near), "near ")
		if dies { // with the jobs of the callback leased to it
			v.m.dieAfterNext()
		}
		for range 2 {
			v.postCallback(near, near.move(ref, status))
		}
	})
	v.perform(r, []move{reporting})
	v.stop()
	second := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	defer second.stop()
	for range 4 { // until the lease of the first one's job ends
		reporting(second, r)
	}
	s.eventually("all to be done", s.quiet)
	second.checkAnswers(r, true)
	attempts, want := int64(1), map[commerce.CourierStatus]commerce.OrderStatus{commerce.CourierLoaded: commerce.OutForDelivery, commerce.CourierDone: commerce.Delivered}[status]
	if want == "" {
		want = commerce.Shipped
	}
	if status == commerce.CourierCancelled {
		attempts = 2
	}
	o, d, counts := s.Order(r.order), s.Delivery(r.order), s.Kinds(r.order)
	n, list := s.underWay(o.ID)
	if n != 1 || o.Status != want || s.Attention(r.order) != "" || d.Attempt != attempts || d.ProviderID == "" || int64(counts[commerce.TimelineDeliveryCreated]) != attempts ||
		counts[commerce.TimelineShipped] != 1 || !dies && (o.CourierQuoteID == "" || d.FeeCents != 500) {
		s.T.Errorf("%s: order %+v\ndelivery %+v\ntimeline %v\n%d under way: %s", r.name, o, d, counts, n, list)
	}
}

// TestOneJobForAnAttempt: a process dies after a callback reported that the first
// courier gave up, before it has recorded that there was one. Its two jobs are
// done side by side, but only one of them looks for the second courier.
func TestOneJobForAnAttempt(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		near, far := newDepot("near"), newDepot("far")
		s.depots = []*depot{near, far}
		r := &ride{name: "A-1"}
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		near.once(afterCreate, func() {
			v.m.dieAfterNext()
			v.postCallback(near, near.move(strings.TrimPrefix(refOf(near), "near "), commerce.CourierCancelled))
		})
		v.perform(r, []move{reporting})
		v.stop()
		time.Sleep(commerce.JobLease)
		far.once(beforeQuote, func() { time.Sleep(time.Second) })
		far.once(beforeCreate, func() { // another process with this attempt would ask elsewhere
			far.set(quoting, refuses)
			time.Sleep(5 * time.Second)
		})
		c := couriers{Options{Uses: s.uses(), Reads: s.Engine.Reader(), Fleet: s.fleet(newMortal(s.Engine, 0, false)), Geocoder: nowhere{}}}
		var wg sync.WaitGroup
		left := s.Jobs(commerce.JobWaiting, storeID)
		for _, j := range left {
			if j.Kind == commerce.JobDispatch {
				job := fixture.Do(s.Shop, command.TakeJob{Job: j.Key(), Worker: "me"}).Job
				wg.Go(func() {
					c.about(c.dispatch)(context.Background(), job).Record(context.Background())
				})
			}
		}
		wg.Wait()
		orderID, _, _ := commerce.ParseDeliveryRef(strings.TrimPrefix(refOf(near), "near "))
		if n, list := s.underWay(orderID); n != 1 || len(left) != 3 || len(far.made) != 1 {
			t.Errorf("%d under way, by %d jobs: %s", n, len(left), list)
		}
	})
}

// refOf is the id of the one delivery that a depot has.
func refOf(d *depot) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.parcels {
		return p.ID
	}
	return ""
}

// TestSlowSandbox: the tag slow makes a call slow, and never a failure. The
// answer has the courier, within the time that its caller waits.
func TestSlowSandbox(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		s.sandboxFleet = true
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer v.stop()
		to := map[string]any{"name": "Ann", "phone": "+15125550123", "address": map[string]any{"line1": "1 Congress Ave", "line2": "sandbox:slow", "city": "Austin",
			"state": "TX", "postal_code": "78701", "country": "US"}}
		for n := range 20 {
			began := time.Now()
			a := v.ask("/v1/orders/report", fmt.Sprint("slow-", n), map[string]any{"external_order_id": fmt.Sprint("slow-", n), "store_id": storeID,
				"fulfillment_type": "delivery", "delivery_address": to, "items": []map[string]any{{"product_id": "prd_0", "quantity": 1, "price": 1250}}})
			if took := time.Since(began); a.status != http.StatusCreated || !strings.Contains(a.body, `"created":true`) || took < 8*time.Second || took > 9*time.Second {
				t.Errorf("answered %d after %v: %s", a.status, took, a.body)
			}
		}
	})
}
