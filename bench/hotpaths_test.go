package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"purveyor/bench/internal/load"
	"purveyor/internal/api"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/importfile"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/web"
)

// The three paths that take nearly all requests, through the whole chain of
// handlers and the real engine, without sockets: what one request allocates.

// nowhere is a response that keeps the status and the size alone. Its header
// is used again, as net/http does not do.
type nowhere struct {
	header http.Header
	status int
	bytes  int
}

func (n *nowhere) Header() http.Header { return n.header }

func (n *nowhere) WriteHeader(status int) { n.status = status }

func (n *nowhere) Write(b []byte) (int, error) { n.bytes += len(b); return len(b), nil }

func (n *nowhere) reset() { clear(n.header); n.status, n.bytes = 0, 0 }

// chain is the service in this process, with a catalog and a key.
type chain struct {
	http.Handler
	engine *sqlite.Engine
	Shops  []load.Shop
	key    string
}

func newChain(b *testing.B) *chain {
	b.Helper()
	c := &chain{Shops: load.ShopsOf(smallSize)}
	engine, err := sqlite.Open(filepath.Join(b.TempDir(), "purveyor.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	committer := commit.New(engine, commit.Options{})
	b.Cleanup(func() {
		committer.Close()
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	c.engine = engine
	c.load(b, committer)
	log := slog.New(slog.NewTextHandler(io.Discard, nil)) // writes every line, as the default does
	c.Handler = web.Trace(env.Env{}, log, api.New(engine, committer, api.Options{}).Handler())
	return c
}

// load imports the catalog and makes the partner.
func (c *chain) load(b *testing.B, committer *commit.Committer) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "catalog.json")
	if err := load.WriteCatalog(path, c.Shops); err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	file := importfile.Parse(data)
	if len(file.Problems) > 0 {
		b.Fatal(file.Problems[0])
	}
	ctx := context.Background()
	if _, err := commit.Do(ctx, committer, file.Catalog); err != nil {
		b.Fatal(err)
	}
	c.key = commerce.Live.NewKey([20]byte{1})
	partner := commerce.Partner{ID: "ptn_bench", Name: "Bench", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1 << 40}
	_, err = commit.Do(ctx, committer, command.CreatePartner{Partner: partner,
		Keys: []commerce.APIKey{{PartnerID: partner.ID, Mode: commerce.Live, Hash: commerce.HashKey(c.key)}}})
	if err != nil {
		b.Fatal(err)
	}
}

func (c *chain) get(path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-Api-Key", c.key)
	return r
}

// reads measures requests that can be made again and again.
func (c *chain) reads(b *testing.B, requests []*http.Request) {
	b.Helper()
	w := &nowhere{header: http.Header{}}
	serve := func(r *http.Request) {
		w.reset()
		c.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("%s: status %d", r.URL, w.status)
		}
	}
	for _, r := range requests {
		serve(r) // fills the cache of encoded products, as a running server's is
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		serve(requests[i%len(requests)])
		i++
	}
	b.ReportMetric(float64(w.bytes), "body-bytes")
}

func BenchmarkProduct(b *testing.B) {
	c := newChain(b)
	var requests []*http.Request
	for _, path := range load.AllProductPaths(c.Shops) {
		requests = append(requests, c.get(path))
	}
	mathrand.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	c.reads(b, requests)
}

func BenchmarkProductPage(b *testing.B) {
	c := newChain(b)
	var requests []*http.Request
	for path := "/v1/products?limit=100"; ; {
		r := c.get(path)
		requests = append(requests, r)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		var page struct {
			Next string `json:"next_cursor"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
			b.Fatalf("%s: status %d, %v", path, w.Code, err)
		}
		if page.Next == "" {
			break
		}
		path = "/v1/products?limit=100&cursor=" + page.Next
	}
	c.reads(b, requests)
}

// BenchmarkReport reports from as many goroutines as the load generator has
// connections, so that commands meet in batches.
func BenchmarkReport(b *testing.B) {
	c := newChain(b)
	source := load.NewReporter(c.Shops)
	requests := make([]*http.Request, b.N)
	for i := range requests {
		r := httptest.NewRequest(http.MethodPost, "/v1/orders/report", bytes.NewReader(bytes.Clone(source.Order())))
		r.Header.Set("X-Api-Key", c.key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", fmt.Sprintf("%032x", i))
		requests[i] = r
	}
	var next atomic.Int64
	b.SetParallelism(load.Callers) // times GOMAXPROCS: never fewer than the connections
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		w := &nowhere{header: http.Header{}}
		for p.Next() {
			w.reset()
			c.ServeHTTP(w, requests[next.Add(1)-1])
			if w.status != http.StatusCreated {
				b.Errorf("status %d", w.status)
				return
			}
		}
	})
}
