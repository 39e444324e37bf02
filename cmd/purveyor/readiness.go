package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// readiness answers whether the process is ready and, with ?verbose=1, a line for each thing that
// this depends on, or that stands behind.
func (s *process) readiness(w http.ResponseWriter, r *http.Request) {
	ok := !s.stopping.Load() && s.ready(r)
	status := http.StatusOK
	if !ok {
		status = http.StatusServiceUnavailable
	}
	if r.URL.Query().Get("verbose") == "" {
		web.WriteJSON(w, status, fmt.Appendf(nil, `{"ok":%v}`, ok))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), web.ProbeTime)
	defer cancel()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	for _, f := range s.state(ctx) {
		_, _ = fmt.Fprintln(w, f) // an error means that the caller has gone
	}
}

// state are the findings of readiness.
func (s *process) state(ctx context.Context) []finding {
	var stopping error
	if s.stopping.Load() {
		stopping = errors.New("it is stopping")
	}
	list := append([]finding{found("process", "it serves", stopping, "")}, answers(s.reads.Err(), s.writes.Err())...)
	return append(list, s.db.health(ctx)...)
}

// sayHeld warns of held jobs. They are counted only if there are any, because that looks at every job.
func (s *process) sayHeld(ctx context.Context) error {
	held, err := s.db.Reader().Jobs(ctx, storage.JobFilter{State: commerce.JobHeld, Limit: 1})
	if err != nil || len(held) == 0 {
		return err
	}
	counted, err := s.db.Reader().Gauges(ctx, storage.MostWatched)
	if err != nil {
		return err
	}
	f := ofJobs(counted.Jobs, commerce.MillisOf(time.Now()))
	slog.Warn("jobs are held, because the database was restored: compare with the providers (purveyor ledger check), then purveyor jobs release", "jobs", f.Text)
	return nil
}
