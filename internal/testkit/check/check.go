// Package check holds small helpers that tests of all packages share.
package check

import (
	"encoding/json"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// WithRace reports whether the tests have the race detector.
func WithRace() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// OK ends the test if err is not nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually asks ok again and again until it is true. After the limit it ends the test,
// naming what it waited for. The pause between two questions grows to its twentyfold while it
// waits: the tests beside it need the cores.
func Eventually(t testing.TB, limit, pause time.Duration, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); {
		waited := time.Since(began)
		if waited > limit {
			t.Fatalf("waited %v in vain for %s", limit, what)
		}
		time.Sleep(min(max(pause, waited/20), 20*pause))
	}
}

// JSON is v as JSON, to be compared or shown.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test passed what has no JSON
	}
	return string(b)
}
