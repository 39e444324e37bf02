package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// rates is the table that all processes share.
type rates struct {
	mu     sync.Mutex
	used   map[commerce.RateWindow]int64
	grants int
	before func(context.Context) error // called before each request for a quota
}

func newRates() *rates {
	return &rates{used: map[commerce.RateWindow]int64{}, before: func(context.Context) error { return nil }}
}

func (r *rates) GrantQuota(ctx context.Context, w commerce.RateWindow, limit, want int64) (int64, int64, error) {
	err := r.before(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grants++
	if err != nil {
		return 0, 0, err
	}
	granted := max(0, min(want, limit-r.used[w]))
	r.used[w] += granted
	return granted, r.used[w], nil
}

func caller(partner string, mode commerce.Mode, limit int64) Caller {
	return Caller{Partner: commerce.Partner{ID: partner, RateLimit: limit}, Mode: mode, Key: &commerce.APIKey{}}
}

// admitted counts how many of n requests of a partner pass.
func admitted(t *testing.T, q *quotas, c Caller, n int, now time.Time) (count int) {
	t.Helper()
	for range n {
		err := q.take(context.Background(), http.Header{}, c, now)
		if err == nil {
			count++
		} else if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusTooManyRequests {
			t.Error(err)
		}
	}
	return count
}

// Processes share one partner's limit exactly, even if they disagree on the limit.
// Numbers that a process got and did not use are lost for that minute.
func TestQuotas(t *testing.T) {
	type step struct {
		process int
		second  int64
		limit   int64
		n       int
		want    int
	}
	for name, steps := range map[string][]step{
		"one process":              {{0, 0, 3, 2, 2}, {0, 30, 3, 5, 1}, {0, 59, 3, 5, 0}, {0, 60, 3, 10, 3}, {0, 119, 3, 1, 0}, {0, 120, 3, 1, 1}, {0, 300, 3, 4, 3}},
		"a large limit":            {{0, 0, 10_000, 10_010, 10_000}},
		"the other comes too late": {{0, 0, 240, 500, 240}, {1, 1, 240, 10, 0}, {1, 60, 240, 500, 240}, {0, 61, 240, 10, 0}},
		// The process gets 1 and 29 of 239, and does not use 28 of them.
		"little is stranded":   {{0, 0, 240, 2, 2}, {1, 1, 240, 500, 210}, {0, 2, 240, 500, 28}},
		"idle strands nothing": {{0, 0, 240, 1, 1}, {1, 0, 240, 1, 1}, {2, 1, 240, 500, 238}},
		"raised":               {{0, 0, 3, 5, 3}, {0, 1, 5, 5, 2}, {1, 2, 6, 5, 1}},
		"lowered":              {{0, 0, 100, 2, 2}, {0, 1, 5, 9, 3}, {1, 1, 5, 9, 0}},
		"lowered and back":     {{0, 0, 100, 2, 2}, {0, 1, 2, 9, 0}, {0, 2, 100, 200, 98}},
		"known to one process": {{0, 0, 100, 2, 2}, {1, 1, 10, 9, 0}, {0, 2, 10, 200, 8}},
	} {
		table := newRates()
		processes := []*quotas{newQuotas(env.Env{}, table), newQuotas(env.Env{}, table), newQuotas(env.Env{}, table)}
		for i, s := range steps {
			got := admitted(t, processes[s.process], caller("ptn_a", commerce.Live, s.limit), s.n, at(s.second))
			if got != s.want {
				t.Errorf("%s: step %d: %d of %d passed, want %d", name, i, got, s.n, s.want)
			}
		}
	}
}

func TestQuotasAreApart(t *testing.T) {
	q := newQuotas(env.Env{}, newRates())
	for _, c := range []Caller{caller("ptn_a", commerce.Live, 3), caller("ptn_a", commerce.Test, 3), caller("ptn_b", commerce.Live, 3)} {
		if got := admitted(t, q, c, 10, at(0)); got != 3 {
			t.Errorf("%s %s: %d passed, want 3", c.Partner.ID, c.Mode, got)
		}
	}
}

// Remaining counts down the requests that are left to all processes.
func TestQuotaHeaders(t *testing.T) {
	table := newRates()
	processes := []*quotas{newQuotas(env.Env{}, table), newQuotas(env.Env{}, table)}
	for i, want := range []struct {
		process          int
		remaining, retry string
	}{{0, "3", ""}, {1, "2", ""}, {0, "1", ""}, {1, "0", ""}, {0, "0", "47"}, {1, "0", "47"}} {
		h := http.Header{}
		err := processes[want.process].take(context.Background(), h, caller("ptn_a", commerce.Live, 4), at(13))
		if h.Get("RateLimit-Limit") != "4" || h.Get("RateLimit-Remaining") != want.remaining || h.Get("RateLimit-Reset") != "47" ||
			h.Get("Retry-After") != want.retry || (err != nil) != (want.retry != "") {
			t.Errorf("request %d: %v, %v", i, err, h)
		}
	}
}

// Exactly the limit passes, even if all requests reach two processes at once, except
// for numbers that are left in a process without further requests. Few quotas are
// requested.
func TestQuotasAtOnce(t *testing.T) {
	table := newRates()
	processes := []*quotas{newQuotas(env.Env{}, table), newQuotas(env.Env{}, table)}
	var wg sync.WaitGroup
	var count atomic.Int64
	for i := range 40 {
		wg.Go(func() {
			count.Add(int64(admitted(t, processes[i%2], caller("ptn_a", commerce.Live, 2400), 100, at(5))))
		})
	}
	wg.Wait()
	left := int64(0)
	for _, q := range processes {
		for _, p := range q.byKey {
			left += max(0, p.used-p.next+1)
		}
	}
	if count.Load()+left != 2400 || left > 2400/quotasOfRest {
		t.Errorf("%d passed and %d are left, want 2400", count.Load(), left)
	}
	if table.grants > 150 {
		t.Errorf("%d grants", table.grants)
	}
}

// A request that arrives while its quota is being fetched waits for that one only,
// even if the first caller has gone. If the fetch fails, all of them fail.
func TestCallersShareAGrant(t *testing.T) {
	for _, failure := range []error{nil, errors.New("gone")} {
		synctest.Test(t, func(t *testing.T) {
			table := newRates()
			release := make(chan struct{})
			table.before = func(context.Context) error { <-release; return failure }
			q := newQuotas(env.Env{}, table)
			c := caller("ptn_a", commerce.Live, 1)
			gone, leave := context.WithCancel(context.Background())
			results := make(chan error, 10)
			go func() { results <- q.take(gone, http.Header{}, c, at(0)) }()
			synctest.Wait()
			for range 9 {
				go func() { results <- q.take(context.Background(), http.Header{}, c, at(0)) }()
			}
			synctest.Wait()
			leave()
			close(release)
			passed, failed := 0, 0
			for range 10 {
				err := <-results
				if err == nil {
					passed++
				} else if errors.Is(err, failure) || errors.Is(err, context.Canceled) {
					failed++
				}
			}
			wantPassed, minFailed := 1, 0
			if failure != nil {
				wantPassed, minFailed = 0, 10
			}
			if passed != wantPassed || failed < minFailed || table.grants != 1 {
				t.Errorf("%v: %d passed, %d failed, %d grants", failure, passed, failed, table.grants)
			}
		})
	}
}

// A database that does not answer delays a request for a bounded time, and the next
// request tries again.
func TestQuotaWithoutStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateTest()
		g.rates.before = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		begun := time.Now()
		if got := g.knock("good", "a"); got != 500 || time.Since(begun) != quotaPatience {
			t.Errorf("%d after %v", got, time.Since(begun))
		}
		g.rates.before = func(context.Context) error { return nil }
		if got := g.knock("good", "a"); got != 0 {
			t.Errorf("when it is back: %d", got)
		}
	})
}

// Past minutes are dropped.
func TestQuotaMemory(t *testing.T) {
	q := newQuotas(env.Env{}, newRates())
	for minute := range int64(100) {
		admitted(t, q, caller("ptn_a", commerce.Live, 3), 1, at(60*minute))
	}
	if len(q.byKey) != 1 {
		t.Errorf("%d windows are held", len(q.byKey))
	}
}
