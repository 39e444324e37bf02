package main

import (
	"net/http"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// withoutSandbox leaves new test orders to the providers that are configured for
// them, if any. What was made in the sandbox before goes on there.
func withoutSandbox(p processors, c couriers) {
	if p.modes[commerce.Test] == sandboxName {
		delete(p.modes, commerce.Test)
	}
	if slices.Contains(c.Modes[commerce.Test], sandboxName) {
		delete(c.Modes, commerce.Test)
	}
}

// sandboxPages are those of all sandboxes. They need no key, so that each caller
// may ask for them only so often.
func sandboxPages(p processors, c couriers) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/pay/", p.sandbox.Handler())
	mux.Handle("/sandbox/", c.sandbox.Handler())
	return web.LimitPages(mux)
}
