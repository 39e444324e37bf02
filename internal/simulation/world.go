package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
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
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/sweep"
	"purveyor/internal/testkit/parallel"
	"purveyor/internal/web"
)

const (
	publicURL = "https://purveyor.example"
	sandboxes = "sandbox" // the name of both providers
)

// world is a database, the processes that serve it, and what is outside of them.
type world struct {
	Options
	sim       stage
	began     time.Time
	env       env.Env // of all that are outside
	db        base
	reader    storage.Reader
	servers   []*server
	started   int
	faulty    bool      // calls and saves fail now and then
	open      bool      // orders come
	awayTill  time.Time // the database is away until then
	fullTill  time.Time // the disk of the database is full until then
	overdue   int       // callbacks that are on their way
	skewed    int       // processes whose clocks are far from right
	refusedOn time.Time // when a save was refused last: then a call may be answered 500 internal
	jumped    time.Time // when a clock jumped last: then its process may believe a key for longer
	halted    time.Time // when a process was last stopped

	partners []*partner
	hasty    *partner
	shelves  map[string]*shelf // what is known of the stock of products, by their ids
	shelfIDs []string
	shown    map[string]shown  // products as they were read last
	fee      int64             // of every delivery
	added    map[string]int64  // pieces of a product that partners have added, by its id
	stories  map[string]*story // by the id of their order
	external map[string]*story // by the external id of their order
	cast     []*story          // all that are played
	told     []*story          // the same, in the order in which the orders were made
	stamp    commerce.Millis   // of the newest batch
	called   map[string]bool   // calls of providers, by what they are for
	// When couriers took deliveries, and were called off last, by the names that we give deliveries.
	taken, calledOff map[string]time.Time
	callingOff       map[string]time.Time // when a job that calls couriers off was claimed last, by its order
	locked           bool                 // the provider of couriers refuses our credentials
	denied           map[string]int       // how often it did, by order
	letters          map[string]letter    // e-mails that were taken, by their ids
	jobs             map[commerce.JobKey]held
	events           map[string]time.Time // when events were saved whose webhooks have not come
	report           Report
	ruined           chan struct{} // closed when too much is broken
}

// server is one process.
type server struct {
	name    string
	process process
	engine  storage.Engine
	handler http.Handler
	uses    *service.Service

	runner    *jobs.Runner
	committer *commit.Committer
	callback  func(ctx context.Context, port string, body []byte) error
	calls     int  // that are under way
	old       bool // it has the older of two builds
}

// serve starts a process, put together as cmd/purveyor does.
func (w *world) serve() {
	w.started++
	name := fmt.Sprint("process ", w.started)
	p := w.sim.Process(name)
	if w.faulty {
		p.Skew(time.Duration(w.sim.Lots().IntN(400)-200) * time.Millisecond)
	}
	e, old := p.Env(), w.startsOld()
	w.sim.Tracef("%s starts%s", name, build(old))
	w.sayToAll("%s starts%s.", name, build(old))
	runner := jobs.New(e, name)
	opened, err := w.db.open(runner.Worker, e)
	if err != nil {
		w.broke("%s cannot open the database: %v", name, err)
		return
	}
	engine := &shaky{Engine: opened, w: w, env: e, process: p, name: name, old: old}
	reader := engine.Reader()
	committer := commit.New(engine, commit.Options{Env: e, Starter: runner, EncodeEvent: wire.Encoder{}.EventData})
	objects := effect.NewObjects(e, reader, service.New(reader, engine, committer, service.Options{Env: e}), runner)
	box, road := payment.NewSandbox(e, objects, publicURL), courier.NewSandbox(e, objects, publicURL)
	road.Locate = func(ctx context.Context, a commerce.Address) (commerce.Point, bool) {
		place, err := geocode.Offline{}.Find(ctx, geocode.Query{Address: a})
		return place.Point, err == nil
	}
	both := []string{sandboxes}
	fleet := courier.Fleet{Providers: map[string]courier.Provider{sandboxes: couriers{road, w, e, name}}, Modes: map[commerce.Mode][]string{commerce.Test: both, commerce.Live: both}}
	uses := service.New(reader, engine, committer, service.Options{Env: e, Jobs: runner, Answers: api.Answers{},
		Processors: map[commerce.Mode]string{commerce.Test: sandboxes, commerce.Live: sandboxes}, Couriers: fleet, Geocoder: geocode.Offline{}})
	callbacks := inbound.New(e, uses, map[string]payment.Processor{sandboxes: box}, map[string]courier.Provider{sandboxes: road})
	take := callbacks.FromSandbox(sandbox.NewSigner(e, objects))
	effect.Start(effect.Options{Env: e, Queue: engine, Reads: reader, Uses: uses, Runner: runner, Sender: post{w, e, name}, AppendWebhook: wire.AppendWebhook,
		Processors: map[string]payment.Processor{sandboxes: processor{box, w, e, name}}, Fleet: fleet, Geocoder: geocode.Offline{},
		Movers: map[string]sandbox.Mover{courier.SandboxObjects: road}, Post: w.post(name, take), Mailer: mailServer{w, e, name}, PublicURL: publicURL})
	if old {
		w.report.Faults["a process had the older build"]++
		maps.DeleteFunc(runner.Kinds, func(k commerce.JobKind, _ jobs.Kind) bool { return slices.Contains(laterKinds, k) })
	}
	partners := api.New(reader, engine, uses, api.Options{Env: e})
	w.servers = append(w.servers, &server{name: name, process: p, engine: opened, handler: routed(e, partners.Handler(), callbacks, box.Handler()), uses: uses, runner: runner, committer: committer, callback: take, old: old})
	beside(p, engine, uses)
}

