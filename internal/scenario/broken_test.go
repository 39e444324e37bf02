package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// faulty is an engine that fails on request.
type faulty struct {
	storage.Engine
	load, read, keys, lease atomic.Pointer[error]
	// save holds the next error of Save, and whether the batch was saved despite it.
	// It is used once, or repeatedly while saveAlways is set.
	save       atomic.Pointer[error]
	saved      atomic.Bool
	saveAlways atomic.Bool
}

func fault(to *atomic.Pointer[error]) error {
	if p := to.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *faulty) heal() {
	for _, p := range []*atomic.Pointer[error]{&f.load, &f.read, &f.keys, &f.lease, &f.save} {
		p.Store(nil)
	}
	f.saveAlways.Store(false)
}

func (f *faulty) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	if err := fault(&f.load); err != nil {
		return nil, err
	}
	batch, err := f.Engine.Load(ctx, needs...)
	return faultyBatch{batch, f}, err
}

func (f *faulty) GrantQuota(ctx context.Context, w commerce.RateWindow, limit, want int64) (int64, int64, error) {
	if err := fault(&f.lease); err != nil {
		return 0, 0, err
	}
	return f.Engine.GrantQuota(ctx, w, limit, want)
}

func (f *faulty) Reader() storage.Reader { return faultyReader{f.Engine.Reader(), f} }

type faultyBatch struct {
	storage.Batch
	f *faulty
}

func (b faultyBatch) Save(ctx context.Context) error {
	p := b.f.save.Load()
	if p == nil {
		return b.Batch.Save(ctx)
	}
	if !b.f.saveAlways.Load() {
		b.f.save.Store(nil)
	}
	if b.f.saved.Load() {
		if err := b.Batch.Save(ctx); err != nil {
			return err
		}
	} else {
		b.Discard()
	}
	return *p
}

// faultyReader fails in every read that an endpoint begins with.
type faultyReader struct {
	storage.Reader
	f *faulty
}

func (r faultyReader) KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	if err := fault(&r.f.keys); err != nil {
		return commerce.Partner{}, commerce.APIKey{}, err
	}
	return r.Reader.KeyHolder(ctx, hash)
}

func (r faultyReader) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.WebhookEvents(ctx, keys)
}

func (r faultyReader) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Partner{}, err
	}
	return r.Reader.Partner(ctx, id)
}

func (r faultyReader) Faults(ctx context.Context, partnerID string) (commerce.Faults, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Faults{}, err
	}
	return r.Reader.Faults(ctx, partnerID)
}

func (r faultyReader) Certification(ctx context.Context, partnerID string) (commerce.Certification, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Certification{}, err
	}
	return r.Reader.Certification(ctx, partnerID)
}

func (r faultyReader) Store(ctx context.Context, id string) (commerce.Store, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Store{}, err
	}
	return r.Reader.Store(ctx, id)
}

func (r faultyReader) Stores(ctx context.Context, f storage.StoreFilter) ([]commerce.Store, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.Stores(ctx, f)
}

func (r faultyReader) Sites(ctx context.Context, f storage.SiteFilter) ([]commerce.Site, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.Sites(ctx, f)
}

func (r faultyReader) Categories(ctx context.Context, f storage.CategoryFilter) ([]commerce.Category, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.Categories(ctx, f)
}

func (r faultyReader) Product(ctx context.Context, id string) (commerce.Item, storage.Version, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Item{}, 0, err
	}
	return r.Reader.Product(ctx, id)
}

func (r faultyReader) ProductPage(ctx context.Context, f storage.ProductFilter, have storage.Documents) (storage.ProductPage, error) {
	if err := fault(&r.f.read); err != nil {
		return storage.ProductPage{}, err
	}
	return r.Reader.ProductPage(ctx, f, have)
}

func (r faultyReader) Unchanged(ctx context.Context, s storage.ReadSet, v storage.Version) (storage.Version, bool, error) {
	if err := fault(&r.f.read); err != nil {
		return v, false, err
	}
	return r.Reader.Unchanged(ctx, s, v)
}

func (r faultyReader) ProductsBySKU(ctx context.Context, storeID string, skus []string) (map[string][]string, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.ProductsBySKU(ctx, storeID, skus)
}

func (r faultyReader) Stock(ctx context.Context, ids []string) (map[string]commerce.Stock, error) {
	if err := fault(&r.f.read); err != nil {
		return nil, err
	}
	return r.Reader.Stock(ctx, ids)
}

func (r faultyReader) Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.Order{}, err
	}
	return r.Reader.Order(ctx, key)
}

func (r faultyReader) PartnerOrders(ctx context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments) (storage.PartnerOrderPage, error) {
	if err := fault(&r.f.read); err != nil {
		return storage.PartnerOrderPage{}, err
	}
	return r.Reader.PartnerOrders(ctx, f, have)
}

func (r faultyReader) EventPage(ctx context.Context, f storage.EventFilter) (storage.EventPage, error) {
	if err := fault(&r.f.read); err != nil {
		return storage.EventPage{}, err
	}
	return r.Reader.EventPage(ctx, f)
}

func (r faultyReader) ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error) {
	if err := fault(&r.f.read); err != nil {
		return commerce.OrderKey{}, err
	}
	return r.Reader.ExternalOrder(ctx, key)
}

