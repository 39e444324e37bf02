// Package devdocs is /docs: what developers of partner systems read. It has the guides of
// docs/partner, and a reference of operations and events that is made from the API's own
// document. Pages are made once, at their first request, and need no script.
package devdocs

import (
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"purveyor/internal/env"
	"purveyor/internal/web"
)

// Prefix begins the path of every page; LLMs is the path of the list of pages for language
// models.
const (
	Prefix = "/docs"
	LLMs   = "/llms.txt"
)

// Docs serves the pages.
type Docs struct {
	site    func() *site
	handler http.Handler
}

// Options of the pages.
type Options struct {
	Env       env.Env
	Document  []byte // of the API, as YAML
	Guides    fs.FS  // NAME.md for each guide
	PublicURL string // of the service, as samples call it; without a slash at its end
}

// New makes the pages. The document and the guides are read at the first request, so that a
// process without visitors does not read them at all.
func New(o Options) *Docs {
	d := &Docs{site: sync.OnceValue(func() *site {
		s, err := newSite(o)
		if err != nil {
			panic(err) // both are part of the program, and tests read them
		}
		return s
	})}
	d.handler = web.LimitPages(o.Env, http.HandlerFunc(d.serve))
	return d
}

// Serves reports whether a path is one of the docs.
func Serves(path string) bool {
	return path == Prefix || strings.HasPrefix(path, Prefix+"/") || path == LLMs
}

// policy is the Content-Security-Policy of all pages: nothing comes from anywhere else, and
// no script or style stands in a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ServeHTTP serves the paths that Serves names. It must run inside web.Trace.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	d.handler.ServeHTTP(w, r)
}

func (d *Docs) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		d.refuse(w, r, &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "Pages are only read"})
		return
	}
	if files.Serve(w, r) {
		return
	}
	s := d.site()
	switch page, ok := s.pages[r.URL.Path]; {
	case ok:
		page.serve(w, r)
	case r.URL.Path == findPath:
		s.serveFind(w, r)
	case r.URL.Path != Prefix && s.pages[strings.TrimRight(r.URL.Path, "/")] != nil:
		http.Redirect(w, r, strings.TrimRight(r.URL.Path, "/"), http.StatusMovedPermanently)
	default:
		d.refuse(w, r, &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page"})
	}
}

// refuse answers with a page that says why there is no other.
func (d *Docs) refuse(w http.ResponseWriter, _ *http.Request, refusal *web.Error) {
	s := d.site()
	send(w, refusal.Status, s.render("missing", frame{Title: refusal.Message, Here: findPath}))
}

// send answers with a page that is made for one request.
func send(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the browser has gone
}

// frame is the data of the layout.
type frame struct {
	*site
	Title   string
	Here    string // the path of the page
	Content any
}

// Menu returns the menu in which this page is marked.
func (f frame) Menu() menu { return f.menu.at(f.Here) }

// heading is a part of a page.
type heading struct {
	ID, Text string
}

// html marks text that this package has made as HTML.
func html(s string) template.HTML { return template.HTML(s) }
