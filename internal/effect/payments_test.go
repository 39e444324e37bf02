package effect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/fakesandbox"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/web"
)

// far is a processor that cannot be reached while it is away, and keeps each
// call for a while.
type far struct {
	payment.Processor
	away  *atomic.Bool
	takes time.Duration
}

var errAway = errors.New("no route to the processor")

func (f far) reach(ctx context.Context) error {
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.away.Load() {
		return errAway
	}
	return nil
}

func (f far) OpenSession(ctx context.Context, r payment.SessionRequest) (payment.Session, error) {
	if err := f.reach(ctx); err != nil {
		return payment.Session{}, err
	}
	return f.Processor.OpenSession(ctx, r)
}

func (f far) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if err := f.reach(ctx); err != nil {
		return payment.Refund{}, err
	}
	return f.Processor.Refund(ctx, r)
}

// taking runs a test in a shop that takes card payments, with a processor that
// can go away.
func taking(t *testing.T, objects *fakesandbox.Objects, test func(s *shop, v *process, away *atomic.Bool)) {
	t.Helper()
	in(t, func(s *shop) {
		s.admit()
		var away atomic.Bool
		v := s.serve(newMortal(s.Engine, 0, false), objects, func(p payment.Processor) payment.Processor { return far{p, &away, time.Millisecond} })
		defer v.stop()
		test(s, v, &away)
	})
}

func (r reply) refused(t *testing.T, status int, code, words string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `"code":"`+code+`"`) || !strings.Contains(r.body, words) {
		t.Errorf("answered %d: %s; want %d, %s, %q", r.status, r.body, status, code, words)
	}
}

// TestSessionRefused: the order has failed, and the key is free: a repeat is
// another order.
func TestSessionRefused(t *testing.T) {
	taking(t, nil, func(s *shop, v *process, _ *atomic.Bool) {
		for n := range 2 {
			v.ask(checkoutPath, "k", checkoutBody("ann+session-refused@e.example")).refused(t, http.StatusBadGateway, "payment_processor_error", "The sandbox refuses this session")
			if s.payments() != n+1 || !s.idle() {
				t.Errorf("%d payments after try %d", s.payments(), n)
			}
		}
		all, _ := s.Engine.Reader().Payments(context.Background(), commerce.OrderKey{}, 9)
		for _, p := range all {
			if o := s.Order(p.Key()); o.Status != commerce.FailedPayment || p.State != commerce.PaymentRefused || s.Kinds(p.Key())[commerce.TimelineFailedPayment] != 1 {
				t.Errorf("%+v, %+v", o, p)
			}
		}
	})
}

// TestCheckoutUnreachable checks that the order waits, that its key is in progress,
// and that a repeat gets the session once the processor is back: at once if there is
// a repeat.
func TestCheckoutUnreachable(t *testing.T) {
	for _, wait := range []time.Duration{0, 6 * time.Second} {
		taking(t, nil, func(s *shop, v *process, away *atomic.Bool) {
			away.Store(true)
			for range 20 { // impatience does not use up the tries
				v.ask(checkoutPath, "k", checkoutBody("")).refused(t, http.StatusConflict, "in_progress", "")
			}
			away.Store(false)
			time.Sleep(wait)
			if s.idle() != (wait > 0) {
				t.Errorf("after %v: jobs %+v", wait, s.Jobs(commerce.JobWaiting, storeID))
			}
			order := v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
			if s.payments() != 1 || s.Order(order).Status != commerce.PendingPayment {
				t.Errorf("%d payments, %+v", s.payments(), s.Order(order))
			}
		})
	}
}

// denying is a processor that refuses our credentials while it denies us.
type denying struct {
	payment.Processor
	denies *atomic.Bool
}

func (d denying) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if d.denies.Load() {
		return payment.Refund{}, &commerce.CredentialsError{Message: "the key is revoked"}
	}
	return d.Processor.Refund(ctx, r)
}