// onEveryBrokenEngine is onEveryEngine with faults.
func onEveryBrokenEngine(t *testing.T, test func(t *testing.T, w *world, f *faulty)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			var f *faulty
			w := newWorld(t, func(t *testing.T, now func() time.Time) storage.Engine {
				f = &faulty{Engine: e.database(t)(t, now)}
				return f
			})
			w.importCatalog(t, "small")
			test(t, w, f)
		})
	}
}

const secret = "disk /dev/secret7 of table orders"

// An internal error is a 500 without details; the log line with the same trace id has
// them.
func TestNothingOfTheInsideIsShown(t *testing.T) {
	inside := []struct {
		code string
		err  error
	}{
		{"unavailable", fmt.Errorf("%w: %s", storage.ErrUnavailable, secret)},
		{"internal", errors.New(secret)},
	}
	onEveryBrokenEngine(t, func(t *testing.T, w *world, f *faulty) {
		for i, route := range api.Routes {
			for j, in := range inside {
				t.Run(route.Method+route.Path+" "+in.code, func(t *testing.T) {
					c := w.good(t, route, "busy", fmt.Sprint("b", i, "x", j))
					w.do(t, call{method: "GET", path: "/v1/health", key: "busy"}) // so that the gate knows the key
					f.read.Store(&in.err)
					f.load.Store(&in.err)
					code := in.code
					if strings.HasPrefix(route.Path, "/v1/requests") { // reads only the log
						w.logStore.err.Store(&in.err)
						code = "unavailable"
					}
					if route.Path == "/v1/health" { // its key is read again
						w.clock.move(time.Minute)
						f.keys.Store(&in.err)
					}
					c.header = http.Header{"X-Trace-Id": {fmt.Sprint("broken-", i, "-", j)}}
					a := w.refuses(t, c, http.StatusInternalServerError, code)
					f.heal()
					w.logStore.err.Store(nil)
					if strings.Contains(string(a.body), "secret") || a.error().Field != "" {
						t.Errorf("shows the inside: %s", a.body)
					}
					if !logged.has(fmt.Sprint("broken-", i, "-", j)) || !logged.has("secret7") {
						t.Error("the log does not lead from the trace id to the cause")
					}
				})
			}
		}
	})
}

// Without the database it is unknown whether a request is within its limit.
func TestNoQuota(t *testing.T) {
	onEveryBrokenEngine(t, func(t *testing.T, w *world, f *faulty) {
		health := call{method: "GET", path: "/v1/health", key: "busy"}
		gone := fmt.Errorf("%w: %s", storage.ErrUnavailable, secret)
		f.lease.Store(&gone)
		w.refuses(t, health, http.StatusInternalServerError, "unavailable")
		f.heal()
		if a := w.do(t, health); a.status != http.StatusOK {
			t.Errorf("when it is back: %d %s", a.status, a.body)
		}
	})
}

// If it is unknown whether a change was saved, the partner is told so. With a key the
// service finds out by itself.
func TestOutcomeUnknown(t *testing.T) {
	unknown := fmt.Errorf("%w: %s", storage.ErrOutcomeUnknown, secret)
	onEveryBrokenEngine(t, func(t *testing.T, w *world, f *faulty) {
		report := func(n string) call {
			return call{method: "POST", path: "/v1/orders/report", key: "busy", idem: n,
				body: `{"external_order_id":"` + n + `","store_id":"sto_north","items":[{"product_id":"prd_roll","quantity":1,"price":150}]}`}
		}
		f.save.Store(&unknown)
		f.saveAlways.Store(true)
		f.saved.Store(false)
		a := w.refuses(t, report("never"), http.StatusInternalServerError, "outcome_unknown")
		if strings.Contains(string(a.body), "secret") {
			t.Errorf("shows the inside: %s", a.body)
		}
		f.heal()
		order := w.seedOrder(t, []string{"z", "paid", "pickup", "1*prd_roll", "of=busy"})
		f.save.Store(&unknown)
		f.saveAlways.Store(true)
		w.refuses(t, call{method: "POST", path: "/v1/orders/" + order + "/confirm", key: "busy"},
			http.StatusInternalServerError, "outcome_unknown")
		f.heal()
		w.expectStock(t, "prd_roll", 50)

		for i, saved := range []bool{false, true} {
			name := fmt.Sprint("lost-", i)
			f.saved.Store(saved)
			f.save.Store(&unknown)
			a := w.do(t, report(name))
			if a.status != http.StatusCreated {
				t.Errorf("saved %t: %d %s", saved, a.status, a.body)
			}
			again := w.do(t, report(name))
			if string(again.body) != string(a.body) || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("saved %t: a repeat gives %s after %s", saved, again.body, a.body)
			}
			w.expectStock(t, "prd_roll", int64(49-i))
		}
	})
}

// expectStock reads the stock without caches.
func (w *world) expectStock(t *testing.T, product string, want int64) {
	t.Helper()
	stock, err := w.engine.Reader().Stock(context.Background(), []string{product})
	if err != nil || stock[product].Quantity != want {
		t.Errorf("%s: want %d in stock, got %d (%v)", product, want, stock[product].Quantity, err)
	}
}

// A service that is stopping answers that it cannot serve.
func TestClosedCommitter(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		w.commit.Close()
		w.refuses(t, call{method: "POST", path: "/v1/inventory/adjustments", key: "live", idem: "k",
			body: samples["/v1/inventory/adjustments"]}, http.StatusInternalServerError, "unavailable")
	})
}
