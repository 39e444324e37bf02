package effect

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fakesandbox"
	"purveyor/internal/testkit/fixture"
)

// flow is one call whose outcome is decided outside of the process, and what
// must have come of it whenever the process dies.
type flow struct {
	name string
	// paid says that the order it is about was paid and confirmed before, checkedOut
	// that it was only checked out; else the call makes it.
	paid, checkedOut bool
	path             string // with %s for the order
	body             any
	status           int // of the answer
	says             string
	order            commerce.OrderStatus
	session          payment.SessionStatus
	refunded         commerce.Cents
	stock            int64 // what the order has in the end
	timeline         map[commerce.TimelineKind]int
}

var flows = []flow{
	{name: "checkout", path: checkoutPath, body: checkoutBody(""), status: 201, says: `"checkout_url":"https://pay.example/`,
		order: commerce.PendingPayment, session: payment.SessionOpen,
		timeline: map[commerce.TimelineKind]int{commerce.TimelineCreated: 1, commerce.TimelinePendingPayment: 1}},
	{name: "refund of a part", paid: true, path: "/v1/orders/%s/refund", body: map[string]any{"amount_cents": 700}, status: 200,
		says: `"amount_refunded_cents":700,"total_refunded_cents":700,"status":"processed"`, order: commerce.Processed, session: payment.SessionPaid,
		refunded: 700, stock: 2, timeline: map[commerce.TimelineKind]int{commerce.TimelinePaid: 1, commerce.TimelineRefunded: 1}},
	{name: "full refund", paid: true, path: "/v1/orders/%s/refund", body: map[string]any{}, status: 200,
		says: `"amount_refunded_cents":2500,"total_refunded_cents":2500,"status":"refunded"`, order: commerce.Refunded, session: payment.SessionPaid,
		refunded: 2500, timeline: map[commerce.TimelineKind]int{commerce.TimelinePaid: 1, commerce.TimelineRefunded: 1}},
	{name: "cancel with refund", paid: true, path: "/v1/orders/%s/cancel", body: map[string]any{"refund": true}, status: 200,
		says: `"amount_refunded_cents":2500}`, order: commerce.Refunded, session: payment.SessionPaid,
		refunded: 2500, timeline: map[commerce.TimelineKind]int{commerce.TimelineCancelled: 1, commerce.TimelineRefunded: 1}},
	{name: "cancel before the payment", checkedOut: true, path: "/v1/orders/%s/cancel", body: map[string]any{"refund": true}, status: 200,
		says: `"status":"cancelled"`, order: commerce.Cancelled, session: payment.SessionExpired,
		timeline: map[commerce.TimelineKind]int{commerce.TimelineCancelled: 1, commerce.TimelineRefunded: 0}},
}

// TestCrash has a process die at every save of every flow, just before and just
// after it. Between two saves lies at most one call of the processor, so that
// these are all the moments that differ. Another process then finds the work
// when the leases of the dead one have ended, or is asked again before.
func TestCrash(t *testing.T) {
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, outside := range []bool{false, true} {
				in(t, func(s *shop) { s.crash(f, outside, deathsInBubble()...) })
			}
			in(t, func(s *shop) { // what is held is sold, or released once
				s.holdGoods()
				s.crash(f, false, deathsInBubble()...)
			})
		})
	}
}

// TestCrashOnPostgreSQL is TestCrash in real time. The processor stands in the
// database, so that what it is asked for takes turns with the rest.
func TestCrashOnPostgreSQL(t *testing.T) {
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			engine, err := postgres.Open(database.Postgres(t), postgres.Options{Readers: 4})
			if err != nil {
				t.Fatal(err)
			}
			s := newShop(t, engine)
			s.endLeases = s.returnJobs
			s.crash(f, false, deathsInReal()...)
		})
	}
}

// holdGoods has checkouts of the store hold goods.
func (s *shop) holdGoods() {
	store, err := s.Engine.Reader().Store(s.T.Context(), storeID)
	if err != nil {
		s.T.Fatal(err)
	}
	store.HoldMinutes, s.holds = 5, 5*time.Minute
	fixture.Do(s.Shop, command.UpdateStore{Store: store})
}

// returnJobs ends the leases of a process that is dead, as time does.
func (s *shop) returnJobs(worker string) {
	cmd := command.ReturnJobs{}
	for _, j := range s.work() {
		if j.LeasedBy == worker {
			cmd.Jobs = append(cmd.Jobs, j)
		}
	}
	fixture.Do(s.Shop, cmd)
}

// crash has processes die in a flow, with the processor in the database or
// outside of it.
func (s *shop) crash(f flow, outside bool, deaths ...death) {
	s.admit()
	for _, d := range deaths {
		at := 1
		for s.crashAt(f, outside, d.again, d.persisted, at) {
			at++
		}
		if least := 3; at < least {
			s.T.Errorf("the process died %d times: the test did not test it", at-1)
		}
	}
}