// TestRefundRefusedUs: a refund whose first try was refused because of our
// credentials keeps nothing reserved. Once an earlier try may have gone through,
// the amount stays reserved, and the refund is made once.
func TestRefundRefusedUs(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		var away, denies atomic.Bool
		v := s.serve(newMortal(s.Engine, 0, false), nil, func(p payment.Processor) payment.Processor { return denying{far{p, &away, time.Millisecond}, &denies} })
		defer v.stop()
		paid := v.paidOrder(nil, "paid", "")
		s.eventually("the jobs of the payment", s.idle)
		path, body := "/v1/orders/"+paid.OrderID+"/refund", map[string]any{"amount_cents": 100}
		pending := func() commerce.Cents { return s.Payment(paid).PendingCents }

		denies.Store(true)
		for range 2 { // the key is free after each
			v.ask(path, "r", body).refused(t, http.StatusBadGateway, "payment_not_configured", commerce.ProcessorRefusesUs)
			if pending() != 0 || !s.idle() || s.Attention(paid) != "" {
				t.Errorf("%d cents stay reserved, %q", pending(), s.Attention(paid))
			}
		}

		denies.Store(false)
		away.Store(true)
		v.ask(path, "r", body).refused(t, http.StatusConflict, "in_progress", "")
		denies.Store(true)
		away.Store(false)
		for range 2 {
			v.ask(path, "r", body).refused(t, http.StatusConflict, "in_progress", "")
			if pending() != 100 || s.Attention(paid) != "provider_refuses_us" {
				t.Errorf("%d cents stay reserved, %q", pending(), s.Attention(paid))
			}
		}
		denies.Store(false)
		if a := v.ask(path, "r", body); a.status != http.StatusOK || !strings.Contains(a.body, `"total_refunded_cents":100`) {
			t.Errorf("answered %d: %s", a.status, a.body)
		}
		s.eventually("the jobs of the refund", s.idle)
		if p := s.Payment(paid); p.RefundedCents != 100 || p.PendingCents != 0 || s.Attention(paid) != "" {
			t.Errorf("%+v, %q", p, s.Attention(paid))
		}
	})
}

// TestUnreachableForGood checks that after the last attempt the order has failed and
// the key is free; a refund stays reserved and flagged until it is repeated.
func TestUnreachableForGood(t *testing.T) {
	taking(t, nil, func(s *shop, v *process, away *atomic.Bool) {
		paid := v.paidOrder(nil, "paid", "")
		s.eventually("the jobs of the payment", s.idle)
		away.Store(true)
		unreachable := func(p payment.Processor) payment.Processor { return far{p, away, time.Millisecond} }
		v.ask(checkoutPath, "k", checkoutBody("")).refused(t, http.StatusConflict, "in_progress", "")
		path := "/v1/orders/" + paid.OrderID + "/refund"
		v.ask(path, "r", map[string]any{}).refused(t, http.StatusConflict, "in_progress", "")
		v.ask(path, "r2", map[string]any{}).refused(t, http.StatusConflict, "already_refunded", "are on their way")
		v.stop()
		for range commerce.PaymentDelays { // a process runs only when something is due: a day of looks takes its time
			time.Sleep(time.Until(time.UnixMilli(int64(s.Jobs(commerce.JobWaiting, storeID)[1].RunAt))))
			v = s.serve(newMortal(s.Engine, 0, false), nil, unreachable)
			time.Sleep(2 * time.Second)
			v.stop()
		}
		if dead := s.Jobs(commerce.JobDead, storeID); len(dead) != 2 || dead[0].Tries != 1+int64(len(commerce.PaymentDelays)) {
			t.Fatalf("dead jobs %+v", dead)
		}
		if o, p := s.Order(paid), s.Payment(paid); s.Attention(paid) != "refund_unknown" || p.PendingCents != 2500 || o.Status != commerce.Paid {
			t.Errorf("%+v, %+v", o, p)
		}
		v = s.serve(newMortal(s.Engine, 0, false), nil, unreachable)
		defer v.stop()
		v.ask(path, "r", map[string]any{}).refused(t, http.StatusConflict, "in_progress", "")
		if notes := s.notes(s.Order(paid)); len(notes) != 1 {
			t.Errorf("a repeat is noted again: %v", notes)
		}
		away.Store(false)
		if got := v.ask(path, "r", map[string]any{}); got.status != http.StatusOK || s.Order(paid).Status != commerce.Refunded {
			t.Errorf("answered %d: %s", got.status, got.body)
		}
		v.checkMoney(paid)
		v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
		if s.payments() != 3 {
			t.Errorf("%d payments, want the paid one, the failed one and the new one", s.payments())
		}
	})
}

