package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/payment"
	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/postgreslog"
	"purveyor/internal/requestlog/sqlitelog"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/pg"
	"purveyor/internal/web"

	jsonv2 "github.com/go-json-experiment/json"
)

// engines are the engines that every test here runs on.
var engines = []struct {
	name     string
	database func(t *testing.T) openEngine // makes a new one
}{
	{"sqlite", sqliteFile},
	{"postgres", postgresDatabase},
}

// openEngine opens another engine on a database, as another process would.
type openEngine func(t *testing.T, now func() time.Time) storage.Engine

func sqliteFile(t *testing.T) openEngine {
	path := database.SQLite(t)
	return func(t *testing.T, now func() time.Time) storage.Engine {
		engine, err := sqlite.Open(path, sqlite.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		logStores.Store(t, func() (requestlog.Store, error) { return sqlitelog.New(path), nil })
		return engine
	}
}

func postgresDatabase(t *testing.T) openEngine {
	url := database.Postgres(t)
	last := new(stamp)
	return func(t *testing.T, now func() time.Time) storage.Engine {
		engine, err := postgres.Open(url, postgres.Options{Now: func() time.Time { return last.past(now()) }, Readers: 4})
		if err != nil {
			t.Fatal(err)
		}
		logStores.Store(t, func() (requestlog.Store, error) { return postgreslog.New(url) })
		if pg.Shared(t).Cluster() {
			return ticking{engine, last}
		}
		return engine
	}
}

// logStores makes the store of the log of requests beside the engine that a test has just opened.
var logStores sync.Map

// openLog opens the log of requests of a world. It is written when it is read.
func (w *world) openLog(t *testing.T) {
	t.Helper()
	open, _ := logStores.LoadAndDelete(t)
	store, err := open.(func() (requestlog.Store, error))()
	if err != nil {
		t.Fatal(err)
	}
	w.logStore = &faultyLog{Store: store}
	w.requests = requestlog.New(env.Env{}, w.logStore, requestlog.Options{Now: w.clock.Now})
}

// faultyLog is a store of requests whose reads fail with err, if it is set.
type faultyLog struct {
	requestlog.Store
	err atomic.Pointer[error]
}

// Days implements requestlog.Store. Every read begins with it.
func (l *faultyLog) Days(ctx context.Context) ([]requestlog.Day, error) {
	if err := l.err.Load(); err != nil {
		return nil, *err
	}
	return l.Store.Days(ctx)
}

// ticking is an engine on a cluster. Its clock moves on after each batch. The reason: a feed over
// all stores of a cluster shows only rows that are older than the current millisecond. If the clock
// stood still, the feed would never show the newest rows.
type ticking struct {
	storage.Engine
	last *stamp
}

func (e ticking) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	b, err := e.Engine.Load(ctx, needs...)
	if err == nil {
		e.last.raise(b.Stamp())
	}
	return b, err
}

// stamp is the newest one of a database.
type stamp struct{ ms atomic.Int64 }

func (s *stamp) raise(to commerce.Millis) {
	for old := s.ms.Load(); int64(to) > old && !s.ms.CompareAndSwap(old, int64(to)); old = s.ms.Load() {
	}
}

// past is the time, or that after the newest stamp.
func (s *stamp) past(now time.Time) time.Time {
	if ms := s.ms.Load(); now.UnixMilli() <= ms {
		return time.UnixMilli(ms + 1)
	}
	return now
}

// onEveryEngine runs a test once for each engine, in its own world: in parallel with
// other tests and on all engines at once, except while they rewrite files. It has to
// be its caller's last statement, and its only parallel part.
func onEveryEngine(t *testing.T, test func(t *testing.T, w *world)) {
	if !*update {
		t.Parallel()
	}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			if !*update {
				t.Parallel()
			}
			test(t, newWorld(t, e.database(t)))
		})
	}
}

// world is one service with its clock, its partners and their customers.
type world struct {
	clock    *clock
	worker   string // name of the process
	runner   *jobs.Runner
	engine   storage.Engine
	server   *httptest.Server
	client   *http.Client
	commit   *commit.Committer
	effects  *jobs.Runner
	sandbox  *payment.Sandbox
	line     *lineTo // to the sandbox, for jobs
	road     *road   // to the couriers
	signer   inbound.Signer
	api      http.Handler
	inbound  http.Handler
	pages    http.Handler // of the sandboxes
	tracking commerce.TrackingPages
	tracked  http.Handler // the tracking pages
	// partners is what api serves.
	partners *api.API
	service  *service.Service // its use cases
	requests *requestlog.Log
	logStore *faultyLog // of requests
}

var workers atomic.Int64 // number of names so far

func newWorld(t *testing.T, open openEngine) *world {
	t.Helper()
	return openWorld(t, newClock(), open, (*world).addPartners)
}

