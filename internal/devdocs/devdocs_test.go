package devdocs

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"purveyor/docs/partner"
	"purveyor/internal/api"
	"purveyor/internal/env"
	"purveyor/internal/web"
)

// options are those of the service, at an address.
func options(publicURL string) Options {
	return Options{Env: env.Env{}, Document: api.OpenAPI, Guides: partner.Guides, PublicURL: publicURL}
}

const address = "https://market.example"

// handler serves the pages as the service does.
func handler(o Options) http.Handler {
	return web.Trace(env.Env{}, slog.New(slog.DiscardHandler), New(o))
}

func get(t *testing.T, h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// shown is the site of the service.
var shownSite = sync.OnceValues(func() (*site, error) { return newSite(options(address)) })

func theSite(t testing.TB) *site {
	t.Helper()
	s, err := shownSite()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkSite reads the document, as the first request does.
func BenchmarkSite(b *testing.B) {
	for b.Loop() {
		if _, err := newSite(options(address)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPage makes a page, as its first request does.
func BenchmarkPage(b *testing.B) {
	for b.Loop() {
		s := *theSite(b)
		s.pages = map[string]*page{}
		s.addPages()
		s.pages["/docs/api/reportOrder"].made()
	}
}

// BenchmarkKept answers with a page that is kept.
func BenchmarkKept(b *testing.B) {
	h := handler(options(address))
	r := httptest.NewRequest(http.MethodGet, "/docs/api/reportOrder", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	for i := 0; b.Loop(); i++ {
		r.RemoteAddr = "192.0.2." + string(rune('0'+i%10)) // the requests of an address are limited
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// BenchmarkFind looks for pages.
func BenchmarkFind(b *testing.B) {
	s := theSite(b)
	s.find("stock")
	for b.Loop() {
		s.find("order stock quantity")
	}
}
