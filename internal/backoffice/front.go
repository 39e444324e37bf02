package backoffice

import (
	"net/http"
	"strings"

	"purveyor/internal/site"
	"purveyor/internal/web"
)

// Front answers a browser that asks for the first page of the server: with what this is, first
// calls of the API, and the ways to its documentation and to the back office. All other
// requests go to next.
func (o *Office) Front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead || !wantsHTML(r) {
			next.ServeHTTP(w, r)
			return
		}
		site.Protect(w.Header())
		w.Header().Set("Vary", "Accept")
		v := &visit{Request: r, w: web.WriterOf(w), o: o}
		v.render(http.StatusOK, "front", frame{Title: "Purveyor", Content: o.publicURL})
	})
}

// wantsHTML reports whether the header Accept names HTML, as that of each browser does.
func wantsHTML(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for kind := range strings.SplitSeq(header, ",") {
			name, quality, _ := strings.Cut(kind, ";")
			if strings.EqualFold(strings.TrimSpace(name), "text/html") && strings.ReplaceAll(quality, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
