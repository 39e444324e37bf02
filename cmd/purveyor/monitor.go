package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/metrics"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/web"
)

// monitor serves what operators watch, on a listener of its own: metrics, profiles, and readiness with
// its reasons. It is never on the public one.
type monitor struct {
	*metrics.Metrics
	listener net.Listener
	backups  string // a folder; empty: it is not watched
}

// newMonitor makes the monitor; nil: none is asked for.
func newMonitor(c config.Server) (*monitor, error) {
	if c.BackupDir != "" {
		if err := isFolder("--backup-dir", c.BackupDir); err != nil {
			return nil, err
		}
	}
	if c.MetricsListen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	b := thisBuild()
	return &monitor{metrics.New(env.Env{}, metrics.Build{Version: b.Version, Commit: b.Commit, Schema: b.Schema}), l, c.BackupDir}, nil
}

// ofDatabase counts what the database does.
func (m *monitor) ofDatabase(db *database) {
	if m == nil {
		return
	}
	db.committer.CountBy(m)
	switch e := db.Engine.(type) {
	case *sqlite.Engine:
		e.WatchCheckpoints(m.Checkpoints())
	case *postgres.Engine:
		e.WatchWaits(m.Waits())
	}
}

// meters are the meters of requests.
func (m *monitor) meters() []web.Meter {
	if m == nil {
		return nil
	}
	return []web.Meter{m}
}

// of adds what is read from a process when the metrics are.
func (m *monitor) of(p *process) {
	m.Gauge("ready", "1 while reads and writes work.", nil, func() float64 { return number(!p.stopping.Load() && p.writes.OK() && p.reads.OK()) })
	const streams = "Streams of server-sent events that are open."
	m.Gauge("streams_open", streams, map[string]string{"kind": "tracking"}, func() float64 { return float64(p.streams.Streams()) })
	if p.office != nil {
		m.Gauge("streams_open", streams, map[string]string{"kind": "board"}, func() float64 { return float64(p.office.Boards()) })
	}
	if p.certificate != nil {
		m.Gauge("certificate_expiry_seconds", "Time until the certificate in use ends; 0: there is none.", nil, func() float64 { return secondsLeft(p.certificate.Ends()) })
	}
	if m.backups != "" {
		m.Backups((&backupWatch{dir: m.backups}).read)
	}
	if p.requests == nil {
		return
	}
	const rows = "Rows of the log of requests: kept, or dropped for want of room."
	m.Counter("request_log_rows_total", rows, map[string]string{"result": "kept"}, func() float64 { kept, _ := p.requests.Rows(); return float64(kept) })
	m.Counter("request_log_rows_total", rows, map[string]string{"result": "dropped"}, func() float64 { _, dropped := p.requests.Rows(); return float64(dropped) })
}

func secondsLeft(ends time.Time) float64 {
	if ends.IsZero() {
		return 0
	}
	return env.Env{}.Until(ends).Seconds()
}

func number(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// run serves until ctx ends.
func (m *monitor) run(ctx context.Context, p *process) {
	m.of(p)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /readyz", p.readiness)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	slog.Info("metrics", "url", "http://"+m.listener.Addr().String()+"/metrics")
	if err := server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		slog.Error("metrics are not served any more", "error", err)
	}
}
