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
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/database"
)

const (
	partnerID = "ptn_1"
	storeID   = "sto_1"
)

// shop is a store and a partner on a real engine, in a bubble of its own time,
// and the other ends of all ports.
type shop struct {
	relay     *relay
	t         *testing.T
	engine    storage.Engine
	committer *commit.Committer
	actor     commerce.Actor
	orders    int64

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

	// failed is told of failed tries; nil: nothing is.
	failed func(job commerce.Job, err error, dead bool)

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
	s := &shop{t: t, engine: engine, relay: &relay{}, pause: 5 * time.Millisecond}
	s.committer = commit.New(engine, commit.Options{Starter: s.relay, EncodeEvent: wire.EventData})
	t.Cleanup(func() {
		s.committer.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	s.fill()
	return s
}

func (s *shop) fill() {
	price, stock := commerce.Cents(1250), int64(1_000_000)
	mail, phone := "store@e.example", "+15125550100"
	must(s.t, s.committer, command.ImportCatalog{
		Categories: []command.ImportCategory{{ID: "cat_1", Name: "Bread"}},
		Stores:     []command.ImportStore{{ID: storeID, Name: "One", Email: &mail, Phone: &phone}},
		Products:   []command.ImportProduct{{ID: "prd_1", Name: "Rye", StoreID: storeID, PriceCents: &price, Quantity: &stock}},
	})
	s.actor = commerce.PartnerActor(partnerID, commerce.Live, commerce.Live, "trace")
	must(s.t, s.committer, command.CreatePartner{Partner: commerce.Partner{
		ID: partnerID, Name: "P", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1,
		CallbackURL: "https://user:password@p.example/hook", CallbackSecret: "secret"}})
}

func must[R any](t *testing.T, c *commit.Committer, cmd commit.Command[R]) R {
	t.Helper()
	r, err := commit.Do(context.Background(), c, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return r
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

func (r *relay) Start(list []commerce.Job)  { r.to.Load().Start(list) }
func (r *relay) Cancel(list []commerce.Job) { r.to.Load().Cancel(list) }

// runner makes a runner that gets the new jobs from now on.
func (s *shop) runner(worker string) *jobs.Runner {
	r := jobs.New(env.Env{}, worker)
	s.relay.to.Store(r)
	return r
}

// start begins to do jobs. It is to be stopped.
func (s *shop) start(configured bool) *Effects {
	o := Options{Queue: s.engine, Reads: s.engine.Reader(), Committer: s.committer, Runner: s.runner(fmt.Sprint("worker ", time.Now().UnixNano())), Sender: s, AppendWebhook: wire.AppendWebhook, Answers: api.Answers{}}
	if configured {
		o.Mailer, o.Texter = mailer{s}, texter{s}
	}
	return Start(o)
}

// runDue lets time pass until the next job of an owner is due, and a process do
// it.
func (s *shop) runDue(owner string) {
	if waiting := s.jobs(commerce.JobWaiting, owner); len(waiting) > 0 {
		last := waiting[len(waiting)-1]
		time.Sleep(time.Until(time.UnixMilli(int64(last.RunAt))))
	}
	e := s.start(true)
	time.Sleep(5 * time.Second)
	s.stop(e)
}

// stop ends the process in order.
func (s *shop) stop(e *Effects) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	e.Stop(ctx)
}

// sell makes an order of a pickup by a customer with this address.
func (s *shop) sell(email string) commerce.Order {
	s.orders++
	return must(s.t, s.committer, command.ReportOrder{
		Actor: s.actor, OrderID: commerce.NewOrderID(1, commerce.Millis(s.orders), commerce.Entropy{}), CustomerID: "cus_1", StoreID: storeID,
		ExternalID: fmt.Sprint("A-", s.orders), Fulfillment: commerce.ByPickup, Address: &commerce.DeliveryAddress{Name: "Ann", Email: email},
		Lines: []commerce.OrderLine{{ProductID: "prd_1", Quantity: 2, PriceCents: 1250}},
	})
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

// jobs lists the jobs of an owner in a state.
func (s *shop) jobs(state commerce.JobState, owner string) []commerce.Job {
	s.t.Helper()
	list, err := s.engine.Reader().Jobs(context.Background(), storage.JobFilter{State: state, Owner: owner, Limit: 100_000})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// work is what waits, but for the webhooks.
func (s *shop) work() []commerce.Job {
	s.t.Helper()
	return slices.DeleteFunc(s.jobs(commerce.JobWaiting, ""), func(j commerce.Job) bool { return j.Owner == partnerID })
}

func (s *shop) endpoint() commerce.Endpoint {
	s.t.Helper()
	found, err := s.engine.Reader().Endpoints(context.Background(), []string{partnerID})
	if err != nil {
		s.t.Fatal(err)
	}
	return found[partnerID]
}

func (s *shop) events() []commerce.WebhookEvent {
	s.t.Helper()
	page, err := s.engine.Reader().EventPage(context.Background(), storage.EventFilter{PartnerID: partnerID, Limit: 100_000})
	if err != nil {
		s.t.Fatal(err)
	}
	return page.Events
}

func (s *shop) attempts(event commerce.WebhookEvent) []commerce.WebhookAttempt {
	s.t.Helper()
	list, err := s.engine.Reader().Attempts(context.Background(), event.Key())
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}
