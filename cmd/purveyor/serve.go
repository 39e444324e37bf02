package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"purveyor/docs/partner"
	"purveyor/internal/api"
	"purveyor/internal/backoffice"
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/devdocs"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/outside/watch"
	"purveyor/internal/portal"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/sweep"
	"purveyor/internal/tracing"
	"purveyor/internal/tracking"
	"purveyor/internal/web"

	"github.com/coreos/go-systemd/v22/daemon"
)

type serveCommand struct {
	config.Database `group:"Service:"`
	settings
}

// settings are the settings of a service, except for its database.
type settings struct {
	config.Server   `group:"Service:"`
	config.TLS      `group:"TLS:"`
	config.Outbound `group:"Webhooks, mail and texts:"`
	config.Payments `group:"Payments:"`
	config.Couriers `group:"Couriers and addresses:"`
}

// check returns an error for settings that cannot work on a database, with all that is
// wrong.
func (s settings) check(d config.Database) error {
	server := s.Server.With(s.TLS)
	_, outbound := portsOf(s.Outbound)
	couriers := s.CheckCouriers()
	if couriers == nil {
		_, couriers = newCouriers(s.Couriers, nil, nil, "") // checks the form of their keys, and calls nothing
	}
	return errors.Join(server.Check(), s.checkTLS(server, d), outbound, s.CheckPayments(), couriers)
}

func (s serveCommand) Run(log config.Log) error {
	s.Database.Batches = s.Server.Batches()
	open := func(ctx context.Context, _ string) (*database, error) { return openToServe(ctx, s.Database) }
	return s.serve(s.Database, open, func(p *process, base string) {
		if !s.NoOffice {
			p.offerFirstOwner(base, log.LogFormat == "json")
		}
		slog.Info("serving", "url", base, "database", s.Database.String(), "sandbox", s.Sandbox, "outbound", s.Outbound,
			"payments", s.Payments.Shown(s.TestOrdersBy()), "couriers", s.Couriers.Shown(s.TestOrdersBy()))
	})
}

// serve runs a service on the database that open returns, until a signal ends it.
// Both functions get the service's public URL.
func (s settings) serve(d config.Database, open func(ctx context.Context, base string) (*database, error), begin func(p *process, base string)) error {
	ctx, stop := untilSignal()
	defer stop()
	if err := s.check(d); err != nil {
		return err
	}
	s.Server = s.Server.With(s.TLS)
	warning, err := config.CheckDescriptors(config.Descriptors())
	if err != nil {
		return err
	}
	if warning != "" {
		slog.Warn(warning)
	}
	ports, err := portsOf(s.Outbound)
	if err != nil {
		return err
	}
	door, err := s.openDoor(d)
	if err != nil {
		return err
	}
	db, err := open(ctx, door.base)
	if err != nil {
		return errors.Join(err, door.Close())
	}
	var process *process
	if err = db.addPages(ctx, door.base); err == nil {
		process, err = newProcess(db, s, ports, door.base)
	}
	if err != nil {
		return errors.Join(err, door.Close(), db.Close())
	}
	process.certificate = door.certificate
	begin(process, door.base)
	return process.run(ctx, door)
}

// untilSignal returns a context that ends with Ctrl-C or SIGTERM. A second signal
// ends the process.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// process is everything that runs while the process serves.
type process struct {
	db       *database
	uses     *service.Service
	api      http.Handler
	streams  *api.API
	office   *backoffice.Office // nil: switched off
	portal   *portal.Portal     // nil: switched off with the office
	docs     http.Handler
	tracking http.Handler
	// countReplies adds up how much partners have stored.
	countReplies func(context.Context) error
	makeSums     func(context.Context) error
	// followProducts makes the events of products.
	followProducts func(context.Context) (follows bool, err error)
	raiseAlarms    func(context.Context) error
	inbound        http.Handler
	sandbox        http.Handler // the sandboxes' pages; nil: switched off
	images         http.Handler // of the demo; nil otherwise
	certificate    certified    // nil: without TLS
	proxies        web.Proxies
	// pay takes the money of a session of the sandbox, as its page does.
	pay func(ctx context.Context, session string) (payment.Session, error)
	// aside runs beside the service from its start until it stops; nil: nothing does.
	aside func(context.Context)
	// askProviders asks each provider once whether it accepts our credentials.
	askProviders  func(context.Context)
	requests      *requestlog.Log // nil: switched off
	monitor       *monitor        // nil: there is none
	tracer        *tracing.Tracer // nil: no spans are made
	stopping      atomic.Bool
	reads, writes *web.Probe // of the database
}