// TestRefundRefused: nothing counts against the total, and the key is free.
func TestRefundRefused(t *testing.T) {
	taking(t, nil, func(s *shop, v *process, _ *atomic.Bool) {
		order := v.paidOrder(nil, "k", "ann+refund-refused@e.example")
		path := "/v1/orders/" + order.OrderID + "/refund"
		for range 2 {
			v.ask(path, "r", map[string]any{"amount_cents": 2500}).refused(t, http.StatusBadGateway, "payment_processor_error", "The sandbox refuses this refund")
		}
		refunds, _ := s.Engine.Reader().Refunds(context.Background(), order)
		if len(refunds) != 2 || refunds[0].State != commerce.RefundFailed || s.Payment(order).Left() != 2500 || s.Order(order).Status != commerce.Paid {
			t.Errorf("refunds %+v, payment %+v", refunds, s.Payment(order))
		}
		v.checkMoney(order)
		cancelled := v.ask("/v1/orders/"+order.OrderID+"/cancel", "c", map[string]any{"refund": true})
		if cancelled.status != http.StatusOK || !strings.Contains(cancelled.body, `"amount_refunded_cents":0,"error":"The sandbox refuses`) ||
			s.Order(order).Status != commerce.Cancelled || s.Attention(order) != "refund_due" {
			t.Errorf("cancel was answered %d: %s, and the order is %+v", cancelled.status, cancelled.body, s.Order(order))
		}
	})
}

