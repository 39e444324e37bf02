package simulation

import (
	"bytes"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestMain hides the log of the failures that are provoked here, and collects garbage as rarely
// as the command does.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // simulated worlds collect garbage before
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// TestOneSeedOneHistory plays a seed twice, at the same time, and compares every commit, call
// and answer of both runs byte by byte. Nothing may be wrong in either.
func TestOneSeedOneHistory(t *testing.T) {
	orders := 200
	if testing.Short() {
		orders = 20
	}
	play := func(seed uint64) (string, Report) {
		var text bytes.Buffer
		r := Run(Options{Seed: seed, Hours: 2, Orders: orders, History: &text, Rows: true})
		return text.String(), r
	}
	type played struct {
		text   string
		report Report
	}
	again := make(chan played)
	go func() {
		text, r := play(7)
		again <- played{text, r}
	}()
	text, r := play(7)
	second := <-again
	compare(t, text, second.text)
	if r.Digest != second.report.Digest {
		t.Errorf("one history has two digests, %s and %s", r.Digest, second.report.Digest)
	}
	for _, what := range r.Broken {
		t.Error(what)
	}
	if _, other := play(8); other.Digest == r.Digest {
		t.Error("another seed gave the same history")
	}
	if !testing.Short() && (r.Kills == 0 || len(r.Faults) < 9) {
		t.Errorf("%d processes were killed, and the faults are %v: the test has lost its faults", r.Kills, r.Faults)
	}
}

// compare shows where two histories part.
func compare(t *testing.T, a, b string) {
	t.Helper()
	if a == b {
		return
	}
	one, two := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			t.Fatalf("the histories part at line %d of %d and %d:\n%s\n\n%s", i+1, len(one), len(two),
				strings.Join(one[max(0, i-3):i+1], "\n"), strings.Join(two[max(0, i-3):i+1], "\n"))
		}
	}
	t.Fatalf("one history has %d lines, the other %d", len(one), len(two))
}

// TestCalm: without faults, the story of each customer goes as it is to go.
func TestCalm(t *testing.T) {
	r := Run(Options{Seed: 1, Processes: 1, Hours: 1, Orders: 50, Calm: true})
	for _, what := range r.Broken {
		t.Error(what)
	}
	if r.Orders == 0 || r.Kills > 0 {
		t.Errorf("%d orders were made, and %d processes killed", r.Orders, r.Kills)
	}
}

// TestLeads: the statuses follow SPEC's table.
func TestLeads(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"", "processed", true}, {"", "delivered", true}, {"pending_payment", "delivered", true}, {"delivered", "shipped", false},
		{"cancelled", "processed", false}, {"cancelled", "refunded", true}, {"picked_up", "ready_for_pickup", false},
		{"processed", "pending_payment", false}, {"refunded", "delivered", true}, {"paid", "paid", true},
	} {
		if leads(c.from, c.to) != c.want {
			t.Errorf("from %q to %s: %v", c.from, c.to, !c.want)
		}
	}
	for from, to := range next {
		for _, status := range to {
			if _, known := next[status]; !known {
				t.Errorf("%s follows %s, and nothing is known of it", status, from)
			}
		}
		if slices.Contains(to, from) {
			t.Errorf("%s follows itself", from)
		}
	}
}
