package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Limits counts requests in fixed clock minutes (SPEC, Limits).
type Limits struct {
	mu     sync.Mutex
	minute int64
	counts map[string]int64 // of this minute; forgotten with it
}

// maxCounted bounds the memory of one minute. Past it, whoever is new shares
// one count.
const maxCounted = 100_000

// NewLimits makes an empty count.
func NewLimits() *Limits { return &Limits{counts: map[string]int64{}} }

// take counts one request of who, and sets the RateLimit headers.
func (l *Limits) take(h http.Header, who string, limit int64, now time.Time) error {
	minute, reset := now.Unix()/60, 60-now.Unix()%60
	l.mu.Lock()
	if minute != l.minute {
		l.minute = minute
		clear(l.counts)
	}
	if _, counted := l.counts[who]; !counted && len(l.counts) >= maxCounted {
		who = "everybody else"
	}
	used := l.counts[who]
	if used < limit {
		used++
		l.counts[who] = used
	} else {
		used = limit + 1
	}
	l.mu.Unlock()
	h["Ratelimit-Limit"] = []string{strconv.FormatInt(limit, 10)}
	h["Ratelimit-Remaining"] = []string{strconv.FormatInt(max(0, limit-used), 10)}
	h["Ratelimit-Reset"] = []string{strconv.FormatInt(reset, 10)}
	if used > limit {
		h["Retry-After"] = []string{strconv.FormatInt(reset, 10)}
		return &Error{Status: http.StatusTooManyRequests, Code: "rate_limited",
			Message: "Rate limit exceeded: " + strconv.FormatInt(limit, 10) + " requests per minute"}
	}
	return nil
}
