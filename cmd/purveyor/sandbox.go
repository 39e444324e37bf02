package main

import (
	"iter"
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

// pageSize is how many rows are in memory at a time.
const pageSize = 500

// rowsOf returns the rows behind a position, page by page: read returns at most pageSize
// of them. The next page begins behind the position of the last row. The rows end with the
// first error.
func rowsOf[P, R any](after P, read func(after P) ([]R, error), position func(R) P) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for after := after; ; {
			page, err := read(after)
			if err != nil {
				yield(*new(R), err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			after = position(page[len(page)-1])
		}
	}
}
