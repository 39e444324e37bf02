package backoffice

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/site"
	"purveyor/internal/web"
)

// TestFront: a browser gets the page, and all others what they got before.
func TestFront(t *testing.T) {
	o := openOffice(t)
	front := o.office.Front(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.WriteError(web.WriterOf(w), &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such path"})
	}))
	for _, c := range []struct {
		method, path, accept string
		page                 bool
	}{
		{"GET", "/", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"HEAD", "/", "Text/HTML ; q=0.5", true},
		{"GET", "/", "*/*", false},
		{"GET", "/", "", false},
		{"GET", "/", "application/json", false},
		{"GET", "/", "text/html; q=0, application/json", false},
		{"GET", "/other", "text/html", false},
		{"POST", "/", "text/html", false},
	} {
		r := httptest.NewRequest(c.method, "http://shop.example"+c.path, nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		traced(front).ServeHTTP(w, r)
		body := w.Body.String()
		if !c.page {
			if w.Code != http.StatusNotFound || !strings.Contains(body, `"code":"not_found"`) || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s %s %q: %d %s", c.method, c.path, c.accept, w.Code, body)
			}
			continue
		}
		if w.Code != http.StatusOK || w.Header().Get("Content-Security-Policy") != site.Policy || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%s %q: %d %v", c.method, c.accept, w.Code, w.Header())
		}
		for _, want := range []string{`href="/office"`, `href="/openapi.yaml"`, `href="/docs"`, "curl 'http://shop.example/v1/products"} {
			if c.method == "GET" && !strings.Contains(body, want) {
				t.Errorf("the page lacks %s:\n%s", want, body)
			}
		}
	}
}
