// Package backoffice serves /office, where the staff of the merchant work with orders, keep
// catalog and stock, and look after partners. routes.go lists every page and every act with
// the permission that it needs. There is one file for each page: its handler reads, runs use
// cases of package service as the API does, and renders a template. No rule and no SQL
// stands here.
//
// Every act is a plain form that is posted, and works without script. Its handler answers
// with a redirection to the page that shows the outcome.
package backoffice

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/signin"
	"purveyor/internal/site"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// Prefix begins the path of every page.
const Prefix = "/office"

// Reads are the reads of the pages.
type Reads interface {
	storage.Stores
	storage.Catalog
	storage.StockHistory
	storage.Orders
	storage.OrderFinder
	storage.AttentionReader
	storage.Money
	storage.Partners
	storage.Endpoints
	storage.Events
	storage.Jobs
	storage.Messages
	storage.AuditReader
	storage.Sums
	storage.Overview
	storage.People
}

// Office serves the pages.
type Office struct {
	env       env.Env
	reads     Reads
	uses      *service.Service
	publicURL string
	pages     commerce.TrackingPages
	identify  func(*http.Request) (commerce.User, error)
	passwords *signin.Passwords
	routes    []route
	handler   http.Handler
	cookies   site.Cookies
	// comparisons has the comparisons of the first page that were made, by comparisonKey.
	comparisons sync.Map
	importing   sync.Mutex // one file of products is read at a time: it takes ten times its length
	boards      *boardHub
	requests    *requestlog.Log // nil: requests are not logged

	requireCertified bool
}

// Options of an office.
type Options struct {
	Env       env.Env
	PublicURL string // without a slash at its end
	Pages     commerce.TrackingPages
	// Identify finds the user of a request in place of its session; nil: by the session. Its
	// error is ErrSignedOut if there is none.
	Identify func(*http.Request) (commerce.User, error)
	// Enter has one-time links sign in without a password, as those of the demo do.
	Enter bool
	// Requests is the log of partners' requests; nil: they are not logged.
	Requests *requestlog.Log
	// RequireCertified is that of the use cases.
	RequireCertified bool
	// Pushed is told how long a changed order took until boards were told of it; nil: it is not called.
	Pushed func(took time.Duration)
}

// New makes the office over a service and its storage.
func New(reads Reads, uses *service.Service, o Options) (*Office, error) {
	office := &Office{env: o.Env, reads: reads, cookies: site.Cookies{Name: "office", Path: Prefix, Secure: strings.HasPrefix(o.PublicURL, "https://")}, uses: uses, publicURL: o.PublicURL, pages: o.Pages, identify: o.Identify, passwords: signin.NewPasswords(o.Env), boards: newBoardHub(o.Env, reads), requests: o.Requests, requireCertified: o.RequireCertified, routes: table()}
	if o.Enter {
		office.routes = append(office.routes, enterRoutes...)
	}
	office.boards.pushed = o.Pushed
	forgery := http.NewCrossOriginProtection()
	if err := forgery.AddTrustedOrigin(o.PublicURL); err != nil {
		return nil, err
	}
	forgery.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		office.refuse(office.visit(w, r), &web.Error{Status: http.StatusForbidden, Code: "cross_origin",
			Message: "This form was not sent from a page of the back office, so nothing was changed"})
	}))
	office.handler = forgery.Handler(office.mux())
	return office, nil
}

// ServeHTTP serves the paths below Prefix. It must run inside web.Trace.
func (o *Office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	site.Protect(w.Header())
	o.handler.ServeHTTP(w, r)
}

// mux routes by the table. A path that is not in it, or not with this method, gets a page, too.
func (o *Office) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range o.routes {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { o.serve(r, w, req) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		o.serve(route{method: req.Method, handle: func(v *visit) error { return site.Missing(mux, v.w, v.Request) }}, w, req)
	})
	return mux
}

// serve finds the user of a request and checks the permission of its route.
func (o *Office) serve(r route, w http.ResponseWriter, req *http.Request) {
	v := o.visit(w, req)
	v.route = r
	if r.path != "" {
		v.w.Operation = "office:" + r.path
	}
	req.Body = http.MaxBytesReader(w, req.Body, cmp.Or(r.room, formRoom))
	if r.room == 0 { // handlers with a room of their own read their forms themselves
		if err := req.ParseForm(); err != nil {
			o.refuse(v, commerce.Invalid("form", "The form could not be read"))
			return
		}
	}
	if !r.open {
		user, err := v.identified()
		if err != nil {
			o.refuse(v, err)
			return
		}
		v.user = user
		if r.may != "" && !user.MaySomewhere(r.may) {
			o.refuse(v, missing(r.may, ""))
			return
		}
	}
	if err := r.handle(v); err != nil {
		o.refuse(v, err)
	}
}

// identified is the user of the request.
func (v *visit) identified() (commerce.User, error) {
	if v.o.identify != nil {
		return v.o.identify(v.Request)
	}
	return v.signedIn()
}
