package web

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func at(seconds int64) time.Time { return time.Unix(1_772_463_840+seconds, 0) } // the start of a minute, plus seconds

// passed counts how many of n requests pass.
func passed(l *Limits, who string, limit int64, n int, now time.Time) (count int) {
	for range n {
		if l.take(http.Header{}, who, limit, now) == nil {
			count++
		}
	}
	return count
}

func TestLimitPerClockMinute(t *testing.T) {
	l := NewLimits()
	for _, step := range []struct {
		second int64
		n      int
		want   int
	}{{0, 2, 2}, {30, 5, 1}, {59, 5, 0}, {60, 10, 3}, {119, 1, 0}, {120, 1, 1}, {300, 4, 3}} {
		if got := passed(l, "a", 3, step.n, at(step.second)); got != step.want {
			t.Errorf("at %d s: %d of %d passed, want %d", step.second, got, step.n, step.want)
		}
	}
}

// The end of a minute and the start of the next are two windows.
func TestLimitEdges(t *testing.T) {
	l := NewLimits()
	edge := at(60)
	if got := passed(l, "a", 3, 9, edge.Add(-time.Nanosecond)) + passed(l, "a", 3, 9, edge); got != 6 {
		t.Errorf("%d passed around the edge, want 6", got)
	}
}

func TestLimitIsApart(t *testing.T) {
	l := NewLimits()
	for _, who := range []string{"ptn_a live", "ptn_a test", "ptn_b live", "address 10.0.0.1"} {
		if got := passed(l, who, 3, 10, at(0)); got != 3 {
			t.Errorf("%s: %d passed, want 3", who, got)
		}
	}
}

func TestLimitHeaders(t *testing.T) {
	l := NewLimits()
	for i, want := range []struct{ remaining, retry string }{{"1", ""}, {"0", ""}, {"0", "47"}, {"0", "47"}} {
		h := http.Header{}
		err := l.take(h, "a", 2, at(13))
		if h.Get("RateLimit-Limit") != "2" || h.Get("RateLimit-Remaining") != want.remaining || h.Get("RateLimit-Reset") != "47" || h.Get("Retry-After") != want.retry {
			t.Errorf("request %d: %v", i, h)
		}
		if (err != nil) != (want.retry != "") {
			t.Errorf("request %d: %v", i, err)
		}
	}
	h := http.Header{}
	_ = l.take(h, "b", 2, at(59)) // the headers show the result
	if h.Get("RateLimit-Reset") != "1" {
		t.Errorf("%v", h)
	}
}

// Exactly the limit passes, even if all requests come at once.
func TestLimitAtOnce(t *testing.T) {
	l := NewLimits()
	var wg sync.WaitGroup
	var count atomic.Int64
	for range 20 {
		wg.Go(func() { count.Add(int64(passed(l, "a", 240, 50, at(5)))) })
	}
	wg.Wait()
	if count.Load() != 240 {
		t.Errorf("%d passed, want 240", count.Load())
	}
}

// A changed limit applies from the next request on.
func TestLimitChanges(t *testing.T) {
	l := NewLimits()
	if got := passed(l, "a", 3, 5, at(0)) + passed(l, "a", 5, 5, at(1)) + passed(l, "a", 2, 5, at(2)); got != 5 {
		t.Errorf("%d passed, want 5", got)
	}
}

// Many strangers take bounded memory.
func TestLimitMemory(t *testing.T) {
	l := NewLimits()
	for i := range maxCounted + 5000 {
		_ = l.take(http.Header{}, fmt.Sprint("address ", i), 1, at(0)) // refusals do not matter here
	}
	if len(l.counts) > maxCounted+1 {
		t.Errorf("%d are counted", len(l.counts))
	}
	if passed(l, "address 7", 1, 1, at(0)) != 0 || passed(l, "address 7", 1, 1, at(60)) != 1 {
		t.Error("who is counted stays counted until the minute ends")
	}
}

// Any number of strangers leaves the partners' limits alone.
func TestStrangersDoNotUseUpPartners(t *testing.T) {
	g := newGateTest()
	for i := range maxCounted + wrongKeysPerMinute {
		_ = g.strangers.take(http.Header{}, fmt.Sprint("address ", i), wrongKeysPerMinute, at(0)) // refusals do not matter here
	}
	if statuses := []int{g.knock("other", "address 1"), g.knock("other", "address 1"), g.knock("other", "address 1")}; fmt.Sprint(statuses) != "[0 0 429]" {
		t.Errorf("the partner's three requests of two: %v", statuses)
	}
}
