// Package api is the partner API under /v1: one table of routes, one file for
// each endpoint. A handler reads and checks the shape of its request, then
// runs a command or a read, and writes the answer of SPEC.md. What may happen
// is decided in commerce and command.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/web"

	"github.com/go-chi/chi/v5"
)

// Reads are the reads that partners see.
type Reads interface {
	storage.Stores
	storage.Catalog
	storage.Orders
	storage.Money
	storage.Replies
	storage.Partners
	storage.Events
	storage.Jobs
}

// Storage bounds what partners store and ask.
type Storage interface {
	storage.ReplyStore
	storage.Quotas
}

// API serves the partners.
type API struct {
	env        env.Env
	engine     Storage
	stored     *storedReplies
	reader     Reads
	committer  *commit.Committer
	gate       *web.Gate
	bodies     *web.Bodies
	now        func() time.Time
	kept       *answerCache
	stores     *storeCache // that searches have found
	jobs       Finisher
	couriers   Couriers
	geocoder   Geocoder
	live       env.Flights[command.Tracked] // calls for where couriers are
	streams    *streams                     // that are open
	answers    *web.Budget                  // of long answers that are being written
	streaming  context.Context              // ends with EndStreams
	endStreams context.CancelFunc
	// processors are who takes payments in each mode, by name.
	processors map[commerce.Mode]string
	// A store and its number never change, so these are never dropped.
	storeNos sync.Map // store id -> number
	storeIDs sync.Map // number -> store id
}

// Options of an API; each zero value is a default, but for Jobs and Geocoder.
type Options struct {
	Env        env.Env
	Now        func() time.Time
	CacheBytes int // of answers about products, and of stores; 16 MiB
	// Jobs does what answers of checkouts, refunds and cancelling depend on. There
	// is no default: what is awaited is begun by nobody else.
	Jobs Finisher
	// Processors are who takes payments in each mode, by name; a mode that is not
	// there takes none.
	Processors map[commerce.Mode]string
	// Couriers bring goods, and Geocoder finds where to.
	Couriers Couriers
	Geocoder Geocoder
	// ReplyBytes is how much a partner with the default rate limit may have stored
	// of replies; 1 GiB.
	ReplyBytes int64
}

// Finisher has a job done while its caller waits, as jobs.Runner does.
type Finisher interface {
	Finish(ctx context.Context, key commerce.JobKey) error
}

// New makes the API.
func New(reader Reads, engine Storage, committer *commit.Committer, o Options) *API {
	if o.Now == nil {
		o.Now = o.Env.Now
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 16 << 20
	}
	if o.ReplyBytes == 0 {
		o.ReplyBytes = 1 << 30
	}
	streaming, end := context.WithCancel(context.Background())
	return &API{env: o.Env, engine: engine, stored: &storedReplies{most: o.ReplyBytes}, reader: reader, committer: committer, now: o.Now, jobs: o.Jobs, processors: o.Processors,
		couriers: o.Couriers, geocoder: o.Geocoder, streaming: streaming, endStreams: end, streams: newStreams(o.Env), answers: web.NewBudget(maxAnswers, maxOfPartner),
		gate: web.NewGate(o.Env, keyFinder{reader}, engine, o.Now), bodies: web.NewBodies(o.Env), kept: newAnswerCache(reader, o.CacheBytes/4*3), stores: newStoreCache(o.CacheBytes / 4)}
}

