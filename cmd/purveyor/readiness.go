package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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
	for _, line := range s.state(ctx) {
		_, _ = fmt.Fprintln(w, line) // an error means that the caller has gone
	}
}

// state are the lines of readiness.
func (s *process) state(ctx context.Context) (lines []string) {
	add := func(ok bool, format string, args ...any) {
		word := "ok"
		if !ok {
			word = "fail"
		}
		lines = append(lines, fmt.Sprintf("%-5s%s", word, fmt.Sprintf(format, args...)))
	}
	add(!s.stopping.Load(), "stopping: %v", s.stopping.Load())
	add(s.reads.OK(), "the database answers reads")
	add(s.writes.OK(), "the database takes writes")
	add(true, "migrations: the schema is number %d", thisBuild().Schema)
	counts, err := s.db.Reader().JobCounts(ctx)
	add(err == nil, "jobs: %s", jobsText(counts, err))
	v, err := s.db.Vitals(ctx)
	if err != nil {
		add(false, "the state of the database: %v", err)
		return lines
	}
	if v.FreeBytes > 0 {
		add(v.FreeBytes > 1<<30, "disk: %d MiB are free", v.FreeBytes>>20)
	}
	add(v.ClockOffset.Abs() < maxClockOffset, "clock: the database's is %v ahead", v.ClockOffset.Round(time.Millisecond))
	return lines
}

// maxClockOffset is how far the clock of a database may be from ours.
const maxClockOffset = 2 * time.Second

func jobsText(counts []storage.JobCount, err error) string {
	if err != nil {
		return err.Error()
	}
	of := map[commerce.JobState]int64{}
	behind := int64(0)
	now := commerce.MillisOf(time.Now())
	for _, c := range counts {
		of[c.State] += c.Count
		if c.State == commerce.JobWaiting && c.First < now {
			behind = max(behind, int64(now.Sub(c.First).Seconds()))
		}
	}
	text := fmt.Sprintf("%d waiting, the oldest %d s past its time", of[commerce.JobWaiting], behind)
	for _, state := range []commerce.JobState{commerce.JobParked, commerce.JobDead} {
		text += fmt.Sprintf(", %d %s", of[state], state)
	}
	return strings.TrimSpace(text)
}
