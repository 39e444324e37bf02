package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// QuotaSource grants processes their quotas of a minute: the numbers from
// used-granted+1 to used belong to the caller, and to no other process. When
// the limit is used up, granted is 0 and used is at least the limit.
type QuotaSource interface {
	GrantQuota(ctx context.Context, window commerce.RateWindow, limit, want int64) (granted, used int64, err error)
}

// quotas counts the requests of partners over all processes. Each request gets
// a number that is unique in its minute, and passes if the number is within the
// limit; so the count is exact even while processes know different limits. A
// process gets many numbers at a time, because each grant is a database write.
type quotas struct {
	env    env.Env
	source QuotaSource
	mu     sync.Mutex
	minute int64
	byKey  map[commerce.RateWindow]*quota // of this minute; bounded by the number of partners
}

// quota is this process's part of a window: the numbers from next to used. If the part is
// empty, used is the number of requests granted to all processes, as far as known.
type quota struct {
	next, used int64
	pending    *grant // nil: none is under way
}

// grant is a request for numbers. Every caller that finds the quota empty waits
// for it.
type grant struct {
	done chan struct{}
	err  error // to be read when done
}

const (
	// A process asks for an eighth of the remaining numbers at a time: that takes
	// few grants, and a process without further requests wastes little.
	quotasOfRest = 8
	maxQuota     = 1_000_000
	// quotaPatience is how long a request waits for the database.
	quotaPatience = 2 * time.Second
)

func newQuotas(e env.Env, source QuotaSource) *quotas {
	return &quotas{env: e, source: source, byKey: map[commerce.RateWindow]*quota{}}
}

// take counts one request of the caller, and sets the RateLimit headers.
func (q *quotas) take(ctx context.Context, h http.Header, c Caller, now time.Time) error {
	w := commerce.RateWindow{PartnerID: c.Partner.ID, Mode: c.Mode, Minute: now.Unix() / 60}
	number, err := q.number(ctx, w, c.Partner.RateLimit)
	if err != nil {
		return err
	}
	return within(h, number, c.Partner.RateLimit, now)
}

// number returns the number of a request. It is above the limit if the limit is
// used up.
func (q *quotas) number(ctx context.Context, w commerce.RateWindow, limit int64) (int64, error) {
	for {
		q.mu.Lock()
		have := q.quota(w)
		if number := have.next; number <= min(have.used, limit) {
			have.next++
			q.mu.Unlock()
			return number, nil
		}
		if have.used >= limit {
			q.mu.Unlock()
			return limit + 1, nil
		}
		pending, first := have.pending, have.pending == nil
		if first {
			pending = &grant{done: make(chan struct{})}
			have.pending = pending
		}
		want := quotaSize(have.used, limit)
		q.mu.Unlock()
		if first {
			q.fetch(have, w, limit, want)
		}
		if err := q.env.AwaitIn(ctx, pending.done); err != nil {
			return 0, err
		}
		if pending.err != nil {
			return 0, pending.err
		}
	}
}

// quota returns the quota of a window. The lock is held.
func (q *quotas) quota(w commerce.RateWindow) *quota {
	if w.Minute != q.minute {
		q.minute = w.Minute
		clear(q.byKey)
	}
	have := q.byKey[w]
	if have == nil {
		have = &quota{next: 1}
		q.byKey[w] = have
	}
	return have
}

// quotaSize is 1 at first: the answer shows how much the other processes have left.
func quotaSize(used, limit int64) int64 {
	if used == 0 {
		return 1
	}
	return min(max(1, (limit-used)/quotasOfRest), maxQuota)
}

// fetch asks for numbers on behalf of all waiting callers, so it continues when
// its own caller has gone.
func (q *quotas) fetch(have *quota, w commerce.RateWindow, limit, want int64) {
	ctx, cancel := q.env.WithTimeout(context.Background(), quotaPatience)
	defer cancel()
	granted, used, err := q.source.GrantQuota(ctx, w, limit, want)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		have.next, have.used = used-granted+1, used
	}
	have.pending.err = err
	close(have.pending.done)
	have.pending = nil
}