// openWorld starts a service on a database. Prepare fills the database before the
// service reads it.
func openWorld(t *testing.T, c *clock, open openEngine, prepare func(*world, *testing.T)) *world {
	t.Helper()
	w := &world{clock: c, worker: fmt.Sprint("scenario ", workers.Add(1))}
	w.engine = open(t, w.clock.Now)
	w.runner = jobs.New(env.Env{}, w.worker)
	secret, err := w.engine.Reader().TrackingSecret(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w.tracking = commerce.TrackingPages{URL: publicURL, Secret: secret}
	w.commit = commit.New(w.engine, commit.Options{Starter: w.runner, EncodeEvent: wire.Encoder{Pages: w.tracking}.EventData})
	prepare(w, t)
	w.openLog(t)
	w.wire()
	w.server = httptest.NewServer(web.Trace(env.Env{}, slog.New(slog.DiscardHandler), w))
	w.client = w.server.Client()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() {
		w.partners.EndStreams()
		w.server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		w.effects.Stop(ctx)
		w.commit.Close()
		if err := w.requests.Close(); err != nil {
			t.Error(err)
		}
		if err := w.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// ServeHTTP routes requests to the API, the callbacks and the sandbox, as the process
// does.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, inbound.Prefix):
		w.inbound.ServeHTTP(rw, r)
	case strings.HasPrefix(path, pagePrefix):
		w.pages.ServeHTTP(rw, r)
	case strings.HasPrefix(path, commerce.TrackingPrefix):
		w.tracked.ServeHTTP(rw, r)
	default:
		w.api.ServeHTTP(rw, r)
	}
}

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// newClock is an hour behind the real time, by which jobs become due: no job starts
// by itself, only jobs that a call waits for and those that finishJobs finds. It
// starts 5.25 s into a minute.
func newClock() *clock {
	return &clock{now: time.Now().UTC().Add(time.Hour).Truncate(time.Minute).Add(5250 * time.Millisecond)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// call is one request. The path is sent as it is.
type call struct {
	method, path string
	key          string // name of a key in keys; "none" sends no key
	idem         string
	header       http.Header
	body         string
	lenient      bool // the document does not promise that the request is accepted
}

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// code returns the machine code of an error.
func (a *answer) code() string { return a.error().Code }

type errorBody struct {
	OK      *bool  `json:"ok"`
	Error   string `json:"error"`
	Code    string `json:"code"`
	Field   string `json:"field"`
	OrderID string `json:"order_id"`
	TraceID string `json:"trace_id"`
}

func (a *answer) error() (e errorBody) {
	_ = jsonv2.Unmarshal(a.body, &e) // comparisons then find it empty
	return e
}

// do sends a call, and checks the exchange against the document and the rules for all
// answers.
func (w *world) do(t *testing.T, c call) *answer {
	t.Helper()
	a, err := w.exchange(c)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return a
}

func (w *world) exchange(c call) (*answer, error) {
	r, err := w.request(c)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(c.path, "/v1/requests") {
		if err := w.requests.Flush(r.Context()); err != nil {
			return nil, err
		}
	}
	res, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		return nil, err
	}
	a := &answer{res.StatusCode, res.Header, body.Bytes()}
	if strings.HasPrefix(c.path, pagePrefix) || strings.HasPrefix(c.path, commerce.TrackingPrefix) || strings.HasPrefix(c.path, inbound.Prefix) {
		return a, nil // not for partners
	}
	if err := theContract().check(r, c, a); err != nil {
		return a, fmt.Errorf("%w\n%d %s", err, a.status, a.body)
	}
	if err := everyAnswer(c, a); err != nil {
		return a, fmt.Errorf("%w\n%d %s", err, a.status, a.body)
	}
	return a, nil
}

func (w *world) request(c call) (*http.Request, error) {
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r, err := http.NewRequestWithContext(context.Background(), c.method, w.server.URL+c.path, body)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(c.path, pagePrefix):
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case c.body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	if value, ok := keyValue(c.key); ok {
		r.Header.Set("X-Api-Key", value)
	}
	if c.idem != "" {
		r.Header.Set("Idempotency-Key", c.idem)
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	return r, nil
}

// everyAnswer checks the rules of SPEC.md for all answers: the trace id in the header
// and in errors, ok, the shape of errors.
func everyAnswer(c call, a *answer) error {
	trace := a.header.Get("X-Trace-Id")
	if trace == "" {
		return fmt.Errorf("no x-trace-id")
	}
	if a.header.Get("X-Content-Type-Options") != "nosniff" && a.header.Get("ETag") == "" {
		return fmt.Errorf("no X-Content-Type-Options")
	}
	if given := c.header["X-Trace-Id"]; len(given) == 1 && !c.lenient && given[0] != trace {
		return fmt.Errorf("x-trace-id %q came back as %q", given[0], trace)
	}
	if c.method == http.MethodHead || a.status == http.StatusNotModified || strings.HasPrefix(c.path, "/openapi.") || a.header.Get("Content-Type") == "text/event-stream" {
		return nil
	}
	var seen struct {
		OK      *bool   `json:"ok"`
		Error   *string `json:"error"`
		TraceID *string `json:"trace_id"`
	}
	if err := jsonv2.Unmarshal(a.body, &seen); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	good := a.status < http.StatusBadRequest
	switch {
	case seen.OK == nil || *seen.OK != good:
		return fmt.Errorf("ok must be %t", good)
	case good != (seen.Error == nil):
		return fmt.Errorf("error must be there exactly when ok is false")
	case !good && seen.TraceID == nil:
		return fmt.Errorf("an error without trace_id")
	}
	replayed := a.header.Get("Idempotent-Replayed") != ""
	if seen.TraceID != nil && *seen.TraceID != trace && !replayed {
		return fmt.Errorf("trace_id %q is not the x-trace-id %q", *seen.TraceID, trace)
	}
	return nil
}

// logged records what the service logs through slog's default logger.
var logged = &logBook{}

type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Enabled(context.Context, slog.Level) bool { return true }

func (l *logBook) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slog.NewTextHandler(&l.text, nil).Handle(ctx, r)
}

func (l *logBook) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logBook) WithGroup(string) slog.Handler      { return l }

func (l *logBook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}
