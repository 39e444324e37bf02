package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/sweep"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
	"purveyor/internal/testkit/sim"
	"purveyor/internal/web"
)

const (
	products  = 5
	quantity  = 100_000 // of each product, at the beginning
	publicURL = "https://purveyor.example"
	sandboxes = "sandbox"
)

var testKey = fixture.Key(fixture.PartnerID, commerce.Test)

// world is a database, the processes that serve it, and what is outside of them.
type world struct {
	t       *testing.T
	sim     *sim.Sim
	env     env.Env // of the test itself and of all customers
	db      *memory.Database
	reader  storage.Reader
	servers []*server
	started int
	faulty  bool // calls and saves fail now and then

	delivered map[string]bool // webhook events that the partner took
}

// server is one process.
type server struct {
	process *sim.Process
	handler http.Handler
}

// newWorld makes a database with a store and a partner.
func newWorld(t *testing.T, s *sim.Sim, e env.Env) *world {
	w := &world{t: t, sim: s, env: e, db: memory.New(), delivered: map[string]bool{}}
	engine := w.db.Open(e, e.Now)
	w.reader = engine.Reader()
	c := commit.New(engine, commit.Options{Env: e, EncodeEvent: wire.Encoder{}.EventData})
	defer c.Close()
	if err := fixture.Fill(c, products, quantity); err != nil {
		panic(err) // tests may not be ended by another goroutine than their own
	}
	store, err := w.reader.Store(context.Background(), fixture.StoreID)
	if store.HoldMinutes = 5; err == nil { // as short as can be, so that holds end while customers pay
		_, err = commit.Do(context.Background(), c, command.UpdateStore{Store: store})
	}
	if err != nil {
		panic(err)
	}
	return w
}

// serve starts a process, put together as cmd/purveyor does.
func (w *world) serve() {
	w.started++
	p := w.sim.Process(fmt.Sprint("process ", w.started))
	e := p.Env()
	w.sim.Tracef("%s starts", p.Name)
	engine := &shaky{Engine: w.db.Open(e, e.Now), w: w, env: e, name: p.Name}
	runner := jobs.New(e, p.Name)
	committer := commit.New(engine, commit.Options{Env: e, Starter: runner, EncodeEvent: wire.Encoder{}.EventData})
	objects := effect.NewObjects(e, engine.Reader(), service.New(engine.Reader(), engine, committer, service.Options{Env: e}), runner)
	box, road := payment.NewSandbox(e, objects, publicURL), courier.NewSandbox(e, objects, publicURL)
	road.Locate = func(ctx context.Context, a commerce.Address) (commerce.Point, bool) {
		place, err := geocode.Offline{}.Find(ctx, geocode.Query{Address: a})
		return place.Point, err == nil
	}
	fleet := courier.Fleet{Providers: map[string]courier.Provider{sandboxes: couriers{road, w, e}}, Modes: map[commerce.Mode][]string{commerce.Test: {sandboxes}}}
	uses := service.New(engine.Reader(), engine, committer, service.Options{Env: e, Jobs: runner, Answers: api.Answers{}, Processors: map[commerce.Mode]string{commerce.Test: sandboxes}, Couriers: fleet, Geocoder: geocode.Offline{}})
	callbacks := inbound.New(e, uses, map[string]payment.Processor{sandboxes: box}, map[string]courier.Provider{sandboxes: road})
	effect.Start(effect.Options{Env: e, Queue: engine, Reads: engine.Reader(), Uses: uses, Runner: runner, Sender: partner{w, e}, AppendWebhook: wire.AppendWebhook,
		Processors: map[string]payment.Processor{sandboxes: processor{box, w, e}}, Fleet: fleet, Geocoder: geocode.Offline{},
		Movers: map[string]sandbox.Mover{courier.SandboxObjects: road}, Post: callbacks.FromSandbox(sandbox.NewSigner(e, objects))})
	partners := api.New(engine.Reader(), engine, uses, api.Options{Env: e})
	v := &server{process: p}
	v.handler = web.Trace(e, slog.New(slog.DiscardHandler), partners.Handler())
	pages := box.Handler()
	api := v.handler
	v.handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/sandbox/") {
			pages.ServeHTTP(rw, r)
			return
		}
		api.ServeHTTP(rw, r)
	})
	p.Go(func() { sweep.Expired(context.Background(), e, engine) })
	p.Go(func() { sweep.Count(context.Background(), e, uses.CountReplies) })
	p.Go(func() { sweep.Sums(context.Background(), e, uses.MakeSums) })
	p.Go(func() { sweep.Products(context.Background(), e, uses.FollowProducts) })
	p.Go(func() { sweep.Alarms(context.Background(), e, uses.RaiseAlarms) })
	w.servers = append(w.servers, v)
}

