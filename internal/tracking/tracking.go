// Package tracking is /track: one page for each order, on which its customer follows it through
// the pickup, or through all of its couriers. Everyone with the address may see the page, so it
// shows neither the customer's name nor the address, and its maps have no scale.
package tracking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// perMinute is how many requests an address may make for pages and their states: a page that is
// watched makes six.
const perMinute = 60

// Orders is the use case behind the pages.
type Orders interface {
	FollowOrder(ctx context.Context, orderID string, live bool) (service.Followed, error)
}

// Pages serves the pages.
type Pages struct {
	orders  Orders
	pages   commerce.TrackingPages
	handler http.Handler
}

// New makes the pages of orders, at the addresses that pages gives them.
func New(e env.Env, orders Orders, pages commerce.TrackingPages) *Pages {
	p := &Pages{orders: orders, pages: pages}
	mux := http.NewServeMux()
	mux.HandleFunc(commerce.TrackingPrefix+"{token}", p.showPage)
	mux.HandleFunc(commerce.TrackingPrefix+"{token}/state", p.showState)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound) })
	p.handler = web.LimitAddresses(e, perMinute, mux)
	return p
}

// policy is the Content-Security-Policy: nothing comes from anywhere else, no script or style
// stands in a page, and a page sends nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// ServeHTTP serves the paths below commerce.TrackingPrefix. It must run inside web.Trace.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer") // the address alone gives access to the page
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
	case files.Serve(w, r):
	default:
		p.handler.ServeHTTP(w, r)
	}
}

// follow reads the order of a page. It has answered if it returns false.
func (p *Pages) follow(w http.ResponseWriter, r *http.Request, live bool) (service.Followed, bool) {
	orderID, ok := p.pages.OrderOf(r.PathValue("token"))
	if !ok {
		refuse(w, http.StatusNotFound)
		return service.Followed{}, false
	}
	f, err := p.orders.FollowOrder(r.Context(), orderID, live)
	refusal, refused := errors.AsType[*commerce.Error](err)
	switch {
	case refused && refusal.Kind == commerce.KindNotFound:
		refuse(w, http.StatusNotFound)
	case err != nil:
		if r.Context().Err() == nil {
			slog.Error("a tracking page", "order", orderID, "error", err)
		}
		refuse(w, http.StatusServiceUnavailable)
	case f.Gone:
		refuse(w, http.StatusGone)
	default:
		return f, true
	}
	return f, false
}

// showPage shows what is stored, at once. Its script then asks for the state.
func (p *Pages) showPage(w http.ResponseWriter, r *http.Request) {
	if f, ok := p.follow(w, r, false); ok {
		v := viewOf(f)
		v.Tag = tagOf(render("state", v))
		send(w, http.StatusOK, render("page", v))
	}
}

// showState answers with the part of the page that changes, or with 304.
func (p *Pages) showState(w http.ResponseWriter, r *http.Request) {
	f, ok := p.follow(w, r, true)
	if !ok {
		return
	}
	web.WriterOf(w).Level = slog.LevelDebug // each open page asks six times a minute
	state := render("state", viewOf(f))
	tag := tagOf(state)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, http.StatusOK, state)
}

func tagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// refusals are the pages in place of others.
var refusals = map[int]message{
	http.StatusNotFound:           {"There is no such order", "Please follow the link that you got once more."},
	http.StatusGone:               {"This page has ended", "The order was completed more than 30 days ago. Ask the store if you have a question about it."},
	http.StatusMethodNotAllowed:   {"This page is only read", "Please follow the link that you got once more."},
	http.StatusServiceUnavailable: {"This does not work at the moment", "Please load the page again in a moment."},
}

func refuse(w http.ResponseWriter, status int) {
	send(w, status, render("message", refusals[status]))
}

func send(w http.ResponseWriter, status int, html []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(html) // an error means that the browser has gone
}
