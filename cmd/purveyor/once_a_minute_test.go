package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestOnceAMinute: a failure in the background is a line a minute for each kind and reason; lines of
// requests, panics and what is no failure are all written.
func TestOnceAMinute(t *testing.T) {
	at := time.Now()
	told := newWarnings()
	told.now = func() time.Time { return at }
	var b strings.Builder
	log := slog.New(onceAMinute{slog.NewTextHandler(&b, nil), told})
	for _, c := range []struct {
		what  string
		write func()
		lines int // of three, and of three more a minute later
	}{
		{"a reason", func() { log.Warn("x", "job", b.Len(), "error", errors.New("away")) }, 2},
		{"an error", func() { log.Error("y", "error", errors.New("away")) }, 2},
		{"kinds", func() { log.Warn("z", "kind", b.Len(), "error", errors.New("away")) }, 6},
		{"reasons", func() { log.Warn("z", "error", b.Len()) }, 6},
		{"no reason", func() { log.Warn("v", "slot", 1) }, 2},
		{"no reason, and others", func() { log.Warn("v", "slot", b.Len()) }, 6},
		{"requests", func() { log.Error("w", "error", errors.New("away"), "trace_id", "t") }, 6},
		{"panics", func() { log.Error("p", "stack", "s") }, 6},
		{"no failure", func() { log.Info("x", "error", errors.New("away")) }, 6},
	} {
		b.Reset()
		for range 2 {
			at = at.Add(time.Minute)
			for range 3 {
				c.write()
			}
		}
		if n := strings.Count(b.String(), "\n"); n != c.lines {
			t.Errorf("%s: %d lines, want %d:\n%s", c.what, n, c.lines, b.String())
		}
	}
}
