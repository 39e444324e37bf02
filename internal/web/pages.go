package web

import (
	"net/http"
	"time"

	"purveyor/internal/env"
)

// Requests per minute from one address: for one page, which people reload and scripts
// poll twice a second, and for missing pages.
const (
	pagePerMinute    = 300
	missingPerMinute = 120
)

// LimitAddresses bounds the requests of an address for all of the pages together; further ones
// are answered with 429. It has to run inside Trace.
func LimitAddresses(e env.Env, perMinute int64, next http.Handler) http.Handler {
	limits := NewLimits()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := limits.take(w.Header(), Address(r), perMinute, e.Now()); err != nil {
			WriteError(WriterOf(w), err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// LimitPages bounds the requests of an address for one page, and for missing pages;
// further ones are answered with 429. It has to run inside Trace.
func LimitPages(e env.Env, next http.Handler) http.Handler { return limitPages(next, e.Now) }

func limitPages(next http.Handler, now func() time.Time) http.Handler {
	limits := NewLimits()
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w, address := WriterOf(rw), Address(r)
		missing := address + " missing"
		page := address + " " + r.URL.Path[:min(len(r.URL.Path), 100)] // longer than the path of any page
		err := limits.take(w.Header(), page, pagePerMinute, now())
		if err == nil && limits.exhausted(missing, missingPerMinute, now()) {
			err = limits.take(w.Header(), missing, missingPerMinute, now())
		}
		if err != nil {
			WriteError(w, err)
			return
		}
		next.ServeHTTP(w, r)
		if w.status == http.StatusNotFound {
			_ = limits.take(http.Header{}, missing, missingPerMinute, now()) // the answer has been sent already
		}
	})
}