// TestSlowProcessor checks that 500 callers of a slow processor, or 500 jobs of a
// dead process, delay no webhook, and are all served.
func TestSlowProcessor(t *testing.T) {
	const callers = 500
	slow := checkoutBody("ann+slow@e.example") // 5 s
	taking(t, nil, func(s *shop, v *process, _ *atomic.Bool) {
		var wg sync.WaitGroup
		var opened atomic.Int64
		for i := range callers {
			wg.Go(func() {
				if v.ask(checkoutPath, fmt.Sprint("k", i), slow).status == http.StatusCreated {
					opened.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		s.webhookGoesOut(v)
		if n := opened.Load(); n != 0 {
			t.Errorf("%d sessions of a slow processor were opened at once", n)
		}
		wg.Wait()
		if opened.Load() != callers || s.payments() != callers {
			t.Errorf("%d sessions, %d payments, want %d", opened.Load(), s.payments(), callers)
		}
	})
	in(t, func(s *shop) {
		s.admit()
		first := s.serve(newMortal(s.Engine, 0, false), nil, func(p payment.Processor) payment.Processor { return far{p, new(atomic.Bool), time.Hour} })
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				first.ask(checkoutPath, fmt.Sprint("k", i), slow).refused(t, http.StatusConflict, "in_progress", "")
			})
		}
		wg.Wait()
		first.stop()
		second := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer second.stop()
		time.Sleep(time.Second)
		s.webhookGoesOut(second)
		time.Sleep(5 * time.Minute)
		all, _ := s.Engine.Reader().Payments(context.Background(), commerce.OrderKey{}, callers+1)
		for _, p := range all {
			if p.State != commerce.PaymentOpen {
				t.Fatalf("after 5 minutes: %+v", p)
			}
		}
		if len(all) != callers {
			t.Errorf("%d payments", len(all))
		}
	})
}

// webhookGoesOut sells something, by the process, and wants its webhook sent.
func (s *shop) webhookGoesOut(v *process) {
	s.T.Helper()
	before := len(s.got())
	committer := s.Committer
	s.Committer = v.committer
	s.sell("")
	s.Committer = committer
	time.Sleep(100 * time.Millisecond)
	if n := len(s.got()) - before; n != 1 {
		s.T.Errorf("%d webhooks went out in 100 ms, want 1", n)
	}
}

// TestNotConfiguredAnyMore: the job waits for the operator, and says so.
func TestNotConfiguredAnyMore(t *testing.T) {
	taking(t, nil, func(s *shop, v *process, _ *atomic.Bool) {
		order := v.paidOrder(nil, "k", "")
		s.eventually("the jobs of the payment", s.idle)
		v.stop()
		refund := command.RefundOrder{Facts: command.FactsOf(s.Order(order)), Actor: fixture.Actor(commerce.Live), RefundID: "rfd_1"}
		without := Start(Options{Queue: s.Engine, Reads: s.Engine.Reader(), Uses: s.uses(), Runner: s.runner("without"), Sender: s})
		fixture.Do(s.Shop, refund)
		asked := s.Jobs(commerce.JobWaiting, storeID)
		if err := without.Finish(context.Background(), asked[0].Key()); err != nil {
			t.Error(err)
		}
		if j := s.Jobs(commerce.JobWaiting, storeID); len(j) != 1 || j[0].Error != `the payment processor "sandbox" is not configured any more` || j[0].Tries != 1 {
			t.Errorf("jobs %+v", j)
		}
		s.stop(without)
		again := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer again.stop()
		s.eventually("the refund", s.idle)
		if o := s.Order(order); o.Status != commerce.Refunded {
			t.Errorf("%+v", o)
		}
		again.checkMoney(order)
	})
}

// TestPaidWhileItWasCancelled: the customer pays while the order is cancelled.
// The callback is slower than the job that ends the session, which finds out; the
// money goes back, once.
func TestPaidWhileItWasCancelled(t *testing.T) {
	objects := &fakesandbox.Objects{}
	taking(t, objects, func(s *shop, v *process, _ *atomic.Bool) {
		order := v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
		v.pay(s.Payment(order).SessionID)
		if got := v.ask("/v1/orders/"+order.OrderID+"/cancel", "c", map[string]any{}); got.status != http.StatusOK {
			t.Fatalf("cancel was answered %d: %s", got.status, got.body)
		}
		s.eventually("the refund", func() bool { return s.idle() && s.Order(order).Status == commerce.Refunded })
		v.deliver(objects, 2)
		counts := s.Kinds(order)
		if notes := s.notes(s.Order(order)); len(notes) != 1 || !strings.Contains(notes[0], "payment_too_late") ||
			counts[commerce.TimelineCancelled] != 1 || counts[commerce.TimelineRefunded] != 1 || counts[commerce.TimelinePaid] != 0 {
			t.Errorf("notes %v, timeline %v", notes, counts)
		}
		v.checkMoney(order)
	})
}

// TestCallbacksOfTheSandbox: late, twice, out of order, and of a refund that
// comes back; each counts once.
func TestCallbacksOfTheSandbox(t *testing.T) {
	taking(t, nil, func(s *shop, v *process, _ *atomic.Bool) {
		for _, tags := range []string{"late", "twice", "unordered", "late.twice.unordered"} {
			order := v.paidOrder(nil, tags, "ann+"+tags+"@e.example")
			if paid := s.Order(order).Status == commerce.Paid; paid == strings.Contains(tags, "late") {
				t.Errorf("%s: the order is %s at once", tags, s.Order(order).Status)
			}
			s.eventually(tags, s.idle)
			if o := s.Order(order); o.Status != commerce.Paid || s.Kinds(order)[commerce.TimelinePaid] != 1 || len(s.notes(o)) != 0 {
				t.Errorf("%s: %+v, notes %v", tags, o, s.notes(o))
			}
			v.checkMoney(order)
		}
		order := v.paidOrder(nil, "back", "ann+refund-fails-later.twice@e.example")
		if got := v.ask("/v1/orders/"+order.OrderID+"/refund", "r", map[string]any{}); got.status != http.StatusOK {
			t.Fatalf("refund was answered %d: %s", got.status, got.body)
		}
		if o := s.Order(order); o.Status != commerce.Refunded || o.RefundedCents != 2500 {
			t.Errorf("%+v", o)
		}
		s.eventually("the money to come back", s.idle)
		if o, p := s.Order(order), s.Payment(order); s.Attention(order) != "refund_failed" || o.RefundedCents != 0 || p.Left() != 2500 || p.Entries != 3 {
			t.Errorf("%+v, %+v", o, p)
		}
		v.checkMoney(order)
	})
}

// ending is a processor that says this of a session that is to be ended.
type ending struct {
	payment.Processor
	session payment.Session
	err     error
}

func (e ending) ExpireSession(context.Context, string) (payment.Session, error) {
	return e.session, e.err
}

// TestEndOfASession: what the processor says of the session of a cancelled order
// is recorded. While the money may still come, nothing is: a callback will tell.
func TestEndOfASession(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer ending
		state  commerce.PaymentState
		noted  bool
	}{
		{"expired", ending{session: payment.Session{Status: payment.SessionExpired}}, commerce.PaymentExpired, true},
		{"pending", ending{session: payment.Session{Status: payment.SessionPending}}, commerce.PaymentOpen, false},
	} {
		in(t, func(s *shop) {
			s.admit()
			v := s.serve(newMortal(s.Engine, 0, false), nil, func(p payment.Processor) payment.Processor { c.answer.Processor = p; return c.answer })
			defer v.stop()
			order := v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
			v.ask("/v1/orders/"+order.OrderID+"/cancel", "c", map[string]any{})
			s.eventually("the end of the session", s.idle)
			notes := strings.Join(s.notes(s.Order(order)), " ")
			if p := s.Payment(order); p.State != c.state || strings.Contains(notes, "payment_session_expired") != c.noted {
				t.Errorf("%s: %+v, notes %q", c.name, p, notes)
			}
		})
	}
}