// kill ends a process where its goroutines wait.
func (w *world) kill(n int) {
	w.sim.Tracef("%s is killed", w.servers[n].process.Name)
	w.servers[n].process.Kill()
	w.servers = slices.Delete(w.servers, n, n+1)
}

// chance is true once in n times, while there are faults.
func (w *world) chance(n int) bool { return w.faulty && w.sim.Chance(n) }

// pause takes up to most.
func (w *world) pause(ctx context.Context, e env.Env, most time.Duration) error {
	return e.Sleep(ctx, time.Duration(w.sim.Lots().Int64N(int64(most))))
}

// shaky is storage whose calls take time, and fail now and then.
type shaky struct {
	storage.Engine
	w    *world
	env  env.Env
	name string
}

func (s *shaky) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	if err := s.w.pause(ctx, s.env, 2*time.Millisecond); err != nil {
		return nil, err
	}
	if s.w.chance(150) {
		return nil, storage.ErrUnavailable
	}
	b, err := s.Engine.Load(ctx, needs...)
	return shakyBatch{b, s}, err
}

func (s *shaky) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	if s.w.chance(500) {
		return nil, storage.ErrUnavailable
	}
	list, err := s.Engine.ClaimJobs(ctx, c)
	for _, j := range list {
		s.w.sim.Tracef("%s claims %s", s.name, check.JSON(j))
	}
	return list, err
}

type shakyBatch struct {
	storage.Batch
	s *shaky
}

// Save fails in each of the ways that a real one can.
func (b shakyBatch) Save(ctx context.Context) error {
	w := b.s.w
	defer b.Discard() // also when the process is killed meanwhile
	_ = w.pause(context.Background(), b.s.env, 10*time.Millisecond)
	switch {
	case w.chance(150):
		return errors.New("this batch cannot be saved")
	case w.chance(150):
		return storage.ErrOutcomeUnknown
	}
	w.traceCommit(b.s.name, b.Batch)
	if err := b.Batch.Save(ctx); err != nil {
		return err
	}
	_ = w.pause(context.Background(), b.s.env, time.Millisecond) // the answer is on its way
	if w.chance(150) {
		return storage.ErrOutcomeUnknown
	}
	return nil
}

// traceCommit writes down all that a batch changes.
func (w *world) traceCommit(name string, b storage.Batch) {
	r := b.Rows()
	w.sim.Tracef("%s commits %d", name, b.Stamp())
	traceRows(w, "stock", &r.Stock)
	traceRows(w, "order", &r.Orders)
	traceRows(w, "payment", &r.Payments)
	traceRows(w, "refund", &r.Refunds)
	traceRows(w, "delivery", &r.Deliveries)
	traceRows(w, "attention", &r.Attention)
	traceRows(w, "endpoint", &r.Endpoints)
	traceRows(w, "reply", &r.Replies)
	traceRows(w, "job", &r.Jobs)
	traceRows(w, "sandbox", &r.Sandbox)
	traceLog(w, "move", r.Appended.StockMoves)
	traceLog(w, "timeline", r.Appended.Timeline)
	traceLog(w, "ledger", r.Appended.Ledger)
	traceLog(w, "event", r.Appended.Webhooks)
	traceLog(w, "attempt", r.Appended.Attempts)
	traceLog(w, "unsent", r.Appended.Outbox)
	traceLog(w, "new job", r.Appended.NewJobs)
}

