package effect

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fakesandbox"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/web"
)

// mortal is an engine whose process dies at one of its saves: from then on
// nothing of it reaches the database, or a payment processor.
type mortal struct {
	storage.Engine
	dead chan struct{} // closed when it has died
	idle atomic.Bool   // it claims no jobs

	mu    sync.Mutex
	saves int
	at    int  // the save to die at; 0: none
	after bool // that save is persisted, but reported as failed
}

func newMortal(e storage.Engine, at int, after bool) *mortal {
	return &mortal{Engine: e, dead: make(chan struct{}), at: at, after: after}
}

// dieAfterNext has it die as soon as the next save is persisted.
func (m *mortal) dieAfterNext() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.after = m.saves+1, true
}

func (m *mortal) isDead() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

// hasDied is isDead when no save is under way: what a save has persisted may be seen
// before the process has died of it.
func (m *mortal) hasDied() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDead()
}

func (m *mortal) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	if m.isDead() {
		return nil, storage.ErrUnavailable
	}
	b, err := m.Engine.Load(ctx, needs...)
	return mortalBatch{b, m}, err
}

func (m *mortal) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	if m.isDead() {
		return nil, storage.ErrUnavailable
	}
	if m.idle.Load() {
		return nil, nil
	}
	return m.Engine.ClaimJobs(ctx, c)
}

type mortalBatch struct {
	storage.Batch
	m *mortal
}

func (b mortalBatch) Save(ctx context.Context) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	dies := m.saves == m.at
	if m.isDead() || dies && !m.after {
		b.Discard()
	} else if err := b.Batch.Save(ctx); err != nil || !dies {
		return err
	}
	if dies {
		close(m.dead)
	}
	return storage.ErrUnavailable
}

// mortalProcessor is out of reach of a process that has died.
type mortalProcessor struct {
	payment.Processor
	m *mortal
}

func (p mortalProcessor) OpenSession(ctx context.Context, r payment.SessionRequest) (payment.Session, error) {
	if p.m.isDead() {
		return payment.Session{}, storage.ErrUnavailable
	}
	return p.Processor.OpenSession(ctx, r)
}

func (p mortalProcessor) ExpireSession(ctx context.Context, id string) (payment.Session, error) {
	if p.m.isDead() {
		return payment.Session{}, storage.ErrUnavailable
	}
	return p.Processor.ExpireSession(ctx, id)
}

func (p mortalProcessor) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if p.m.isDead() {
		return payment.Refund{}, storage.ErrUnavailable
	}
	return p.Processor.Refund(ctx, r)
}

// service is a whole process that takes card payments in the sandbox and has the
// depots of its shop deliver, but for its sockets.
type process struct {
	s         *shop
	m         *mortal
	runner    *jobs.Runner
	committer *commit.Committer
	effects   *jobs.Runner
	api       http.Handler
	inbound   http.Handler
	box       *payment.Sandbox
	uses      *service.Service
	post      func(ctx context.Context, to string, body []byte) error
}

const payURL = "https://pay.example"

const guestID = "ptn_2"

var testKey = fixture.Key(guestID, commerce.Test)

// admit creates a partner without an endpoint.
func (s *shop) admit() { fixture.Do(s.Shop, fixture.Admit(commerce.Partner{ID: guestID, Name: "Q"})) }

// serve starts a process. objects are a sandbox that stands outside of the
// database, as a real processor does; nil: it stands in it.
func (s *shop) serve(m *mortal, objects *fakesandbox.Objects, wrap func(payment.Processor) payment.Processor) *process {
	s.started++
	v := &process{s: s, m: m, runner: jobs.New(env.Env{}, fmt.Sprint("process ", s.started))}
	v.committer = commit.New(m, commit.Options{Starter: v.runner, EncodeEvent: wire.Encoder{}.EventData})
	inside := NewObjects(env.Env{}, m.Reader(), service.New(m.Reader(), m, v.committer, service.Options{}), v.runner)
	var kept sandbox.Objects = inside
	if objects != nil {
		kept = objects
	}
	v.box = payment.NewSandbox(env.Env{}, kept, payURL)
	fleet := s.fleet(m)
	var movers map[string]sandbox.Mover
	if s.sandboxFleet {
		box := courier.NewSandbox(env.Env{}, kept, payURL)
		box.Locate = func(context.Context, commerce.Address) (commerce.Point, bool) {
			return fixture.StoreAt, true
		}
		fleet.Providers["sandbox"], fleet.Modes[commerce.Test] = box, []string{"sandbox"}
		movers = map[string]sandbox.Mover{courier.SandboxObjects: box}
	}
	v.uses = service.New(m.Reader(), m, v.committer, service.Options{Jobs: v.runner, Answers: api.Answers{}, Couriers: fleet, Geocoder: nowhere{}, Processors: map[commerce.Mode]string{commerce.Test: "sandbox"}})
	callbacks := inbound.New(env.Env{}, v.uses, map[string]payment.Processor{"sandbox": v.box}, fleet.Providers)
	v.post = callbacks.FromSandbox(sandbox.NewSigner(env.Env{}, kept))
	v.inbound = web.Trace(env.Env{}, slog.New(slog.DiscardHandler), callbacks)
	var processor payment.Processor = mortalProcessor{v.box, m}
	if wrap != nil {
		processor = wrap(processor)
	}
	v.effects = Start(Options{Queue: m, Reads: m.Reader(), Uses: v.uses, Runner: v.runner, Sender: s, AppendWebhook: wire.AppendWebhook,
		Processors: map[string]payment.Processor{"sandbox": processor}, Post: v.post, Fleet: fleet, Movers: movers, Geocoder: nowhere{}, Failed: s.failed})
	partners := api.New(m.Reader(), m, v.uses, api.Options{})
	v.api = web.Trace(env.Env{}, slog.New(slog.DiscardHandler), partners.Handler())
	return v
}