// TestSessionThatDoesNotEnd: while the processor refuses to end the session of a
// cancelled order, its page takes money. It is asked again, and money that a
// customer pays meanwhile goes back.
func TestSessionThatDoesNotEnd(t *testing.T) {
	for _, pays := range []bool{false, true} {
		in(t, func(s *shop) {
			s.admit()
			var told error
			s.failed = func(_ commerce.Job, err error, _ bool) { told = err }
			refusing := &refusesEnd{}
			v := s.serve(newMortal(s.Engine, 0, false), nil, func(p payment.Processor) payment.Processor { refusing.Processor = p; return refusing })
			defer v.stop()
			order := v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
			v.ask("/v1/orders/"+order.OrderID+"/cancel", "c", map[string]any{})
			s.eventually("a first try", func() bool { return refusing.times.Load() > 0 })
			synctest.Wait()
			jobs := s.Jobs(commerce.JobWaiting, storeID)
			if p := s.Payment(order); p.State != commerce.PaymentOpen || len(jobs) != 1 || jobs[0].Tries != 1 || !strings.Contains(jobs[0].Error, "not today") {
				t.Fatalf("after a refusal: %+v, jobs %+v", p, jobs)
			}
			if told == nil || strings.Contains(strings.Join(s.notes(s.Order(order)), " "), "payment_session_expired") {
				t.Errorf("told %v, notes %q", told, s.notes(s.Order(order)))
			}
			if pays {
				v.pay(s.Payment(order).SessionID)
				s.eventually("the refund", func() bool { return s.Payment(order).Returned() })
			}
			refusing.over.Store(true)
			s.eventually("another try", s.idle)
			if p := s.Payment(order); (p.State == commerce.PaymentExpired) == pays {
				t.Errorf("paid %t: %+v", pays, p)
			}
			v.checkMoney(order)
		})
	}
}

// refusesEnd is a processor that refuses to end sessions until over.
type refusesEnd struct {
	payment.Processor
	over  atomic.Bool
	times atomic.Int64
}

func (r *refusesEnd) ExpireSession(ctx context.Context, id string) (payment.Session, error) {
	if r.over.Load() {
		return r.Processor.ExpireSession(ctx, id)
	}
	r.times.Add(1)
	return payment.Session{}, &payment.Refusal{Message: "not today"}
}

// TestCallbackOfAnotherProcessor checks that a processor's signature cannot pay an
// order of another processor.
func TestCallbackOfAnotherProcessor(t *testing.T) {
	objects := &fakesandbox.Objects{}
	taking(t, objects, func(s *shop, v *process, _ *atomic.Bool) {
		order := v.ask(checkoutPath, "k", checkoutBody("")).checkedOut(s)
		v.pay(s.Payment(order).SessionID)
		handler := web.Trace(env.Env{}, slog.New(slog.DiscardHandler), inbound.New(env.Env{}, v.uses, map[string]payment.Processor{"other": v.box, "sandbox": v.box}, nil))
		n := objects.TakeCallbacks()[0]
		for _, name := range []string{"other", "sandbox"} {
			signature, err := sandbox.NewSigner(env.Env{}, objects).Sign(context.Background(), time.Now(), n.Body)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, inbound.PaymentsPath(name), strings.NewReader(string(n.Body)))
			r.Header.Set(sandbox.SignatureHeader, signature)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if o := s.Order(order); w.Code != http.StatusOK || (o.Status == commerce.Paid) != (name == "sandbox") {
				t.Errorf("by %s: answered %d, the order is %s", name, w.Code, o.Status)
			}
		}
	})
}