func traceRows[K comparable, V any](w *world, what string, rows *commerce.Table[K, V]) {
	for i := range rows.Changed() {
		if k, v, _ := rows.Change(i); v != nil {
			w.sim.Tracef("  %s %s", what, check.JSON(*v))
		} else {
			w.sim.Tracef("  %s %v is deleted", what, k)
		}
	}
}

func traceLog[V any](w *world, what string, rows []V) {
	for _, v := range rows {
		w.sim.Tracef("  %s %s", what, check.JSON(v))
	}
}

var errLost = errors.New("the connection was lost")

// call makes a call of a provider, which now and then is not there, loses its
// answer, or does what it was asked for after its caller has given up.
func call[R any](ctx context.Context, w *world, e env.Env, what string, do func(context.Context) (R, error)) (r R, err error) {
	fate := "well"
	switch {
	case w.chance(20):
		fate, err = "unreachable", errLost
	case w.chance(20):
		fate = "answer lost"
		_, _ = do(ctx)
		err = errLost
	case w.chance(60):
		fate = "late"
		e.Go(func() {
			_ = e.Sleep(context.Background(), 20*time.Second)
			_, _ = do(context.Background())
		})
		e.Await(ctx.Done())
		err = ctx.Err()
	default:
		if err = w.pause(ctx, e, 300*time.Millisecond); err == nil {
			r, err = do(ctx)
		}
	}
	w.sim.Tracef("call %s: %s, %v, %v", what, fate, check.JSON(r), err)
	return r, err
}

// processor takes payments.
type processor struct {
	*payment.Sandbox
	w   *world
	env env.Env
}

func (p processor) OpenSession(ctx context.Context, r payment.SessionRequest) (payment.Session, error) {
	return call(ctx, p.w, p.env, "open session "+r.OrderID, func(ctx context.Context) (payment.Session, error) { return p.Sandbox.OpenSession(ctx, r) })
}

func (p processor) ExpireSession(ctx context.Context, id string) (payment.Session, error) {
	return call(ctx, p.w, p.env, "expire session "+id, func(ctx context.Context) (payment.Session, error) { return p.Sandbox.ExpireSession(ctx, id) })
}

func (p processor) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	return call(ctx, p.w, p.env, "refund "+r.ID, func(ctx context.Context) (payment.Refund, error) { return p.Sandbox.Refund(ctx, r) })
}

// couriers bring orders.
type couriers struct {
	*courier.Sandbox
	w   *world
	env env.Env
}

func (c couriers) Quote(ctx context.Context, r courier.QuoteRequest) (courier.Quote, error) {
	return call(ctx, c.w, c.env, "quote "+r.Ref, func(ctx context.Context) (courier.Quote, error) { return c.Sandbox.Quote(ctx, r) })
}

func (c couriers) Create(ctx context.Context, r courier.CreateRequest) (courier.Delivery, error) {
	return call(ctx, c.w, c.env, "create "+r.Ref, func(ctx context.Context) (courier.Delivery, error) { return c.Sandbox.Create(ctx, r) })
}

func (c couriers) Get(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	return call(ctx, c.w, c.env, "get "+check.JSON(k), func(ctx context.Context) (courier.Delivery, error) { return c.Sandbox.Get(ctx, k) })
}

func (c couriers) Cancel(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	return call(ctx, c.w, c.env, "cancel "+check.JSON(k), func(ctx context.Context) (courier.Delivery, error) { return c.Sandbox.Cancel(ctx, k) })
}

// partner takes webhooks.
type partner struct {
	w   *world
	env env.Env
}

// Send implements effect.Sender.
func (p partner) Send(ctx context.Context, r webhook.Request) webhook.Result {
	_, err := call(ctx, p.w, p.env, "webhook "+r.ID+" "+string(r.Body), func(context.Context) (int, error) {
		p.w.delivered[r.ID] = true
		return 204, nil
	})
	if err != nil {
		return webhook.Result{Error: err.Error()}
	}
	return webhook.Result{Status: 204}
}
