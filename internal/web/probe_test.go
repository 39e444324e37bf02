package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/env"
)

// TestProbe checks that a probe tests once a second however often it is asked, warns
// once a minute, and logs when it works again.
func TestProbe(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		tries, fails := 0, error(nil)
		p := NewProbe(env.Env{}, "reads", func(context.Context) error { tries++; return fails })
		ask := func(d time.Duration, want bool) {
			t.Helper()
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if p.OK() != want {
					t.Fatalf("OK is %v", !want)
				}
			}
		}
		ask(10*time.Second, true)
		if tries != 10 || log.Len() > 0 {
			t.Errorf("%d tries in 10 s; log: %s", tries, &log)
		}
		fails = errors.New("it is broken")
		ask(150*time.Second, false)
		if got := strings.Count(log.String(), `msg="not ready" fails=reads error="it is broken"`); got != 3 {
			t.Errorf("%d warnings in 150 s, want 3:\n%s", got, &log)
		}
		fails = nil
		ask(time.Second, true)
		if got := strings.Count(log.String(), "ready again"); got != 1 {
			t.Errorf("the end of the failure is logged %d times:\n%s", got, &log)
		}
	})
}

// TestProbeEnds checks that a test that hangs fails, and that all callers share it.
func TestProbeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		p := NewProbe(env.Env{}, "writes", func(ctx context.Context) error { tries++; <-ctx.Done(); return ctx.Err() })
		for range 100 {
			go func() {
				if p.OK() {
					t.Error("OK after a try that did not end")
				}
			}()
		}
		time.Sleep(ProbeTime)
		synctest.Wait()
		if tries != 1 {
			t.Errorf("%d tries", tries)
		}
	})
}