// newProcess wires the parts together and starts the jobs. The options have what
// portsOf returns.
func newProcess(db *database, c settings, o effect.Options, baseURL string) (*process, error) {
	o.PublicURL = baseURL
	proxies, err := c.TrustedProxies()
	if err != nil {
		return nil, err
	}
	objects := effect.NewObjects(env.Env{}, db.Engine.Reader(), db.uses, db.runner)
	geocoder, err := newGeocoder(c.Couriers, db, baseURL)
	if err != nil {
		return nil, err
	}
	processors := newProcessors(c.Payments, objects, baseURL)
	couriers, err := newCouriers(c.Couriers, objects, geocoder, baseURL)
	if err != nil {
		return nil, err
	}
	pages := sandboxPages(processors, couriers)
	if c.SandboxOff() {
		withoutSandbox(processors, couriers)
		pages = nil
	}
	monitor, err := newMonitor(c.Server)
	if err != nil {
		return nil, err
	}
	monitor.ofDatabase(db)
	warnings := newWarnings()
	tracer, err := newTracer(context.Background(), warnings)
	if err != nil {
		return nil, err
	}
	db.committer.TraceBy(tracer)
	watcher := watch.Watcher{Failed: warnings.provider, Tracer: tracer}
	if monitor != nil {
		watcher.Began = monitor.Call
	}
	fleet := courier.Fleet{Providers: watchAll(couriers.Providers, courier.Watch, watcher, warnings), Modes: couriers.Modes}
	requests, err := newRequestLog(c.Server, db)
	if err != nil {
		return nil, err
	}
	uses := service.New(db.Reader(), db, db.committer, service.Options{LogsRequests: requests != nil, RequireCertified: c.RequireCertified, Jobs: db.runner, Answers: api.Answers{}, ReplyBytes: c.RepliesMiB << 20, Processors: processors.modes, Couriers: fleet, Geocoder: geocoder,
		Sandboxes: service.Sandboxes{Payments: processors.sandbox, Couriers: couriers.sandbox}})
	callbacks := inbound.New(env.Env{}, uses, processors.byName, couriers.Providers)
	if monitor != nil {
		callbacks.Took, o.Tried, o.Sent = monitor.Callback, monitor.Tried, monitor.Sent
	}
	o.Queue, o.Reads, o.Uses, o.Runner = db.Engine, db.Engine.Reader(), uses, db.runner
	o.Failed, o.Processors, o.Fleet, o.Geocoder = warnings.job, watchAll(processors.byName, payment.Watch, watcher, warnings), fleet, geocoder
	o.Movers, o.Post = map[string]sandbox.Mover{courier.SandboxObjects: couriers.sandbox}, callbacks.FromSandbox(sandbox.NewSigner(env.Env{}, objects))
	o.Requests, o.Tracer = requests, tracer
	effect.Start(o)
	office, err := newOffice(c.Server, db, uses, requests, monitor, baseURL)
	if err != nil {
		return nil, err
	}
	partners := api.New(db.Reader(), db, uses, api.Options{CacheBytes: c.CacheMiB << 20, PublicURL: baseURL, Pages: db.pages, Requests: requests})
	members, err := newPortal(c.Server, db, uses, requests, partners, baseURL)
	if err != nil {
		return nil, err
	}
	return &process{db: db, uses: uses, pay: processors.sandbox.Pay, api: partners.Handler(), streams: partners, office: office, portal: members, docs: newDocs(baseURL), tracking: tracking.New(env.Env{}, uses, db.pages), countReplies: uses.CountReplies, makeSums: uses.MakeSums, followProducts: uses.FollowProducts, raiseAlarms: uses.RaiseAlarms, inbound: callbacks, sandbox: pages, proxies: proxies,
		reads: web.NewProbe(env.Env{}, "the database answers reads", db.read), writes: web.NewProbe(env.Env{}, "the database takes writes", db.Writable),
		askProviders: warnings.askProviders, requests: requests, monitor: monitor, tracer: tracer}, nil
}

