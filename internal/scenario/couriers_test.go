package scenario

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/sandbox"
)

// stepEvery is the time between two steps of a courier, by the world's clock.
const stepEvery = 5 * time.Second

// newCouriers makes the couriers of test mode as cmd/purveyor does. Live mode has
// none.
func (w *world) newCouriers(objects sandbox.Objects) courier.Fleet {
	box := courier.NewSandbox(env.Env{}, objects, publicURL)
	box.StepEvery, box.Now = stepEvery, w.clock.Now
	box.Locate = func(ctx context.Context, a commerce.Address) (commerce.Point, bool) {
		place, err := knownPlaces.Find(ctx, geocode.Query{Address: a})
		return place.Point, err == nil
	}
	w.road = &road{Sandbox: box}
	return courier.Fleet{Providers: map[string]courier.Provider{sandboxName: w.road},
		Modes: map[commerce.Mode][]string{commerce.Test: {sandboxName}}}
}

// knownPlaces knows the atlas, and otherwise what the service knows by itself.
var knownPlaces = known{}

type known struct{ geocode.Offline }

// Find implements geocode.Geocoder.
func (k known) Find(ctx context.Context, q geocode.Query) (geocode.Place, error) {
	place, err := atlas.Find(ctx, q)
	if errors.Is(err, geocode.ErrNotFound) {
		return k.Offline.Find(ctx, q)
	}
	return place, err
}

// The states of the road to the couriers.
const (
	roadOpen   = "reachable"
	roadClosed = "unreachable"
	roadLossy  = "unheard"   // calls take effect, but their answers are lost
	roadDenied = "refuse-us" // they refuse our credentials
	roadJammed = "slow"      // creating and cancelling deliveries waits until the road is free
)

// road is the connection to the couriers, which may fail.
type road struct {
	*courier.Sandbox

	mu    sync.Mutex
	state string
	stuck chan struct{} // closed once a call is stuck in a jam
	free  chan struct{} // closed once the jam is over
}

func (r *road) becomes(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free != nil {
		close(r.free)
	}
	r.state, r.stuck, r.free = state, nil, nil
	if state == roadJammed {
		r.stuck, r.free = make(chan struct{}), make(chan struct{})
	}
}

func (r *road) is() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// waiting returns a channel that is closed once a call is stuck. Without a jam it is
// nil, which never becomes ready.
func (r *road) waiting() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stuck
}

// queue waits for the end of a jam.
func (r *road) queue(ctx context.Context) error {
	r.mu.Lock()
	free := r.free
	if free != nil {
		select {
		case <-r.stuck:
		default:
			close(r.stuck)
		}
	}
	r.mu.Unlock()
	if free == nil {
		return nil
	}
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *road) Quote(ctx context.Context, q courier.QuoteRequest) (courier.Quote, error) {
	if err := r.barred(); err != nil {
		return courier.Quote{}, err
	}
	return r.Sandbox.Quote(ctx, q)
}

func (r *road) Get(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if err := r.barred(); err != nil {
		return courier.Delivery{}, err
	}
	return r.Sandbox.Get(ctx, k)
}

// barred returns why a call does not get through; nil: it does.
func (r *road) barred() error {
	switch r.is() {
	case roadClosed:
		return errDown
	case roadDenied:
		return errDenied
	}
	return nil
}

func (r *road) Create(ctx context.Context, c courier.CreateRequest) (courier.Delivery, error) {
	return r.call(ctx, func() (courier.Delivery, error) { return r.Sandbox.Create(ctx, c) })
}

func (r *road) Cancel(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	return r.call(ctx, func() (courier.Delivery, error) { return r.Sandbox.Cancel(ctx, k) })
}

func (r *road) call(ctx context.Context, call func() (courier.Delivery, error)) (courier.Delivery, error) {
	if err := r.queue(ctx); err != nil {
		return courier.Delivery{}, err
	}
	if err := r.barred(); err != nil {
		return courier.Delivery{}, err
	}
	d, err := call()
	if r.is() == roadLossy {
		return courier.Delivery{}, errDown
	}
	return d, err
}

// impatient waits for jobs like the runner, but in a jam only until a call is stuck:
// so a caller's ten seconds are over without passing.
type impatient struct {
	*jobs.Runner
	w *world
}

func (i impatient) Finish(ctx context.Context, key commerce.JobKey) error {
	if job, err := i.w.engine.Reader().Job(ctx, key); err != nil || !i.w.inJam(job) {
		return i.Runner.Finish(ctx, key)
	}
	done := make(chan error, 1)
	go func() { done <- i.Runner.Finish(ctx, key) }()
	select {
	case err := <-done:
		return err
	case <-i.w.road.waiting():
		return context.Canceled
	}
}

