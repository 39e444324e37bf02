package web

import (
	"net/http"
	"time"
)

// Requests a minute from one address: for one page, which people load again and
// scripts poll twice a second, and for pages that are not there.
const (
	pagePerMinute    = 300
	missingPerMinute = 120
)

// LimitPages bounds how often an address asks next for a page, and for pages
// that are not there; beyond it is answered 429. It expects Trace around it.
func LimitPages(next http.Handler) http.Handler { return limitPages(next, time.Now) }

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
			_ = limits.take(http.Header{}, missing, missingPerMinute, now()) // its answer has been given
		}
	})
}
