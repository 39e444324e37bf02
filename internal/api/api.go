// Package api is the partner API under /v1: one table of routes, one file for
// each endpoint. A handler reads and checks the shape of its request, runs a use
// case of package service or a read, and writes the answer of SPEC.md.
package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
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
	storage.Endpoints
	storage.Jobs
}

// API serves the partners.
type API struct {
	env          env.Env
	service      *service.Service
	reader       Reads
	gate         *web.Gate
	bodies       *web.Bodies
	now          func() time.Time
	testPatience time.Duration
	kept         *answerCache
	stores       *storeCache     // the stores that searches found
	streams      *streams        // the open streams
	answers      *web.Budget     // bounds the long answers that are being written
	streaming    context.Context // ends with EndStreams
	endStreams   context.CancelFunc
	description  description
	encoder      wire.Encoder
	requests     *requestlog.Log  // nil: requests are not logged
	clock        func() time.Time // of logged requests; nil: that of web.Trace
	limited      limited
	quotas       storage.Quotas
	faults       faultCache
	operations   map[string]bool // the ids of all operations
	handler      http.Handler
}

// Options of an API; each zero value is a default.
type Options struct {
	Env        env.Env
	Now        func() time.Time
	CacheBytes int // size of the caches of answers and stores; 16 MiB
	// TestPatience is how long a test of an endpoint waits for its answer; 10 s.
	TestPatience time.Duration
	PublicURL    string // of the service, for its description; without a slash at its end
	Pages        commerce.TrackingPages
	Requests     *requestlog.Log // nil: requests are not logged
}

// New makes the API over a service and its storage.
func New(reader Reads, quotas storage.Quotas, s *service.Service, o Options) *API {
	clock := o.Now
	if o.Now == nil {
		o.Now = o.Env.Now
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 16 << 20
	}
	if o.TestPatience == 0 {
		o.TestPatience = 10 * time.Second
	}
	streaming, end := context.WithCancel(context.Background())
	a := &API{quotas: quotas, testPatience: o.TestPatience, env: o.Env, service: s, reader: reader, now: o.Now, gate: web.NewGate(o.Env, keyFinder{o.Env, s, reader}, quotas, o.Now), bodies: web.NewBodies(o.Env),
		streaming: streaming, endStreams: end, streams: newStreams(o.Env), answers: web.NewBudget(maxAnswers, maxOfPartner),
		kept: newAnswerCache(reader, o.CacheBytes/4*3), stores: newStoreCache(o.CacheBytes / 4), description: newDescription(o.PublicURL), encoder: wire.Encoder{Pages: o.Pages}, requests: o.Requests, clock: clock, operations: map[string]bool{}}
	a.handler = a.route()
	return a
}

// Handler serves every route of the table. Other requests get refusals in the shape of the
// spec. It must run inside web.Trace.
func (a *API) Handler() http.Handler { return a.handler }

