package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/importfile"
	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/sqlitelog"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/web"
)

// The three paths that take nearly all requests, through the whole chain of
// handlers and the real engine, without sockets: what one request allocates.

// discard is a response that keeps the status and the size alone. Its header is
// used again, which net/http does not do.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(b []byte) (int, error) { d.bytes += len(b); return len(b), nil }

// chain is the service in this process, with a partner.
type chain struct {
	http.Handler
	committer *commit.Committer
	key       string
	response  discard
}

func newChain(b *testing.B, engine storage.Engine, o service.Options) *chain {
	b.Helper()
	c := &chain{committer: commit.New(engine, commit.Options{EncodeEvent: wire.Encoder{}.EventData}), key: fixture.Key("ptn_bench", commerce.Live), response: discard{header: http.Header{}}}
	b.Cleanup(func() {
		c.committer.Close()
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	_, err := commit.Do(b.Context(), c.committer, fixture.Admit(commerce.Partner{ID: "ptn_bench", Name: "Bench"}))
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil)) // writes every line, as the default does
	c.Handler = web.Trace(env.Env{}, log, api.New(engine.Reader(), engine, service.New(engine.Reader(), engine, c.committer, o), api.Options{Requests: logRequests(b)}).Handler())
	return c
}

// logRequests runs a log of requests, as the service does.
func logRequests(b *testing.B) *requestlog.Log {
	b.Helper()
	requests := requestlog.New(env.Env{}, sqlitelog.New(filepath.Join(b.TempDir(), "shop.db")), requestlog.Options{})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); requests.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		<-ended
		if err := requests.Close(); err != nil {
			b.Error(err)
		}
	})
	return requests
}

// newCatalog is a chain on SQLite with 10,000 products of 16 stores.
func newCatalog(b *testing.B) *chain {
	b.Helper()
	engine, err := sqlite.Open(filepath.Join(b.TempDir(), "purveyor.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := newChain(b, engine, service.Options{})
	var stores, products []map[string]any
	for i := range 16 {
		stores = append(stores, map[string]any{"id": fmt.Sprintf("store-%d", i), "name": "Corner Market", "address": "1 Market Street",
			"city": "San Francisco", "state": "CA", "zip_code": "94103", "lat": 37.77, "lng": -122.42})
	}
	for i := range 10_000 {
		products = append(products, map[string]any{"id": productID(i), "name": fmt.Sprintf("Roasted Almonds, lightly salted, No. %d", i),
			"description": "Whole California almonds, dry roasted in small batches, with sea salt.", "store_id": fmt.Sprintf("store-%d", i%16),
			"category_id": "category-01", "price": 999, "sku": fmt.Sprintf("ALM-%07d", i), "available_quantity": commerce.MaxStock,
			"featured_image": "https://images.example.com/a.jpg", "images": []string{"https://images.example.com/b.jpg"}})
	}
	data, err := json.Marshal(map[string]any{"stores": stores, "products": products, "categories": []map[string]any{{"id": "category-01", "name": "Nuts"}}})
	if err != nil {
		b.Fatal(err)
	}
	file := importfile.Parse(data)
	if len(file.Problems) > 0 {
		b.Fatal(file.Problems[0])
	}
	if _, err := commit.Do(b.Context(), c.committer, file.Catalog); err != nil {
		b.Fatal(err)
	}
	return c
}

func productID(i int) string {
	return commerce.NewID(commerce.PrefixProduct, commerce.Millis(1_750_000_000_000)+commerce.Millis(int64(i)), commerce.Entropy{byte(i), 0xa7, byte(i >> 8), 0x5f, 0xc4, 0x9d, 0x3e, 0xb1, 0x68, 0xf2})
}

func (c *chain) request(method, path string, body []byte) *http.Request {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("X-Api-Key", c.key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// serve answers a request and checks the status.
func (c *chain) serve(b *testing.B, to *discard, r *http.Request, status int) {
	clear(to.header)
	to.status, to.bytes = 0, 0
	c.ServeHTTP(to, r)
	if to.status != status {
		b.Fatalf("%s: status %d", r.URL, to.status)
	}
}

// reads measures requests that can be made again and again.
func (c *chain) reads(b *testing.B, requests []*http.Request) {
	b.Helper()
	for _, r := range requests {
		c.serve(b, &c.response, r, 200) // fills the cache of encoded products, as a running server's is
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.serve(b, &c.response, requests[i%len(requests)], 200)
		i++
	}
	b.ReportMetric(float64(c.response.bytes), "body-bytes")
}

func BenchmarkProduct(b *testing.B) {
	c := newCatalog(b)
	var requests []*http.Request
	for _, i := range rand.Perm(10_000) {
		requests = append(requests, c.request("GET", "/v1/products/"+productID(i), nil))
	}
	c.reads(b, requests)
}

func BenchmarkProductPage(b *testing.B) {
	c := newCatalog(b)
	var requests []*http.Request
	for path := "/v1/products?limit=100"; path != ""; {
		r, w := c.request("GET", path, nil), httptest.NewRecorder()
		requests = append(requests, r)
		c.ServeHTTP(w, r)
		var page struct {
			Next string `json:"next_cursor"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 {
			b.Fatalf("%s: status %d, %v", path, w.Code, err)
		}
		if path = ""; page.Next != "" {
			path = "/v1/products?limit=100&cursor=" + page.Next
		}
	}
	c.reads(b, requests)
}

// BenchmarkReport reports from 64 goroutines and more, so that commands meet in
// batches.
func BenchmarkReport(b *testing.B) {
	c := newCatalog(b)
	requests := make([]*http.Request, b.N)
	for i := range requests {
		first := rand.IntN(10_000 - 16)
		requests[i] = c.request("POST", "/v1/orders/report", fmt.Appendf(nil, `{"external_order_id":"W-%d","store_id":"store-%d","fulfillment_type":"pickup",`+
			`"items":[{"product_id":%q,"quantity":1,"price":999},{"product_id":%q,"quantity":2,"price":999}]}`, i, first%16, productID(first), productID(first+16)))
		requests[i].Header.Set("Idempotency-Key", fmt.Sprintf("%032x", i))
	}
	var next atomic.Int64
	b.SetParallelism(64) // times GOMAXPROCS
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		w := discard{header: http.Header{}}
		for p.Next() {
			c.serve(b, &w, requests[next.Add(1)-1], 201)
		}
	})
}

// BenchmarkOrderPage lists 100 of 1,000 orders. Each page is asked for with a time of its own,
// so that no kept answer holds.
func BenchmarkOrderPage(b *testing.B) {
	c := newCatalog(b)
	for i := range 1000 {
		r := c.request("POST", "/v1/orders/report", fmt.Appendf(nil, `{"external_order_id":"W-%d","store_id":"store-%d","fulfillment_type":"pickup",`+
			`"items":[{"product_id":%q,"quantity":1,"price":999},{"product_id":%q,"quantity":2,"price":999}]}`, i, i%16, productID(i), productID(i+16)))
		r.Header.Set("Idempotency-Key", fmt.Sprintf("%032x", i))
		c.serve(b, &c.response, r, 201)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.serve(b, &c.response, c.request("GET", fmt.Sprintf("/v1/orders?created_since=%d", i), nil), 200)
	}
	b.ReportMetric(float64(c.response.bytes), "body-bytes")
}