// newDocs makes the pages for developers of partner systems.
func newDocs(baseURL string) http.Handler {
	return devdocs.New(devdocs.Options{Env: env.Env{}, Document: api.OpenAPI, Guides: partner.Guides, PublicURL: baseURL})
}

// ServeHTTP routes the paths outside of the API.
func (s *process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/livez":
		answerOK(w, true)
	case path == "/readyz":
		answerOK(w, !s.stopping.Load() && s.ready(r))
	case strings.HasPrefix(path, inbound.Prefix):
		s.inbound.ServeHTTP(w, r)
	case s.office != nil && (path == backoffice.Prefix || strings.HasPrefix(path, backoffice.Prefix+"/")):
		s.office.ServeHTTP(w, r)
	case s.portal != nil && (path == portal.Prefix || strings.HasPrefix(path, portal.Prefix+"/")):
		s.portal.ServeHTTP(w, r)
	case strings.HasPrefix(path, commerce.TrackingPrefix):
		s.tracking.ServeHTTP(w, r)
	case devdocs.Serves(path):
		s.docs.ServeHTTP(w, r)
	case s.sandbox != nil && strings.HasPrefix(path, "/sandbox/"):
		s.sandbox.ServeHTTP(w, r)
	case s.images != nil && strings.HasPrefix(path, "/demo/images/"):
		s.images.ServeHTTP(w, r)
	case s.office != nil && path == "/":
		s.office.Front(s.api).ServeHTTP(w, r)
	default:
		s.api.ServeHTTP(w, r)
	}
}

// ready reports whether requests can be served, or, with ?reads=1, whether reads can.
func (s *process) ready(r *http.Request) bool {
	return (r.URL.Query().Get("reads") == "1" || s.writes.OK()) && s.reads.OK()
}

// answerOK answers a probe. Its log line has the level debug while all is well.
func answerOK(w http.ResponseWriter, ok bool) {
	if ok {
		web.WriterOf(w).Level = slog.LevelDebug
		web.WriteJSON(w, http.StatusOK, []byte(`{"ok":true}`))
		return
	}
	web.WriteJSON(w, http.StatusServiceUnavailable, []byte(`{"ok":false}`))
}

// How long each part of an orderly stop may take. Together they stay below 10 s,
// after which supervisors kill the process.
const (
	readinessDelay = 250 * time.Millisecond // until load balancers have noticed the readiness
	drainPeriod    = 7 * time.Second        // for requests that are under way
	firstPeriod    = time.Second            // of it, for the first request of a new connection
	patience       = 3 * time.Second        // of it, for a database that does not answer
	returnPeriod   = time.Second            // to give jobs back
)