// inJam reports whether a job would wait for the end of a jam.
func (w *world) inJam(job commerce.Job) bool {
	return w.road.is() == roadJammed && (job.Kind == commerce.JobDispatch || job.Kind == commerce.JobCancelDelivery)
}

// steps makes all couriers take this many steps.
func (w *world) steps(t *testing.T, n int) {
	t.Helper()
	for range n {
		w.clock.move(stepEvery)
		w.finishJobs(t)
	}
}

// courierPath is where couriers post their callbacks.
var courierPath = inbound.CouriersPath(sandboxName)

func sandboxPages(payments, couriers http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(pagePrefix+"pay/", payments)
	mux.Handle(pagePrefix, couriers)
	return mux
}

// The stores of "town" are at one corner, and differ in what they deliver.
func init() {
	at := func(id string, change func(*command.ImportStore)) command.ImportStore {
		s := command.ImportStore{ID: id, Name: "Town " + id[4:], Address: new("1 Elm St"), City: new("Albany"), State: new("NY"), ZipCode: new("12207"),
			Email: new("town@example.com"), Phone: new("+15185550100"), Lat: new(42.65), Lng: new(-73.75), RadiusMiles: new(5.0)}
		change(&s)
		return s
	}
	catalogs["town"] = command.ImportCatalog{
		Stores: []command.ImportStore{
			at("sto_town", func(*command.ImportStore) {}),
			at("sto_fees", func(s *command.ImportStore) { s.ChargesQuote = new(true) }),
			at("sto_desk", func(s *command.ImportStore) { s.DeliveryEnabled, s.ChargesQuote = new(false), new(true) }),
			at("sto_shut", func(s *command.ImportStore) { s.Active = new(false) }),
			at("sto_wide", func(s *command.ImportStore) { s.RadiusMiles = nil }),
			{ID: "sto_lost", Name: "Lost Market", City: new("Nowhere"), State: new("ZZ"), RadiusMiles: new(5.0)}, // a place that no geocoder knows
		},
		Products: []command.ImportProduct{goods("town", 925), goods("fees", 925), goods("desk", 925), goods("shut", 925), goods("wide", 925), goods("lost", 925)},
	}
}

func goods(store string, price commerce.Cents) command.ImportProduct {
	return command.ImportProduct{ID: "prd_" + store, Name: "Basket", StoreID: "sto_" + store, PriceCents: &price, Quantity: new(int64(20))}
}

// courierDirective executes one of these directives of a transcript:
//
//	couriers unreachable      the connection to them: also refuse-us, unheard, slow, reachable
//	processor refuses-us      it refuses our credentials; well: it accepts them
//	steps 3                   couriers take this many steps
//	timeline a order.created  expect the whole timeline of <order_id:a>: kinds, and codes of notes;
//	                          those joined by + may come in any order
//	webhooks a order.paid     expect all of its webhooks
//	flagged a out_of_stock    expect these open reasons to look at the order, or "none"
//
// It returns false for any other directive.
func (pl *player) courierDirective(t *testing.T, words []string) bool {
	t.Helper()
	if len(words) < 2 {
		return false
	}
	order := pl.memory.values["order_id:"+words[1]]
	switch words[0] {
	case "couriers":
		pl.w.road.becomes(words[1])
	case "processor":
		pl.w.line.denies.Store(words[1] == "refuses-us")
	case "steps":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		pl.w.steps(t, n)
	case "timeline":
		same(t, words, pl.w.timeline(t, order))
	case "webhooks":
		same(t, words, pl.w.webhooks(t, order))
	case "flagged":
		reason := pl.w.attention(t, order)
		if reason == "" {
			reason = "none"
		}
		same(t, words, []string{reason})
	default:
		return false
	}
	return true
}

func same(t *testing.T, words, got []string) {
	t.Helper()
	at := 0
	for _, word := range words[2:] {
		if n := strings.Count(word, "+"); n > 0 && at+n < len(got) {
			slices.Sort(got[at : at+n+1])
			at += n
		}
		at++
	}
	if want := strings.ReplaceAll(strings.Join(words[2:], " "), "+", " "); want != strings.Join(got, " ") {
		t.Errorf("%s %s\nwant %s\ngot  %s", words[0], words[1], want, strings.Join(got, " "))
	}
}
