package main

import (
	"maps"
	"net/http"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/web"
)

// withoutSandbox leaves new test orders to the providers that are configured for
// them, if any. Existing sandbox orders continue there.
func withoutSandbox(p processors, c couriers) {
	maps.DeleteFunc(p.modes, func(_ commerce.Mode, name string) bool { return name == sandboxName })
	maps.DeleteFunc(c.Modes, func(_ commerce.Mode, names []string) bool { return slices.Contains(names, sandboxName) })
}

// sandboxPages serves the pages of all sandboxes. They need no key, so the requests
// of each address are limited.
func sandboxPages(p processors, c couriers) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/pay/", p.sandbox.Handler())
	mux.Handle("/sandbox/", c.sandbox.Handler())
	return web.LimitPages(env.Env{}, mux)
}