// TestObjects: of changes at the same time one takes place, and the callbacks of
// a change outlive the process.
func TestObjects(t *testing.T) {
	in(t, func(s *shop) {
		o := NewObjects(env.Env{}, s.Engine.Reader(), s.uses(), nil)
		if _, err := o.Object(context.Background(), "cs"); !errors.Is(err, sandbox.ErrNoObject) {
			t.Errorf("an object that is not there: %v", err)
		}
		for version := range int64(3) {
			var wg sync.WaitGroup
			var stored, changed atomic.Int64
			for i := range 10 {
				wg.Go(func() {
					err := o.PutObject(context.Background(), sandbox.Object{ID: "cs", Version: version, Data: fmt.Appendf(nil, `{"by":%d}`, i)},
						sandbox.Callback{To: "payments", After: time.Minute, Body: []byte(`{}`)}, sandbox.Callback{To: "payments", Body: []byte(`{}`)})
					switch {
					case err == nil:
						stored.Add(1)
					case errors.Is(err, sandbox.ErrChanged):
						changed.Add(1)
					}
				})
			}
			wg.Wait()
			got, err := o.Object(context.Background(), "cs")
			if stored.Load() != 1 || changed.Load() != 9 || err != nil || got.Version != version+1 {
				t.Errorf("version %d: %d stored, %d refused; %+v, %v", version, stored.Load(), changed.Load(), got, err)
			}
		}
		var mu sync.Mutex
		var got []time.Time
		begun := time.Now()
		failures := 2
		e := Start(Options{Queue: s.Engine, Reads: s.Engine.Reader(), Uses: s.uses(), Runner: s.runner("me"), Sender: s, Post: func(_ context.Context, to string, body []byte) error {
			mu.Lock()
			defer mu.Unlock()
			if failures--; failures >= 0 {
				return errors.New("not now")
			}
			got = append(got, time.Now())
			return nil
		}})
		defer s.stop(e)
		s.eventually("all callbacks", s.idle)
		late := 0
		for _, at := range got {
			if at.Sub(begun) >= time.Minute {
				late++
			}
		}
		if len(got) != 6 || late != 3 {
			t.Errorf("%d callbacks, %d of them late; want 6 and 3", len(got), late)
		}
	})
}

// TestPaymentCallbackWaits: a callback about the payment of the order is found among
// those about other orders, and among those of couriers.
func TestPaymentCallbackWaits(t *testing.T) {
	in(t, func(s *shop) {
		o, ctx := NewObjects(env.Env{}, s.Engine.Reader(), s.uses(), nil), context.Background()
		put := func(id, to, orderID string) {
			t.Helper()
			callback := sandbox.Callback{To: to, After: time.Hour, Body: fmt.Appendf(nil, `{"order_id":%q}`, orderID)}
			if err := o.PutObject(ctx, sandbox.Object{ID: id, Data: []byte("{}")}, callback); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 120 { // more than a page
			put(fmt.Sprint("cs_", i), payment.CallbackPath, fmt.Sprint("ord_", i))
		}
		put("del_1", courier.CallbackPath, "ord_by_courier")
		for order, want := range map[string]bool{"ord_0": true, "ord_119": true, "ord_120": false, "ord_1": true, "ord_by_courier": false} {
			if got, err := o.PaymentCallbackWaits(ctx, order); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", order, got, err, want)
			}
		}
	})
}

// A customer that pays for a delivery sees its address; one that collects the goods
// sees no address.
func TestWhereItGoes(t *testing.T) {
	to := &commerce.DeliveryAddress{Name: "Ann", Address: commerce.Address{Line1: "1 Elm St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}}
	for _, c := range []struct {
		by   commerce.Fulfillment
		to   *commerce.DeliveryAddress
		want string
	}{
		{commerce.ByDelivery, to, "Ann|1 Elm St|Austin, TX 78701"},
		{commerce.ByDelivery, nil, ""},
		{commerce.ByPickup, to, ""},
	} {
		if got := strings.Join(sessionRequest(commerce.Order{Fulfillment: c.by, Address: c.to}, commerce.Payment{}).DeliverTo, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.by, got, c.want)
		}
	}
}