// Handler serves every route of the table, and refusals in the spec's shape
// for what is not in it. It expects web.Trace around it.
func (a *API) Handler() http.Handler {
	mux := chi.NewRouter()
	for _, route := range Routes {
		handler := a.serve(route)
		mux.Method(route.Method, route.Path, handler)
		if route.Method == http.MethodGet {
			mux.Method(http.MethodHead, route.Path, handler)
		}
	}
	mux.Get("/openapi.yaml", serveOpenAPI)
	mux.Head("/openapi.yaml", serveOpenAPI)
	mux.NotFound(a.noSuchPath)
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		methods := allowed(mux, r)
		if len(methods) == 0 { // the router does not know such a method at all
			a.noSuchPath(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		a.refuse(w, r, &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Message: r.Method + " is not allowed on this path"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.EscapedPath(), "//") { // would give a route an empty parameter
			a.noSuchPath(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (a *API) noSuchPath(w http.ResponseWriter, r *http.Request) {
	a.refuse(w, r, &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such path"})
}

// refuse answers what no route serves. Below /v1 a key comes first, and the
// request counts, as everywhere.
func (a *API) refuse(rw http.ResponseWriter, r *http.Request, refusal *web.Error) {
	w := web.WriterOf(rw)
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		if _, err := a.gate.Admit(w, r); err != nil {
			web.WriteError(w, outward(err))
			return
		}
	}
	web.WriteError(w, refusal)
}

func allowed(mux *chi.Mux, r *http.Request) (methods []string) {
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if mux.Match(chi.NewRouteContext(), m, r.URL.EscapedPath()) {
			methods = append(methods, m)
		}
	}
	return methods
}

// request is what a handler gets: the caller is known and admitted.
type request struct {
	*http.Request
	web.Caller
	traceID string
	w       *web.Writer
	bodies  *web.Bodies
	maxBody int
}

// reply is what a handler answers: a JSON body that is encoded already.
type reply struct {
	status   int
	body     []byte
	replayed bool
	stream   func(*web.Writer) // writes the answer, as it comes; nil: it is the body
	pooled   *[]byte           // where the body stands, to be used again once it is written
	shared   bool              // the body is a cache's, and takes no memory of its own
}

// serve does for every route what none does itself, in the order of
// BEHAVIOUR.md: 401, 429, 403 for scopes, then the handler.
func (a *API) serve(route Route) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w := web.WriterOf(rw)
		answer, err := a.handle(route, w, r)
		if err != nil {
			web.WriteError(w, outward(err))
			return
		}
		if answer.stream != nil {
			answer.stream(w)
			return
		}
		if answer.replayed {
			w.Header()["Idempotent-Replayed"] = []string{"true"}
		}
		if err := a.write(w, route, answer); err != nil {
			web.WriteError(w, err)
		}
	}
}

func (a *API) handle(route Route, w *web.Writer, r *http.Request) (reply, error) {
	caller, err := a.gate.Admit(w, r)
	if err != nil {
		return reply{}, err
	}
	for _, scope := range route.Scopes {
		if !caller.Partner.Has(scope) {
			return reply{}, scopeMissing(scope)
		}
	}
	return route.handler(a, &request{r, caller, w.TraceID, w, a.bodies, web.MaxBody})
}

func scopeMissing(scopes ...commerce.Scope) error {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return &web.Error{Status: http.StatusForbidden, Code: "scope_missing", Message: "This key lacks the scope " + strings.Join(names, " or ")}
}

// outward says what a partner can do about an error of the inside.
func outward(err error) error {
	switch {
	case errors.Is(err, storage.ErrOutcomeUnknown):
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "outcome_unknown", Log: slog.LevelError,
			Message: "It is not known whether this was done; look, or repeat it with the same Idempotency-Key if it had one"}, err)
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, commit.ErrClosed):
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "unavailable", Log: slog.LevelError,
			Message: "The service cannot use its database right now; nothing was changed, try again"}, err)
	}
	return err
}

// param is a path parameter, decoded. What cannot be decoded names nothing.
func (r *request) param(name string) string {
	value := chi.URLParam(r.Request, name)
	if r.URL.RawPath == "" {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		return ""
	}
	return decoded
}

func (r *request) actor(mode commerce.Mode) commerce.Actor {
	return commerce.Actor{Partner: r.Partner, Mode: mode, TraceID: r.traceID}
}

// newID draws an id.
func (a *API) newID(prefix string) string {
	return commerce.NewID(prefix, commerce.MillisOf(a.now()), a.env.Entropy())
}
