package main

import (
	"net/http"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/web"
)

// withoutSandbox leaves new test orders to the providers that are configured for
// them, if any. Existing sandbox orders continue there.
func withoutSandbox(p processors, c couriers) {
	if p.modes[commerce.Test] == sandboxName {
		delete(p.modes, commerce.Test)
	}
	if slices.Contains(c.Modes[commerce.Test], sandboxName) {
		delete(c.Modes, commerce.Test)
	}
}

// sandboxPages serves the pages of all sandboxes. They need no key, so the requests
// of each address are limited.
func sandboxPages(p processors, c couriers) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/pay/", p.sandbox.Handler())
	mux.Handle("/sandbox/", c.sandbox.Handler())
	return web.LimitPages(env.Env{}, mux)
}
