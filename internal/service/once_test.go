package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

// TestReplyIsKept: an answer is made once and stored with its effect. Repeats get the
// same bytes, from another process as well and after the encoder has changed. The key
// is for one request.
func TestReplyIsKept(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		first, err := s.ReportOrder(ctx, by, reported("a"), once[commerce.Order](s, "k"))
		if err != nil || first.Replayed || first.Pending != nil || first.Reply.Status != 201 || string(first.Reply.Body) != "called, answer 1" {
			t.Fatalf("the first call: %+v, %v", first, err)
		}
		repeat := once[commerce.Order](s, "k")
		repeat.Encode = func(commerce.Order) (int, []byte) { return 299, s.answers.next("a newer program") }
		for range 2 {
			again, err := s.ReportOrder(ctx, by, reported("a"), repeat)
			if err != nil || !again.Replayed || again.Reply.Status != 201 || !bytes.Equal(again.Reply.Body, first.Reply.Body) {
				t.Errorf("a repeat: %+v, %v", again, err)
			}
			s.restart(t)
		}
		reused := once[commerce.Order](s, "k")
		reused.Fingerprint[0]++
		if _, err := s.ReportOrder(ctx, by, reported("b"), reused); code(err) != "idempotency_key_reused" {
			t.Errorf("another request under the key: %v", err)
		}
		if n := s.answers.made.Load(); n != 1 || len(s.orders()) != 1 || s.Stock(0).Quantity != quantity-1 {
			t.Errorf("%d answers, orders %v, stock %d", n, s.orders(), s.Stock(0).Quantity)
		}
		if s.ordered(by, reported("c")).ID == s.ordered(by, reported("d")).ID || len(s.orders()) != 3 || s.answers.made.Load() != 1 {
			t.Errorf("calls without a key made the orders %v", s.orders())
		}
	})
}

// TestRefusedCallsLeaveNoReply: a call that is refused stores nothing, and its key can
// be used again. The encoder is not asked.
func TestRefusedCallsLeaveNoReply(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		wrong := reported("a")
		wrong.Lines = lines(quantity + 1)
		unknown := reported("a")
		unknown.StoreID = "sto_none"
		for _, c := range []struct {
			in   service.ReportOrder
			want string
		}{{wrong, "insufficient_stock"}, {unknown, "invalid_body"}, {reported("a"), ""}} {
			o := once[commerce.Order](s, "k")
			o.Fingerprint[1] = byte(len(c.want)) // other requests
			if _, err := s.ReportOrder(ctx, by, c.in, o); code(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
		if n := s.answers.made.Load(); n != 1 || len(s.orders()) != 1 {
			t.Errorf("%d answers, orders %v", n, s.orders())
		}
	})
}

// TestCallsAtOnce: of many calls under one key one takes effect, and all get its bytes.
func TestCallsAtOnce(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		const calls = 30
		outs := make([]service.Outcome[commerce.Order], calls)
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				var err error
				if outs[i], err = s.ReportOrder(t.Context(), caller(commerce.Live), reported("a"), once[commerce.Order](s, "k")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		firsts := 0
		for _, out := range outs {
			if !out.Replayed {
				firsts++
			}
			if string(out.Reply.Body) != "called, answer 1" {
				t.Errorf("%+v", out)
			}
		}
		if firsts != 1 || s.Stock(0).Quantity != quantity-1 {
			t.Errorf("%d calls took effect, %d left", firsts, s.Stock(0).Quantity)
		}
	})
}

// TestRoomForReplies: a partner that has stored too much gets no more keys, as of the
// last count. Its repeats are answered, and calls without a key pass. A partner with a
// higher rate limit may store more.
func TestRoomForReplies(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.process(s.Committer, service.Options{ReplyBytes: 1})
		ctx, by := t.Context(), caller(commerce.Live)
		by.Partner.RateLimit = commerce.DefaultRateLimit
		report := func(by service.Caller, external, key string) error {
			o := once[commerce.Order](s, key)
			if key == "" {
				o.Key.Key = ""
			}
			_, err := s.ReportOrder(ctx, by, reported(external), o)
			return err
		}
		if err := errors.Join(report(by, "a", "a"), report(by, "b", "b"), s.CountReplies(ctx)); err != nil {
			t.Fatal(err)
		}
		large := by
		large.Partner.RateLimit = 1 << 40
		for _, c := range []struct {
			by            service.Caller
			external, key string
			want          error
		}{{by, "c", "c", service.ErrTooManyReplies}, {by, "a", "a", nil}, {by, "d", "", nil}, {large, "e", "e", nil}} {
			if err := report(c.by, c.external, c.key); !errors.Is(err, c.want) {
				t.Errorf("%s under key %q: %v, want %v", c.external, c.key, err, c.want)
			}
		}
		if len(s.orders()) != 4 {
			t.Errorf("orders %v", s.orders())
		}
	})
}

