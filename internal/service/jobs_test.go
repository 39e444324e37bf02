package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// dead is the job of a kind, after its last try has failed.
func (s *shop) dead(t *testing.T, kind commerce.JobKind) commerce.Job {
	t.Helper()
	for _, job := range s.Jobs(commerce.JobWaiting, fixture.StoreID) {
		if job.Kind == kind {
			job.State, job.Error = commerce.JobDead, errOutage.Error()
			fixture.Change(t, s.engine, commerce.Needs{Jobs: []commerce.JobKey{job.Key()}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
				return commerce.Changes{Jobs: []commerce.Job{job}}
			})
			return job
		}
	}
	t.Fatalf("no job %s waits", kind)
	return commerce.Job{}
}

// TestGiveUp: giving up a job decides the answer of the call that waits for it, and is
// noted in the order's history with the operator. It is refused for a job that goes on.
func TestGiveUp(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		s.jobs.outcome = func(ctx context.Context, _ commerce.Job) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		if out, err := s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "k")); err != nil || out.Pending == nil {
			t.Fatalf("%+v, %v", out, err)
		}
		waiting := s.Jobs(commerce.JobWaiting, fixture.StoreID)[0]
		if _, err := s.GiveUpJob(ctx, operator, waiting, "enough"); code(err) != "job_not_dead" {
			t.Errorf("a job that waits: %v", err)
		}
		job := s.dead(t, commerce.JobOpenSession)
		given, err := s.GiveUpJob(ctx, operator, job, "enough")
		if err != nil || given.State != commerce.JobGivenUp {
			t.Errorf("%+v, %v", given, err)
		}
		order := s.Order(commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
		noted := false
		for _, e := range s.Timeline(order.Key()) {
			noted = noted || strings.Contains(e.Message, "operator:ann gave up")
		}
		if order.Status != commerce.FailedPayment || !noted {
			t.Errorf("order %+v, history %+v", order, s.Timeline(order.Key()))
		}
		if _, err := s.GiveUpJob(ctx, operator, job, "again"); code(err) != "job_not_dead" {
			t.Errorf("given up twice: %v", err)
		}
		s.jobs.outcome = nil
		if out, err := s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "k")); err != nil || out.Replayed || len(s.orders()) != 2 {
			t.Errorf("the key after that: %+v, %v; orders %v", out, err, s.orders())
		}
	})
}

// TestGiveUpWithoutSubject: a dead job whose order cannot be found is given up alone.
func TestGiveUpWithoutSubject(t *testing.T) {
	for _, kind := range []commerce.JobKind{commerce.JobOpenSession, commerce.JobRefund, commerce.JobDispatch, commerce.JobCancelDelivery, commerce.JobDeliverWebhook, commerce.JobMailReady} {
		in(t, func(t *testing.T, s *shop) {
			job := commerce.Job{Slot: 1, ID: "job_1", Kind: kind, Owner: fixture.StoreID, Subject: "none", State: commerce.JobDead, Error: "no"}
			fixture.Change(t, s.engine, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
				return commerce.Changes{NewJobs: []commerce.Job{job}}
			})
			if kind != commerce.JobDeliverWebhook {
				if _, err := s.RetryJob(t.Context(), operator, job); err == nil {
					t.Errorf("%s: a job about nothing was tried again", kind)
				}
			}
			given, err := s.GiveUpJob(t.Context(), operator, job, "enough")
			if stored := s.Jobs(commerce.JobGivenUp, fixture.StoreID); err != nil || given.State != commerce.JobGivenUp || len(stored) != 1 || !strings.Contains(stored[0].Error, "enough") {
				t.Errorf("%s: %+v, %v; stored %+v", kind, given, err, stored)
			}
		})
	}
}

// TestRetry: a dead job waits again, to be tried at once, as often as an operator asks
// and while its order has a use for it.
func TestRetry(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		s.jobs.outcome = func(context.Context, commerce.Job) (string, error) { return "", errors.New("away") }
		if _, err := s.StartCheckout(ctx, caller(commerce.Live), bought(commerce.ByPickup), awaiting[commerce.Order](s, "k")); err == nil {
			t.Fatal("the session was opened")
		}
		job := s.dead(t, commerce.JobOpenSession)
		order := s.Order(commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
		for range 2 {
			again, err := s.RetryJob(ctx, operator, job)
			if err != nil || again.State != commerce.JobWaiting || again.RunAt > commerce.MillisOf(time.Now().Add(time.Second)) {
				t.Errorf("%+v, %v", again, err)
			}
		}
		s.jobs.outcome = nil
		if out, err := s.StartCheckout(ctx, caller(commerce.Live), bought(commerce.ByPickup), awaiting[commerce.Order](s, "k")); err != nil || string(out.Reply.Body) != "session ses_1, answer 1" || s.Payment(order.Key()).SessionID != session {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := s.RetryJob(ctx, operator, job); code(err) != "job_not_retried" {
			t.Errorf("a job that is done: %v", err)
		}
	})
}

// TestFactsAreFound: a use case finds the store of each product, and draws the ids. It
// names what it does not find.
func TestFactsAreFound(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		adjust := func(ids ...string) ([]service.Adjusted, error) {
			var all []service.Adjustment
			for _, id := range ids {
				all = append(all, service.Adjustment{Product: commerce.ProductKey{ProductID: id}, Delta: 5})
			}
			out, err := s.AdjustInventory(ctx, by, all, service.Once[[]service.Adjusted]{})
			return out.Result, err
		}
		if done, err := adjust(fixture.ProductID(0), fixture.ProductID(1)); err != nil || len(done) != 2 || s.Stock(0).Quantity != quantity+5 || s.Stock(1).Quantity != quantity+5 {
			t.Errorf("%+v, %v", done, err)
		}
		if _, err := adjust(fixture.ProductID(0), "prd_none"); code(err) != "not_found" || err.Error() != "product prd_none not found" || s.Stock(0).Quantity != quantity+5 {
			t.Errorf("%v, %d left", err, s.Stock(0).Quantity)
		}
		upsert := service.UpsertProduct{Create: true, ID: "chosen", StoreID: fixture.StoreID, CategoryID: fixture.CategoryID, Name: "New", PriceCents: new(fixture.Price)}
		ids := map[string]bool{"chosen": true}
		for range 2 {
			made, err := s.UpsertProduct(ctx, by, upsert, service.Once[commerce.Item]{})
			if id := made.Result.Stock.ProductID; err != nil || ids[id] || !strings.HasPrefix(id, commerce.PrefixProduct) {
				t.Errorf("%+v, %v", made.Result, err)
			}
			ids[made.Result.Stock.ProductID] = true
		}
	})
}