// crashAt has a process die at one of its saves, and tells whether it came so
// far.
func (s *shop) crashAt(f flow, outside, again, after bool, at int) (died bool) {
	s.T.Helper()
	name := fmt.Sprintf("processor outside %v, asked again %v, save %d, persisted %v", outside, again, at, after)
	var objects *fakesandbox.Objects
	if outside {
		objects = &fakesandbox.Objects{}
	}
	before := s.Stock(0).Quantity
	order := s.prepare(f, objects, name)
	payments := s.payments()
	path := f.path
	if order.OrderID != "" {
		path = fmt.Sprintf(f.path, order.OrderID)
	}

	first := s.serve(newMortal(s.Engine, at, after), objects, nil)
	acknowledged := first.askUntilDeath(path, name, f.body)
	died = first.m.hasDied()
	first.stop()
	if acknowledged.status != 0 && acknowledged.status != f.status {
		s.T.Errorf("%s: answered %d: %s", name, acknowledged.status, acknowledged.body)
	}
	if s.endLeases != nil {
		s.endLeases(first.runner.Worker)
	}

	second := s.serve(newMortal(s.Engine, 0, false), objects, nil)
	defer second.stop()
	if !again {
		s.eventually(name+": the work to be found", s.idle)
	}
	var got reply
	s.eventually(name+": an answer", func() bool {
		got = second.ask(path, name, f.body) // cancel has an answer for the meantime
		return got.status != http.StatusConflict && (got.status != f.status || strings.Contains(got.body, f.says))
	})
	s.eventually(name+": the work to be done", s.idle)
	second.deliver(objects, 2)
	if got.status != f.status || !strings.Contains(got.body, f.says) || acknowledged.status != 0 && acknowledged.body != got.body {
		s.T.Errorf("%s: answered %d: %s\nbefore %d: %s", name, got.status, got.body, acknowledged.status, acknowledged.body)
	}
	if third := second.ask(path, name, f.body); third.status != got.status || third.body != got.body || !third.replayed {
		s.T.Errorf("%s: repeated %+v, after %+v", name, third, got)
	}
	if order.OrderID == "" {
		order = got.checkedOut(s)
		payments++
	}
	if s.holds != 0 {
		time.Sleep(s.holds + time.Second) // stamps may be ahead of the clock
		s.eventually(name+": the holds to be ended", s.idle)
	}
	if n := s.payments(); n != payments {
		s.T.Errorf("%s: there are %d payments, want %d", name, n, payments)
	}
	second.checkFlow(f, name, order)
	storagetest.CheckStock(s.T, s.Engine.Reader())
	if now := s.Stock(0); before-now.Quantity != f.stock || now.Held != 0 {
		s.T.Errorf("%s: %d pieces are taken, want %d; %d are held", name, before-now.Quantity, f.stock, now.Held)
	}
	if s.T.Failed() {
		s.T.FailNow()
	}
	return died
}

// prepare makes the order that a flow is about, in a process of its own.
func (s *shop) prepare(f flow, objects *fakesandbox.Objects, key string) (order commerce.OrderKey) {
	s.T.Helper()
	v := s.serve(newMortal(s.Engine, 0, false), objects, nil)
	defer v.stop()
	switch {
	case f.checkedOut:
		order = v.ask(checkoutPath, "checkout "+key, checkoutBody("")).checkedOut(s)
	case f.paid:
		order = v.paidOrder(objects, "checkout "+key, "")
		if confirmed := v.ask("/v1/orders/"+order.OrderID+"/confirm", "confirm "+key, map[string]any{}); confirmed.status != http.StatusOK {
			s.T.Fatalf("confirm was answered %d: %s", confirmed.status, confirmed.body)
		}
	}
	s.eventually("the jobs of what comes before", s.idle)
	return order
}

// askUntilDeath makes a request and waits until the process has nothing left to
// do, or is dead. An answer that came too late for anybody to hear is empty.
func (v *process) askUntilDeath(path, key string, body any) (heard reply) {
	answered := make(chan reply, 1)
	go func() { answered <- v.ask(path, key, body) }()
	select {
	case heard = <-answered:
		if v.m.hasDied() {
			return reply{}
		}
		v.s.eventually("the process to come to rest, or to die", func() bool { return v.m.isDead() || v.s.idle() })
	case <-v.m.dead:
		v.effects.EndWaits()
		v.s.stop(v.effects)
		<-answered
	}
	return heard
}

// checkFlow: one session, the money that the processor says, the status and the
// history that belong to it.
func (v *process) checkFlow(f flow, name string, key commerce.OrderKey) {
	v.s.T.Helper()
	v.checkMoney(key)
	o, p := v.s.Order(key), v.s.Payment(key)
	session, err := v.box.Session(context.Background(), p.SessionID)
	if err != nil || session.Status != f.session || o.Status != f.order || p.RefundedCents != f.refunded || v.s.Attention(key) != "" {
		v.s.T.Errorf("%s: order %+v\npayment %+v\nsession %+v, %v", name, o, p, session, err)
	}
	counts := v.s.Kinds(key)
	for kind, n := range f.timeline {
		if counts[kind] != n {
			v.s.T.Errorf("%s: the timeline has %s %d times, want %d", name, kind, counts[kind], n)
		}
	}
}

func (s *shop) payments() int {
	s.T.Helper()
	list, err := s.Engine.Reader().Payments(context.Background(), commerce.OrderKey{}, 100_000)
	if err != nil {
		s.T.Fatal(err)
	}
	return len(list)
}
