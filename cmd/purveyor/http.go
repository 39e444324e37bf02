package main

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/web"
)

// newHTTPServer makes the server. It answers in the API's shape even where net/http
// would answer by itself (OPTIONS *).
func newHTTPServer(handler http.Handler, proxies web.Proxies) *http.Server {
	return &http.Server{
		Handler:                      proxies.Handler(web.Trace(env.Env{}, slog.Default(), handler)),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  15 * time.Second,
		WriteTimeout:                 30 * time.Second,
		IdleTimeout:                  90 * time.Second,
		MaxHeaderBytes:               16 << 10,
		ErrorLog:                     slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
}

// limitConnections reserves half of the file descriptors for the database and the
// service's own calls, and gives one address a quarter of the rest.
func limitConnections(l net.Listener, proxies web.Proxies) net.Listener {
	const enough = 8192 // an idle connection takes about 18 KiB
	most := min(enough, config.Descriptors()/2)
	return web.LimitConnections(env.Env{}, l, most, max(1, most/4), proxies)
}