// run serves until ctx ends, then stops in order: readiness, requests, jobs,
// commands, database. Every admitted request is answered.
func (s *process) run(ctx context.Context, d door) error {
	server := newHTTPServer(web.Spans(s.tracer, s), s.proxies, s.monitor.meters()...)
	sweeping, stopSweeping := context.WithCancel(context.Background())
	var beside sync.WaitGroup // goroutines beside serving, until stopSweeping
	beside.Go(func() { sweep.Expired(sweeping, env.Env{}, s.db) })
	beside.Go(func() { sweep.Count(sweeping, env.Env{}, s.countReplies) })
	beside.Go(func() { sweep.Sums(sweeping, env.Env{}, s.makeSums) })
	beside.Go(func() { sweep.Products(sweeping, env.Env{}, s.followProducts) })
	beside.Go(func() { sweep.Alarms(sweeping, env.Env{}, s.raiseAlarms) })
	beside.Go(func() { sweep.Held(sweeping, env.Env{}, s.sayHeld) })
	beside.Go(func() { s.askProviders(sweeping) })
	beside.Go(func() { d.care(sweeping, s.proxies) })
	beside.Go(func() { s.watchdog(sweeping) })
	if s.requests != nil {
		beside.Go(func() { s.requests.Run(sweeping) })
	}
	if s.monitor != nil {
		_, onSQLite := s.db.Engine.(*sqlite.Engine)
		beside.Go(func() { s.monitor.run(sweeping, s) })
		beside.Go(func() { s.monitor.Look(sweeping, s.db.Reader(), onSQLite) })
	}
	serving, stopServing := context.WithCancel(ctx)
	if s.aside != nil {
		beside.Go(func() { s.aside(serving) })
	}

	callers, served := limitConnections(d.Listener, mostConnections(), s.proxies), make(chan error, 1)
	go func() { served <- d.serve(server, callers) }()
	tell(daemon.SdNotifyReady)
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		slog.Info("stopping")
		tell(daemon.SdNotifyStopping)
		s.stopping.Store(true)
		time.Sleep(readinessDelay)
		s.db.runner.EndWaits()
		s.streams.EndStreams()
		if s.office != nil {
			s.office.EndStreams()
		}
		hurry := time.AfterFunc(patience, s.db.committer.Hurry)
		defer hurry.Stop()
		drain, cancel := context.WithTimeout(context.Background(), drainPeriod)
		if answerAll(drain, server, callers, served) != nil {
			_ = server.Close() // cuts senders whose requests were not admitted yet
		}
		cancel()
	}
	giveBack, cancel := context.WithTimeout(context.Background(), returnPeriod)
	s.db.runner.Stop(giveBack)
	cancel()
	stopServing()
	stopSweeping()
	beside.Wait()
	s.sendSpans()
	if s.requests != nil {
		err = errors.Join(err, s.requests.Close())
	}
	if closing := s.db.Close(); err == nil {
		err = closing
	}
	slog.Info("stopped")
	return err
}

// answerAll takes no more connections, and shuts the server down when those that came have their
// answers. Shutdown alone drops a connection that was just accepted when its first request comes,
// and callers do not repeat such a request, as they do on a connection that was kept.
func answerAll(ctx context.Context, server *http.Server, callers *web.Connections, served <-chan error) error {
	server.SetKeepAlivesEnabled(false) // a connection ends after its answer
	_ = callers.Close()                // the server has no other listener
	<-served                           // what was accepted is counted
	answered, cancel := context.WithTimeout(ctx, firstPeriod)
	defer cancel()
	callers.AwaitNone(answered)
	return server.Shutdown(ctx)
}

// newHTTPServer makes the server. It answers in the API's shape even where net/http
// would answer by itself (OPTIONS *).
func newHTTPServer(handler http.Handler, proxies web.Proxies, meters ...web.Meter) *http.Server {
	return &http.Server{
		ConnContext:                  web.Gather,
		Handler:                      proxies.Handler(web.Trace(env.Env{}, slog.Default(), handler, meters...)),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  15 * time.Second,
		WriteTimeout:                 30 * time.Second,
		IdleTimeout:                  90 * time.Second,
		MaxHeaderBytes:               16 << 10,
		HTTP2:                        streams,
		ErrorLog:                     slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
}