// routed is what a process serves.
func routed(e env.Env, partners, callbacks, pages http.Handler) http.Handler {
	return web.Trace(e, slog.New(slog.DiscardHandler), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/sandbox/"):
			pages.ServeHTTP(rw, r)
		case strings.HasPrefix(r.URL.Path, inbound.Prefix):
			callbacks.ServeHTTP(rw, r)
		default:
			partners.ServeHTTP(rw, r)
		}
	}))
}

// beside begins what a process does beside serving.
func beside(p process, store sweep.Store, uses *service.Service) {
	ctx, e := context.Background(), p.Env()
	p.Go(func() { sweep.Expired(ctx, e, store) })
	p.Go(func() { sweep.Count(ctx, e, uses.CountReplies) })
	p.Go(func() { sweep.Sums(ctx, e, uses.MakeSums) })
	p.Go(func() { sweep.Products(ctx, e, uses.FollowProducts) })
	p.Go(func() { sweep.Alarms(ctx, e, uses.RaiseAlarms) })
}

// kill ends a process where its goroutines wait.
func (w *world) kill(n int) {
	w.sim.Tracef("%s is killed", w.servers[n].name)
	w.sayToAll("%s is killed.", w.servers[n].name)
	w.report.Kills++
	w.end(n)
}

// end ends a process, and closes what an operating system closes then.
func (w *world) end(n int) {
	v := w.servers[n]
	v.process.Kill()
	w.servers = slices.Delete(w.servers, n, n+1)
	if !w.parallel() {
		return
	}
	if w.env.Wait(time.Minute, v.process.Gone()) != 0 {
		w.broke("%s does not end:%s", v.name, parallel.Stacks())
		return
	}
	if err := v.engine.Close(); err != nil {
		w.broke("the database of %s: %v", v.name, err)
	}
}

// away reports whether the database is away.
func (w *world) away() bool { return w.faulty && w.env.Now().Before(w.awayTill) }

// pause takes up to most.
func (w *world) pause(ctx context.Context, e env.Env, most time.Duration) error {
	return e.Sleep(ctx, time.Duration(w.sim.Lots().Int64N(int64(most))))
}

// lot is a number of [0, n).
func (w *world) lot(n int) int { return w.sim.Lots().IntN(n) }

// between is a time between two others.
func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.sim.Lots().Int64N(int64(most-least)))
}

// At true speed the outside is in a hurry: long waits are shorter by a factor, and end at multiples
// of a beat, so that many calls are made at once.
const (
	hurried = 10
	beat    = 10 * time.Second
)

// sleep is for all that are outside.
func (w *world) sleep(d time.Duration) { _ = w.env.Sleep(context.Background(), w.paced(d)) }

// paced is how long the outside sleeps that is to sleep for d.
func (w *world) paced(d time.Duration) time.Duration {
	if w.parallel() && d > beat {
		d = w.env.Until(w.env.Now().Add(w.soon(d) + beat).Truncate(beat))
	}
	return d
}

// goesOn waits for a while, and reports whether orders still come then.
func (w *world) goesOn(least, most time.Duration) bool {
	if w.open {
		w.sleep(w.between(least, most))
	}
	return w.open
}

// soon is how long the outside waits for what it would wait for d.
func (w *world) soon(d time.Duration) time.Duration {
	if w.parallel() {
		return d / hurried
	}
	return d
}

// inside runs f in a process, as a call does. answered is false if the process died, or did
// not answer in time: then f may go on.
func (w *world) inside(f func(v *server)) (answered bool, by string) {
	if len(w.servers) == 0 {
		return false, ""
	}
	v, done := w.servers[w.lot(len(w.servers))], make(chan struct{})
	v.calls++
	v.process.Go(func() {
		f(v)
		v.called(w)
		close(done)
	})
	return w.env.Wait(30*time.Second, done, v.process.Died()) == 0, v.name
}

// called counts a call that is over.
func (v *server) called(w *world) { w.outside(func() { v.calls-- }) }