// stop ends the process: in order, unless it is dead.
func (v *process) stop() {
	v.effects.EndWaits()
	v.s.stop(v.effects)
	v.committer.Close()
}

// reply is what was answered.
type reply struct {
	status   int
	body     string
	replayed bool
}

// ask makes a request of the API.
func (v *process) ask(path, key string, body any) reply {
	data, err := json.Marshal(body)
	if err != nil {
		v.s.T.Error(err)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(data)))
	r.Header.Set("X-Api-Key", testKey)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	v.api.ServeHTTP(w, r)
	return reply{w.Code, w.Body.String(), w.Header().Get("Idempotent-Replayed") == "true"}
}

// sendCallback posts a callback of a courier provider, and returns the status of the answer.
func (v *process) sendCallback(provider, body string) int {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, inbound.CouriersPath(provider), strings.NewReader(body))
	r.Header.Set(sandbox.SignatureHeader, "a depot looks at none")
	v.inbound.ServeHTTP(w, r)
	return w.Code
}

// checkoutBody is of two loaves for $25.00, bought by a customer with this address.
func checkoutBody(email string) any {
	body := map[string]any{"store_id": storeID, "fulfillment_type": "pickup", "success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no",
		"items": []map[string]any{{"product_id": "prd_0", "quantity": 2}}}
	if email != "" {
		body["customer_email"] = email
	}
	return body
}

const checkoutPath = "/v1/checkout/session"

// checkedOut reads the order id of an answer.
func (r reply) checkedOut(s *shop) commerce.OrderKey {
	s.T.Helper()
	var body struct {
		OrderID   string `json:"order_id"`
		SessionID string `json:"session_id"`
		URL       string `json:"checkout_url"`
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != http.StatusCreated || body.OrderID == "" || body.SessionID == "" || body.URL == "" {
		s.T.Fatalf("checkout was answered %d: %s", r.status, r.body)
	}
	return commerce.OrderKey{StoreID: storeID, OrderID: body.OrderID}
}

// pay is a click of the customer.
func (v *process) pay(sessionID string) reply {
	r := httptest.NewRequest(http.MethodPost, "/sandbox/pay/"+sessionID, strings.NewReader(url.Values{"outcome": {"pay"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	v.box.Handler().ServeHTTP(w, r)
	return reply{status: w.Code, body: w.Body.String()}
}

// deliver posts what a sandbox outside of the database has to tell, so many
// times.
func (v *process) deliver(objects *fakesandbox.Objects, times int) {
	v.s.T.Helper()
	if objects == nil {
		return
	}
	for _, n := range objects.TakeCallbacks() {
		for range times {
			if err := v.post(context.Background(), n.To, n.Body); err != nil {
				v.s.T.Errorf("a callback: %v", err)
			}
		}
	}
}

// paidOrder is an order that was checked out and paid.
func (v *process) paidOrder(objects *fakesandbox.Objects, key, email string) commerce.OrderKey {
	v.s.T.Helper()
	order := v.ask(checkoutPath, key, checkoutBody(email)).checkedOut(v.s)
	if clicked := v.pay(v.s.Payment(order).SessionID); clicked.status != http.StatusSeeOther {
		v.s.T.Fatalf("the payment page answered %d: %s", clicked.status, clicked.body)
	}
	v.deliver(objects, 1)
	return order
}

// idle tells whether nothing is left to be done but to end holds later.
func (s *shop) idle() bool {
	now := commerce.MillisOf(time.Now())
	return !slices.ContainsFunc(s.work(), func(j commerce.Job) bool { return j.Kind != commerce.JobEndHold || j.Due(now) })
}

// checkMoney compares the payment, its ledger and its order with what the
// processor has.
func (v *process) checkMoney(key commerce.OrderKey) {
	v.s.T.Helper()
	p, o, entries, list := v.s.Payment(key), v.s.Order(key), v.s.Ledger(key), v.s.Refunds(key)
	var sum, refunds commerce.Cents
	for _, e := range entries {
		sum += e.Signed()
	}
	for _, r := range list {
		if r.State == commerce.RefundDone {
			refunds += r.AmountCents
		}
	}
	session, err := v.box.Session(context.Background(), p.SessionID)
	if err != nil {
		v.s.T.Fatal(err)
	}
	if sum != p.CapturedCents-p.RefundedCents || int64(len(entries)) != p.Entries || refunds != p.RefundedCents || o.RefundedCents != p.RefundedCents || p.PendingCents != 0 ||
		session.PaidCents != p.CapturedCents || session.RefundedCents != p.RefundedCents {
		v.s.T.Errorf("order %+v\npayment %+v\nledger %+v\nrefunds %+v\nat the processor %+v", o, p, entries, list, session)
	}
}
