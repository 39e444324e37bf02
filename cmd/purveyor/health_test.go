package main

import (
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// TestHealth: each state of what readiness and `doctor` look at in common.
func TestHealth(t *testing.T) {
	const gib = 1 << 30
	now := commerce.Millis(10_000_000)
	jobs := func(state commerce.JobState, first commerce.Millis) finding {
		return ofJobs([]storage.JobCount{{Kind: commerce.JobRefund, State: state, Count: 2, First: first}}, now)
	}
	for name, c := range map[string]struct {
		is          finding
		state, text string
	}{
		"room":                   {ofDisk(storage.Vitals{FreeBytes: 2 * gib, Bytes: gib}), fine, "2048 MiB"},
		"little room":            {ofDisk(storage.Vitals{FreeBytes: gib - 1, Bytes: 1}), fails, "1023 MiB"},
		"little of the database": {ofDisk(storage.Vitals{FreeBytes: 2 * gib, Bytes: 21 * gib}), fails, "2048 MiB"},
		"a server's disk":        {ofDisk(storage.Vitals{Bytes: 21 * gib}), fine, "has its own"},
		"clocks":                 {ofClock(map[string]time.Duration{"a": time.Second, "b": -time.Second}), fine, "that of the a is 1s ahead, that of the b is -1s ahead"},
		"a clock behind":         {ofClock(map[string]time.Duration{"a": 0, "b": -3 * time.Second}), fails, "that of the b is -3s ahead"},
		"the schema":             {ofSchema(5, 5), fine, "number 5"},
		"a newer schema":         {ofSchema(6, 5), warns, "number 6, and this program knows 5"},
		"jobs to come":           {jobs(commerce.JobWaiting, now+5000), fine, "2 waiting, the oldest 0 s past its time"},
		"jobs that are due":      {jobs(commerce.JobWaiting, now-299_000), fine, "the oldest 299 s past its time"},
		"jobs that are late":     {jobs(commerce.JobWaiting, now-301_000), warns, "the oldest 301 s past its time"},
		"dead jobs":              {jobs(commerce.JobDead, now), warns, "0 waiting, the oldest 0 s past its time, 0 parked, 0 held, 2 dead"},
		"parked jobs":            {jobs(commerce.JobParked, now), fine, "2 parked, 0 held, 0 dead"},
		"held jobs":              {jobs(commerce.JobHeld, now), warns, "2 held"},
	} {
		if c.is.State != c.state || !strings.Contains(c.is.Text, c.text) || (c.state == fine) != (c.is.Advice == "") {
			t.Errorf("%s: %v", name, c.is)
		}
	}
}