// TestAwaitedAnswers: what comes of the job of a call decides the answer, or else what
// a repeat gets. No order is made twice, and no answer.
func TestAwaitedAnswers(t *testing.T) {
	broken, dead := errors.New("the runner is broken"), fmt.Errorf("the process ends: %w", context.Canceled)
	fails := func(err error) func(context.Context, commerce.Job) (string, error) {
		return func(context.Context, commerce.Job) (string, error) { return "", err }
	}
	for _, c := range []struct {
		name    string
		outcome func(ctx context.Context, job commerce.Job) (refused string, err error)
		body    string // of the answer; empty: there is none
		err     string
		pending bool
		takes   time.Duration
		// again is the answer of a repeat once the outside is well, with so many orders
		// by then, and jobs that were run.
		again  string
		orders int
		ran    int
	}{
		{"answered", nil, "session ses_1, answer 1", "", false, 0, "session ses_1, answer 1", 1, 1},
		{"refused", func(context.Context, commerce.Job) (string, error) { return "no such card", nil }, "",
			"the payment processor refuses: no such card", false, 0, "session ses_1, answer 1", 2, 2},
		{"silent", func(ctx context.Context, _ commerce.Job) (string, error) { <-ctx.Done(); return "", ctx.Err() }, "", "", true, 10 * time.Second,
			"session ses_1, answer 1", 1, 2},
		{"the process ends", fails(dead), "", "", true, 0, "session ses_1, answer 1", 1, 2},
		{"the database goes away", fails(storage.ErrUnavailable), "", "", true, 0, "session ses_1, answer 1", 1, 2},
		{"the process takes no more commands", fails(service.ErrClosed), "", "", true, 0, "session ses_1, answer 1", 1, 2},
		{"the lease of the job is not known", fails(storage.ErrOutcomeUnknown), "", "", true, 0, "session ses_1, answer 1", 1, 2},
		{"broken", fails(broken), "", broken.Error(), false, 0, "session ses_1, answer 1", 1, 2},
	} {
		in(t, func(t *testing.T, s *shop) {
			ctx, by := t.Context(), caller(commerce.Live)
			s.jobs.outcome = c.outcome
			began := time.Now()
			out, err := s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "k"))
			if text := errorText(err); string(out.Reply.Body) != c.body || text != c.err || (out.Pending != nil) != c.pending || time.Since(began) != c.takes {
				t.Errorf("%s: %+v, %v after %v", c.name, out, err, time.Since(began))
			}
			made := s.orders()
			if refused, ok := errors.AsType[*service.ProcessorError](err); ok && refused.OrderID != made[0] || out.Pending != nil && out.Pending.OrderID != made[0] {
				t.Errorf("%s: order %s was made, %+v, %v", c.name, made, out.Pending, err)
			}
			if s.Stock(0).Quantity != quantity {
				t.Errorf("%s: a checkout took stock", c.name)
			}
			ran := s.jobs.ran
			s.restart(t)
			for range 2 {
				out, err = s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "k"))
				if err != nil || string(out.Reply.Body) != c.again || out.Reply.Status != 201 || out.Pending != nil {
					t.Errorf("%s, a repeat: %+v, %v", c.name, out, err)
				}
			}
			if n := len(ran) + len(s.jobs.ran); len(s.orders()) != c.orders || n != c.ran || s.answers.made.Load() != 1 {
				t.Errorf("%s: orders %v, %d jobs were run, %d answers were made", c.name, s.orders(), n, s.answers.made.Load())
			}
			if left := s.Jobs(commerce.JobWaiting, fixture.StoreID); len(left) != 0 {
				t.Errorf("%s: jobs left: %+v", c.name, left)
			}
		})
	}
}

// withoutReplies is a database whose stored replies cannot be read.
type withoutReplies struct{ storage.Reader }

func (withoutReplies) Reply(context.Context, commerce.ReplyKey) (commerce.Reply, error) {
	return commerce.Reply{}, fmt.Errorf("a read: %w", storage.ErrUnavailable)
}

