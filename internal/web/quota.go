package web

import (
	"context"
	"fmt"
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
	grants env.Flights[struct{}] // by window: every caller that finds a quota empty waits for the same grant

	mu     sync.Mutex
	minute int64
	byKey  map[commerce.RateWindow]*quota // of this minute; bounded by the number of partners
}

// quota is this process's part of a window: the numbers from next to used. If the part is
// empty, used is the number of requests granted to all processes, as far as known.
type quota struct{ next, used int64 }

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
		number, have := q.next(w, limit)
		if have == nil {
			return number, nil
		}
		_, err := q.grants.Do(ctx, q.env, fmt.Sprint(w), func() (struct{}, error) { return struct{}{}, q.fetch(have, w, limit) })
		if err != nil {
			return 0, err
		}
	}
}

// next takes a number. It returns the quota instead if that is empty, and other
// processes may have left some of the limit.
func (q *quotas) next(w commerce.RateWindow, limit int64) (number int64, empty *quota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	have := q.quota(w)
	switch number = have.next; {
	case number <= min(have.used, limit):
		have.next++
		return number, nil
	case have.used >= limit:
		return limit + 1, nil
	}
	return 0, have
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

// fetch asks for numbers on behalf of all waiting callers, so it continues when a
// caller has gone.
func (q *quotas) fetch(have *quota, w commerce.RateWindow, limit int64) error {
	q.mu.Lock()
	over, want := have.next <= have.used || have.used >= limit, quotaSize(have.used, limit)
	q.mu.Unlock()
	if over { // another grant has ended since
		return nil
	}
	ctx, cancel := q.env.WithTimeout(context.Background(), quotaPatience)
	defer cancel()
	granted, used, err := q.source.GrantQuota(ctx, w, limit, want)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	have.next, have.used = used-granted+1, used
	return nil
}
