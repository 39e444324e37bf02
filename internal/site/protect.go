package site

import "net/http"

// Policy is the Content-Security-Policy of all pages: nothing comes from anywhere else, and
// no script or style stands in a page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Protect sets the headers of every page.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