// TestSavedBeforeTheDatabaseWent: a call whose effect is saved is never answered as if nothing
// had changed. It gets the answer for the meantime, or hears that it is in progress.
func TestSavedBeforeTheDatabaseWent(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		s.Reader = withoutReplies{s.Reader}
		s.process(s.Committer, service.Options{})
		in := reported("a")
		in.Fulfillment, in.Address = commerce.ByDelivery, at(commerce.ByDelivery)
		report, err := s.ReportOrder(ctx, by, in, once[commerce.Order](s, "r"))
		if err != nil || report.Reply.Status != 201 || string(report.Reply.Body) != "called, answer 1" || report.Pending == nil {
			t.Errorf("a report: %+v, %v", report, err)
		}
		checkout, err := s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "c"))
		if err != nil || checkout.Reply.Status != 0 || checkout.Pending == nil || checkout.Pending.OrderID == "" {
			t.Errorf("a checkout: %+v, %v", checkout, err)
		}
		if n := len(s.orders()); n != 2 {
			t.Errorf("%d orders were made", n)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestRepeatMeanwhile: a repeat that comes while the job of the first call is open waits
// for the same job. A caller that leaves does not take the job with it.
func TestRepeatMeanwhile(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		s.jobs.outcome = func(context.Context, commerce.Job) (string, error) { time.Sleep(3 * time.Second); return "", nil }
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var wg sync.WaitGroup
		for i, ctx := range []context.Context{ctx, t.Context()} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Second / 2)
				out, err := s.StartCheckout(ctx, caller(commerce.Live), bought(commerce.ByPickup), awaiting[commerce.Order](s, "k"))
				if err != nil || string(out.Reply.Body) != "session ses_1, answer 1" || out.Replayed != (i == 1) {
					t.Errorf("call %d: %+v, %v", i, out, err)
				}
			})
		}
		wg.Wait()
		if len(s.orders()) != 1 || s.answers.made.Load() != 1 || s.jobs.ran[0].ID != s.jobs.ran[1].ID {
			t.Errorf("orders %v, %d answers, ran %+v", s.orders(), s.answers.made.Load(), s.jobs.ran)
		}
	})
}

// TestSavesThatFail: a call whose batch is not saved, and one whose batch is saved but
// reported as failed, take effect at most once. A checkout without a key gets its
// answer the same way.
func TestSavesThatFail(t *testing.T) {
	for _, how := range []storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave, storagetest.Refused} {
		for _, key := range []string{"k", ""} {
			in(t, func(t *testing.T, s *shop) {
				s.engine.Fail(how)
				o := awaiting[commerce.Order](s, key)
				first, err := s.StartCheckout(t.Context(), caller(commerce.Live), bought(commerce.ByPickup), o)
				for n := 0; err != nil && n < 3; n++ {
					first, err = s.StartCheckout(t.Context(), caller(commerce.Live), bought(commerce.ByPickup), o)
				}
				if err != nil || string(first.Reply.Body) != "session ses_1, answer 1" || len(s.orders()) != 1 {
					t.Errorf("%v, key %q: %+v, %v; orders %v", how, key, first, err, s.orders())
				}
			})
		}
	}
}

// TestAwaitedKinds: each call whose answer waits gets the answer that its job decides,
// and repeats get the same.
func TestAwaitedKinds(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		paid, moving := s.paid(commerce.ByPickup, "p"), s.paid(commerce.ByDelivery, "d")
		if out, err := s.ConfirmOrder(ctx, by, service.ConfirmOrder{Order: moving}); err != nil || out.Pending != nil || out.Result.Order.CourierDeliveryID != "" || out.Result.Now.CourierDeliveryID != "bike_1" {
			t.Errorf("confirmed: %+v, %v", out, err)
		}
		delivery := reported("a")
		delivery.Fulfillment, delivery.Address = commerce.ByDelivery, at(commerce.ByDelivery)
		for name, c := range map[string]struct {
			call func() (service.Reply, error)
			want string
		}{
			"report": {func() (service.Reply, error) {
				out, err := s.ReportOrder(ctx, by, delivery, once[commerce.Order](s, "report"))
				return out.Reply, err
			}, "courier bike_1"},
			"refund": {func() (service.Reply, error) {
				out, err := s.RefundOrder(ctx, by, service.RefundOrder{Order: paid, AmountCents: 100}, awaiting[commerce.Refund](s, "refund"))
				return out.Reply, err
			}, "refunded 100"},
			"cancel": {func() (service.Reply, error) {
				out, err := s.CancelOrder(ctx, by, service.CancelOrder{Order: moving, Refund: true}, once[service.Cancelled](s, "cancel"))
				return out.Reply, err
			}, "refunded, refund true"},
		} {
			first, err := c.call()
			again, repeated := c.call()
			if err != nil || repeated != nil || !bytes.HasPrefix(first.Body, []byte(c.want+", answer")) || !bytes.Equal(first.Body, again.Body) {
				t.Errorf("%s: %s, %v; then %s, %v", name, first.Body, err, again.Body, repeated)
			}
		}
	})
}
