package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Limits counts requests in fixed clock minutes (SPEC, Limits), in this process only.
type Limits struct {
	mu     sync.Mutex
	minute int64
	counts map[string]int64 // of the current minute
}

// maxCounted bounds the memory of one minute. All callers beyond it share one count.
const maxCounted = 100_000

// NewLimits makes an empty count.
func NewLimits() *Limits { return &Limits{counts: map[string]int64{}} }

// take counts one request of a caller, and sets the RateLimit headers.
func (l *Limits) take(h http.Header, who string, limit int64, now time.Time) error {
	minute := now.Unix() / 60
	l.mu.Lock()
	if minute != l.minute {
		l.minute = minute
		clear(l.counts)
	}
	who = l.counted(who)
	number := l.counts[who] + 1
	if number <= limit {
		l.counts[who] = number
	}
	l.mu.Unlock()
	return within(h, number, limit, now)
}

// exhausted reports whether the caller's next request will be refused.
func (l *Limits) exhausted(who string, limit int64, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Unix()/60 == l.minute && l.counts[l.counted(who)] >= limit
}

// counted returns the key under which a caller is counted. The lock is held.
func (l *Limits) counted(who string) string {
	if _, counted := l.counts[who]; !counted && len(l.counts) >= maxCounted {
		return "everybody else"
	}
	return who
}

// within sets the RateLimit headers for a request with this number in its minute, and
// refuses it above the limit.
func within(h http.Header, number, limit int64, now time.Time) error {
	values := [3]string{strconv.FormatInt(limit, 10), strconv.FormatInt(max(0, limit-number), 10), strconv.FormatInt(60-now.Unix()%60, 10)}
	h["Ratelimit-Limit"], h["Ratelimit-Remaining"], h["Ratelimit-Reset"] = values[0:1:1], values[1:2:2], values[2:3:3]
	if number > limit {
		h["Retry-After"] = []string{values[2]}
		return &Error{Status: http.StatusTooManyRequests, Code: "rate_limited",
			Message: "Rate limit exceeded: " + strconv.FormatInt(limit, 10) + " requests per minute"}
	}
	return nil
}

// Budget is an amount of memory or of connections that callers share. Each caller may
// take a share of it at most. The caller "" stands for many, so only the total bounds
// it.
type Budget struct {
	total, share int64

	mu      sync.Mutex
	taken   int64
	callers map[string]int64 // what each caller has taken; no entry: 0
}

// NewBudget makes a budget with nothing taken.
func NewBudget(total, share int64) *Budget {
	return &Budget{total: total, share: share, callers: map[string]int64{}}
}

// Take takes an amount for a caller. It returns false and takes nothing if less is left.
func (b *Budget) Take(caller string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken+n > b.total || b.callers[caller]+n > b.share {
		return false
	}
	b.taken += n
	b.count(caller, n)
	return true
}

// Taken is how much is taken by all callers.
func (b *Budget) Taken() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Give returns what was taken.
func (b *Budget) Give(caller string, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	b.count(caller, -n)
}

// count adds to what a caller has taken. The lock is held.
func (b *Budget) count(caller string, n int64) {
	if caller == "" {
		return
	}
	if b.callers[caller] += n; b.callers[caller] == 0 {
		delete(b.callers, caller)
	}
}

// used returns what all callers and this one have taken.
func (b *Budget) used(caller string) (all, own int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken, b.callers[caller]
}
