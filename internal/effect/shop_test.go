package effect

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"
)

const (
	partnerID = fixture.PartnerID
	storeID   = fixture.StoreID
)

// shop is a store and a partner on a real engine, in a bubble of its own time,
// and the other ends of all ports.
type shop struct {
	*fixture.Shop
	relay   *relay
	started int // processes so far

	mu       sync.Mutex
	requests []webhook.Request
	mails    []mail.Message
	texts    []sms.Message
	// answer is what the partner's endpoint says, and fails what mail and texts
	// do; nil: all is well.
	answer func(webhook.Request) webhook.Result
	fails  error

	depots []*depot // the fake courier providers
	// sandboxFleet has the couriers of the sandbox deliver, in place of the depots.
	sandboxFleet bool

	// failed is called with each failed try; nil: there are no calls.
	failed func(job commerce.Job, err error, dead bool)

	holds time.Duration // of goods, by checkouts
	pause time.Duration // between looks at what is to come
	// endLeases ends those of a process that is dead; nil: time does.
	endLeases func(worker string)
}

// TestMain keeps the log of the failures that are provoked here out of sight.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// in runs a test in a shop.
func in(t *testing.T, test func(s *shop)) {
	t.Helper()
	path := database.SQLite(t)
	synctest.Test(t, func(t *testing.T) {
		engine, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newShop(t, engine)
		s.pause = time.Second // of the bubble's time, which costs nothing
		test(s)
	})
}

func newShop(t *testing.T, engine storage.Engine) *shop {
	t.Helper()
	s := &shop{relay: &relay{}, pause: 5 * time.Millisecond}
	s.Shop = fixture.Open(t, engine, s.relay, 1, 1_000_000)
	return s
}

// relay hands new jobs to the runner that was made last, as if its process had a
// committer of its own.
type relay struct{ to atomic.Pointer[jobs.Runner] }

func (r *relay) Reserve(job commerce.Job) (commerce.Job, bool) {
	if runner := r.to.Load(); runner != nil {
		return runner.Reserve(job)
	}
	return job, false
}

func (r *relay) EndReservation(list []commerce.Job, saved bool) {
	r.to.Load().EndReservation(list, saved)
}

// runner makes a runner that gets the new jobs from now on.
func (s *shop) runner(worker string) *jobs.Runner {
	r := jobs.New(env.Env{}, worker)
	s.relay.to.Store(r)
	return r
}

// uses makes the use cases of a process that shares the shop's committer.
func (s *shop) uses() *service.Service {
	return service.New(s.Engine.Reader(), s.Engine, s.Committer, service.Options{Answers: api.Answers{}})
}

// start begins to do jobs. It is to be stopped.
func (s *shop) start(configured bool) *jobs.Runner {
	o := Options{Queue: s.Engine, Reads: s.Engine.Reader(), Uses: s.uses(), Runner: s.runner(fmt.Sprint("worker ", time.Now().UnixNano())), Sender: s, AppendWebhook: wire.AppendWebhook}
	if configured {
		o.Mailer, o.Texter = mailer{s}, texter{s}
	}
	return Start(o)
}

// runDue lets time pass until the next job of an owner is due, and a process do
// it.
func (s *shop) runDue(owner string) {
	if waiting := s.Jobs(commerce.JobWaiting, owner); len(waiting) > 0 {
		last := waiting[len(waiting)-1]
		time.Sleep(time.Until(time.UnixMilli(int64(last.RunAt))))
	}
	e := s.start(true)
	time.Sleep(5 * time.Second)
	s.stop(e)
}

// stop ends the process in order.
func (s *shop) stop(e *jobs.Runner) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	e.Stop(ctx)
}

// sell makes an order of a pickup by a customer with this address.
func (s *shop) sell(email string) commerce.Order { return s.sellIn(commerce.Live, email) }

// sellIn is sell with a key of the mode.
func (s *shop) sellIn(mode commerce.Mode, email string) commerce.Order {
	cmd := s.Report(0, 2)
	cmd.Actor = fixture.Actor(mode)
	cmd.Address = &commerce.DeliveryAddress{Name: "Ann", Email: email}
	return fixture.Do(s.Shop, cmd)
}

// Send implements Sender.
func (s *shop) Send(ctx context.Context, r webhook.Request) webhook.Result {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.answer == nil {
		return webhook.Result{Status: 204, TookMs: 1}
	}
	return s.answer(r)
}

// answers changes what the endpoint says.
func (s *shop) answers(f func(webhook.Request) webhook.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func status(code int64) func(webhook.Request) webhook.Result {
	return func(webhook.Request) webhook.Result {
		return webhook.Result{Status: code, Error: fmt.Sprint("status ", code), Answer: "no", TookMs: 1}
	}
}

// got is how many requests came so far.
func (s *shop) got() []webhook.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]webhook.Request(nil), s.requests...)
}

func (s *shop) sentMails() []mail.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

func (s *shop) sentTexts() []sms.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

type mailer struct{ s *shop }

func (m mailer) Send(_ context.Context, message mail.Message) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.mails = append(m.s.mails, message)
	return m.s.fails
}

type texter struct{ s *shop }

func (x texter) Send(_ context.Context, message sms.Message) error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.texts = append(x.s.texts, message)
	return x.s.fails
}

// work is what waits, but for the webhooks.
func (s *shop) work() []commerce.Job {
	s.T.Helper()
	return slices.DeleteFunc(s.Jobs(commerce.JobWaiting, ""), func(j commerce.Job) bool { return j.Owner == partnerID })
}