func (a *API) route() http.Handler {
	mux := chi.NewRouter()
	operations := operationIDs()
	for _, route := range Routes {
		id := operations[route.Method+" "+route.Path]
		a.operations[id] = true
		handler := a.serve(route, id)
		mux.Method(route.Method, route.Path, handler)
		if route.Method == http.MethodGet {
			mux.Method(http.MethodHead, route.Path, handler)
		}
	}
	for path, serve := range map[string]http.HandlerFunc{"/openapi.yaml": a.description.serveYAML, "/openapi.json": a.description.serveJSON} {
		mux.Get(path, serve)
		mux.Head(path, serve)
	}
	mux.NotFound(a.noSuchPath)
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		methods := allowed(mux, r)
		if len(methods) == 0 { // no route has this path; the router does not know the method
			a.noSuchPath(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		a.refuse(w, r, &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Message: r.Method + " is not allowed on this path"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.EscapedPath(), "//") { // a route would get an empty parameter
			a.noSuchPath(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (a *API) noSuchPath(w http.ResponseWriter, r *http.Request) {
	a.refuse(w, r, &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such path"})
}

// refuse answers requests that no route serves. Below /v1 the key is checked and the
// request is counted, as for every route.
func (a *API) refuse(rw http.ResponseWriter, r *http.Request, refusal *web.Error) {
	w := web.WriterOf(rw)
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		caller, err := a.admit(w, r)
		a.witness(w, caller, "")
		if err != nil {
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

// request is a request whose caller is known and admitted.
type request struct {
	*http.Request
	web.Caller
	api     *API
	traceID string
	w       *web.Writer
	seen    *witness
	dev     bool // the body asks for the sandbox
}

// mode is the mode of the key, or test if the body asks for the sandbox.
func (r *request) mode() commerce.Mode {
	if r.dev {
		return commerce.Test
	}
	return r.Mode
}

// caller returns the partner in the form that use cases take.
func (r *request) caller() service.Caller {
	by := commerce.PartnerActor(r.Key, r.mode(), r.traceID)
	if r.Member {
		by = commerce.Actor{Kind: commerce.ActorMember, ID: r.Key.ID, Of: r.Partner.ID, Mode: commerce.Test, TraceID: r.traceID}
	}
	by.Address = r.RemoteAddr
	return service.Caller{Actor: by, Partner: r.Partner}
}

// reply is the answer of a handler: an encoded JSON body, or a stream.
type reply struct {
	status   int
	body     []byte
	replayed bool
	stream   func(*web.Writer) // writes a stream in place of the body; nil: there is none
	shared   bool              // the body belongs to a cache, and takes no memory of its own
	tag      etag              // nil: the answer has none
}

// serve makes the checks that all routes share, in the order of BEHAVIOUR.md (401, 429,
// 403 for scopes), calls the handler, and writes its reply or error.
func (a *API) serve(route Route, operation string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w := web.WriterOf(rw)
		w.Operation = operation
		answer, cut, err := a.handle(route, operation, w, r)
		if cut {
			defer w.Lose()()
		}
		if err != nil {
			web.WriteError(w, outward(err))
			return
		}
		if answer.stream != nil {
			if !cut {
				answer.stream(w)
			}
			return
		}
		if notModified(w, r, answer.tag) {
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

// handle answers a request. cut: the answer is to be lost.
func (a *API) handle(route Route, operation string, w *web.Writer, r *http.Request) (answer reply, cut bool, err error) {
	caller, err := a.admit(w, r)
	seen := a.witness(w, caller, operation)
	if err != nil {
		return reply{}, false, err
	}
	for _, scope := range route.Scopes {
		if !caller.Partner.Has(scope) {
			return reply{}, false, scopeMissing(scope)
		}
	}
	var fault commerce.FaultKind
	if caller.Mode == commerce.Test && !caller.Member && !route.beyondFaults() {
		if fault, err = a.hit(r, caller.Partner.ID, operation); err != nil {
			return reply{}, false, err
		}
	}
	answer, err = route.handler(a, &request{Request: r, Caller: caller, api: a, traceID: w.TraceID, w: w, seen: seen})
	answer.body = alter(answer.body, fault)
	return answer, fault == commerce.FaultLostAnswer, err
}

func scopeMissing(scopes ...commerce.Scope) error {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return &web.Error{Status: http.StatusForbidden, Code: "scope_missing", Message: "This key lacks the scope " + strings.Join(names, " or ")}
}

// param returns a path parameter, decoded. It is empty if it cannot be decoded, so that no
// row matches it.
func (r *request) param(name string) string {
	value := chi.URLParam(r.Request, name)
	if r.URL.RawPath != "" {
		value, _ = url.PathUnescape(value) // empty with an error
	}
	switch name {
	case "order_id":
		r.seen.aboutOrder(value)
	case "store_id":
		r.seen.aboutStore(value)
	}
	return value
}

// keyFinder looks up keys for the gate.
type keyFinder struct {
	env    env.Env
	uses   *service.Service
	reader storage.Partners
}

func (k keyFinder) FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	p, key, err := k.reader.KeyHolder(ctx, hash)
	if errors.Is(err, storage.ErrNotFound) {
		err = web.ErrNoKey
	}
	return p, key, err
}

// Used implements web.KeyFinder. A use that cannot be noted is lost: the next minute's is
// noted.
func (k keyFinder) Used(key commerce.APIKey, minute commerce.Millis) {
	k.env.Go(func() { _ = k.uses.RecordKeyUse(context.Background(), key.ID, minute) })
}

// order reads the order that the path names, if the caller may see it.
func (r *request) order() (commerce.Order, error) {
	return r.api.service.FindOrder(r.Context(), r.caller(), r.param("order_id"))
}

// Route is one endpoint: the scopes that a key needs for it, and its handler.
type Route struct {
	Method, Path string
	Scopes       []commerce.Scope
	handler      handler
}

// Routes is the only list of the routes of the API.
var Routes = []Route{
	{get, "/v1/health", nil, (*API).health},

	{get, "/v1/stores", needs(commerce.ReadStores), (*API).listStores},
	{post, "/v1/stores/nearby", needs(commerce.ReadStores), (*API).nearbyStores},
	{get, "/v1/stores/{store_id}/categories", needs(commerce.ReadCategories), (*API).listStoreCategories},
	{get, "/v1/categories", needs(commerce.ReadCategories), (*API).listCategories},

	{get, "/v1/products", needs(commerce.ReadProducts), (*API).listProducts},
	{get, "/v1/products/{product_id}", needs(commerce.ReadProducts), (*API).getProduct},
	{post, "/v1/products/availability", needs(commerce.ReadProducts), (*API).checkAvailability},
	{post, "/v1/products/upsert", needs(commerce.WriteProducts), (*API).upsertProduct},
	{post, "/v1/products/bulk-upsert", needs(commerce.WriteProducts), bulkUpsertProducts},
	{post, "/v1/inventory/adjustments", needs(commerce.WriteInventory), adjustInventory},

	{post, "/v1/delivery/quote", nil, withOneOf(quoteDelivery, commerce.ReadDelivery, commerce.WriteOrders)},
	{post, "/v1/checkout/preflight", needs(commerce.ReadStores, commerce.ReadProducts), preflight},
	{post, "/v1/checkout/session", needs(commerce.WriteOrders), startCheckout},
	{get, "/v1/orders", needs(commerce.ReadOrders), (*API).listOrders},
	{post, "/v1/orders/report", needs(commerce.WriteOrders), reportOrder},
	{get, "/v1/orders/by-external/{external_order_id}", needs(commerce.ReadOrders), (*API).getOrderByExternal},
	{get, "/v1/orders/{order_id}", needs(commerce.ReadOrders), ofOrder((*API).getOrder)},
	{get, "/v1/orders/{order_id}/ping", needs(commerce.ReadOrders), ofOrder((*API).pingOrder)},
	{get, "/v1/orders/{order_id}/driver-location", needs(commerce.ReadDelivery), ofOrder((*API).driverLocation)},
	{get, "/v1/orders/{order_id}/tracking", needs(commerce.ReadOrders), ofOrder((*API).trackOrder)},
	{get, "/v1/orders/{order_id}/tracking/stream", needs(commerce.ReadOrders), ofOrder((*API).trackingStream)},
	{get, "/v1/orders/{order_id}/timeline", needs(commerce.ReadOrders), (*API).orderTimeline},
	{post, "/v1/orders/{order_id}/metadata", needs(commerce.WriteOrders), updateMetadata},
	{post, "/v1/orders/{order_id}/confirm", needs(commerce.WriteOrders), confirmOrder},
	{post, "/v1/orders/{order_id}/ready-for-pickup", needs(commerce.WriteOrders), markReady},
	{post, "/v1/orders/{order_id}/picked-up", needs(commerce.WriteOrders), markPickedUp},
	{post, "/v1/orders/{order_id}/cancel", needs(commerce.WriteOrders), cancelOrder},
	{post, "/v1/orders/{order_id}/refund", needs(commerce.WriteOrders), refundOrder},

	{get, "/v1/events", needs(commerce.ReadOrders), (*API).listEvents},

	{get, "/v1/events/{event_id}", needs(commerce.ReadOrders), (*API).getEvent},
	{get, "/v1/events/{event_id}/attempts", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).listEventAttempts},
	{post, "/v1/events/{event_id}/resend", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).resendEvents},

	{get, "/v1/webhook-endpoints", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).listEndpoints},
	{post, "/v1/webhook-endpoints", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).makeEndpoint},
	{get, "/v1/webhook-endpoints/{endpoint_id}", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).getEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).changeEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/rotate-secret", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).rotateSecret)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/pause", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).pauseEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/resume", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).resumeEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/delete", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).deleteEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/test", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).testEndpoint)},
	{post, "/v1/webhook-endpoints/{endpoint_id}/replay", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).replayEvents)},
	{get, "/v1/webhook-endpoints/{endpoint_id}/attempts", needs(commerce.ManageSelf, commerce.ReadOrders), ofEndpoint((*API).listEndpointAttempts)},

	{get, "/v1/keys", needs(commerce.ManageSelf), (*API).listKeys},
	{post, "/v1/keys", needs(commerce.ManageSelf), makeKey},
	{post, "/v1/keys/{key_id}/rotate", needs(commerce.ManageSelf), rotateKey},
	{post, "/v1/keys/{key_id}/revoke", needs(commerce.ManageSelf), (*API).revokeKey},

	{post, "/v1/certify/runs", needs(commerce.WriteOrders), inTest(startCertification)},
	{get, "/v1/certify/runs/{run_id}", needs(commerce.WriteOrders), inTest((*API).getCertification)},
	{post, "/v1/certify/ack", needs(commerce.WriteOrders), inTest((*API).ackCertification)},

	{get, "/v1/sandbox/faults", needs(commerce.WriteOrders), inTest((*API).listFaults)},
	{post, "/v1/sandbox/faults", needs(commerce.WriteOrders), inTest(makeFault)},
	{post, "/v1/sandbox/faults/clear", needs(commerce.WriteOrders), inTest((*API).clearFaults)},
	{post, "/v1/sandbox/trigger", needs(commerce.WriteOrders), inTest((*API).triggerEvent)},
	{post, "/v1/sandbox/orders/{order_id}/act", needs(commerce.WriteOrders), inTest(ofOrder((*API).actInSandbox))},

	{get, "/v1/requests", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).listRequests},
	{get, "/v1/requests/{request_id}", needs(commerce.ManageSelf, commerce.ReadOrders), (*API).getRequest},
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

func needs(scopes ...commerce.Scope) []commerce.Scope { return scopes }
