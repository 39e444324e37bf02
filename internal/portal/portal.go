// Package portal serves /portal, where the people of a partner see what their programs asked for
// and got, and look after their keys, endpoints and members. It is built as the back office is:
// routes.go lists every page and every act, and there is one file for each page, whose handler
// reads, runs the use cases of package service that the API runs, and renders a template. What
// both show stands in package site. No page has a script.
//
// A member belongs to one partner, and every read and every act names that partner: nothing of
// another one is ever found.
package portal

import (
	"net/http"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// Prefix begins the path of every page.
const Prefix = "/portal"

// Reads are the reads of the pages.
type Reads interface {
	storage.Stores
	storage.Orders
	storage.OrderFinder
	storage.Partners
	storage.Endpoints
	storage.Events
	storage.Jobs
	storage.People
}

// Portal serves the pages.
type Portal struct {
	env       env.Env
	reads     Reads
	uses      *service.Service
	publicURL string
	requests  *requestlog.Log // nil: requests are not logged
	api       API
	cookies   site.Cookies
	routes    []route
	handler   http.Handler
}

// Options of a portal.
type Options struct {
	Env       env.Env
	PublicURL string          // without a slash at its end
	Requests  *requestlog.Log // of partners; nil: they are not logged
	API       API
}

// New makes the portal over a service and its storage.
func New(reads Reads, uses *service.Service, o Options) (*Portal, error) {
	p := &Portal{env: o.Env, reads: reads, uses: uses, publicURL: o.PublicURL, requests: o.Requests, api: o.API, routes: table(),
		cookies: site.Cookies{Name: "portal", Path: Prefix, Secure: strings.HasPrefix(o.PublicURL, "https://")}}
	forgery := http.NewCrossOriginProtection()
	if err := forgery.AddTrustedOrigin(o.PublicURL); err != nil {
		return nil, err
	}
	forgery.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.visit(w, r).refuse(&web.Error{Status: http.StatusForbidden, Code: "cross_origin", Message: "This form was not sent from a page of the portal, so nothing was changed"})
	}))
	mux := http.NewServeMux()
	for _, r := range p.routes {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { p.serve(r, w, req) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		p.serve(route{handle: func(v *visit) error { return site.Missing(mux, v.w, v.Request) }}, w, req)
	})
	p.handler = forgery.Handler(mux)
	return p, nil
}

// ServeHTTP serves the paths below Prefix. It must run inside web.Trace.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	site.Protect(w.Header())
	p.handler.ServeHTTP(w, r)
}

// formRoom is how many bytes a form may have.
const formRoom = 64 << 10

// serve finds the member of a request, and checks whether the member may do this.
func (p *Portal) serve(r route, w http.ResponseWriter, req *http.Request) {
	v := p.visit(w, req)
	v.route = r
	if r.path != "" {
		v.w.Operation = "portal:" + r.path
	}
	req.Body = http.MaxBytesReader(w, req.Body, formRoom)
	err := req.ParseForm()
	if err != nil {
		err = commerce.Invalid("form", "The form could not be read")
	}
	if err == nil && !r.open {
		err = v.signedIn()
	}
	if err == nil && r.changes && !v.MayChange() {
		err = &commerce.Error{Kind: commerce.KindForbidden, Code: "permission_missing", Message: "Only an admin of the partner may do this"}
	}
	if err == nil {
		err = r.handle(v)
	}
	if err != nil {
		v.refuse(err)
	}
}
