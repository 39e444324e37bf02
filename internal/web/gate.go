package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// KeyFinder finds a key and its partner by the key's hash. It returns ErrNoKey if there is
// no such key.
type KeyFinder interface {
	FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error)
	// Used notes that a key was used in a minute, Unix ms. It must not wait.
	Used(key commerce.APIKey, minute commerce.Millis)
}

// ErrNoKey means that a key is missing, or that no partner has it.
var ErrNoKey = errors.New("no such key")

// keyFreshness is how long a key is accepted without another lookup: a suspended
// partner or a rotated key stops working within this time. A key that does not exist
// is not looked up again for as long.
const keyFreshness = 2 * time.Second

// Gate admits requests: it finds the partner by the key, and counts the request.
type Gate struct {
	finder KeyFinder
	now    func() time.Time
	// Counted separately, so that strangers cannot use up the limits of partners.
	partners  *quotas
	strangers *Limits
	// queue holds an element while a key is looked up for an address beyond its
	// limit.
	queue chan struct{}

	mu    sync.RWMutex
	known map[commerce.KeyHash]*knownKey // good keys; bounded by the number of keys
	wrong map[commerce.KeyHash]time.Time // keys that do not exist, and until when that holds
}

type knownKey struct {
	caller Caller
	until  time.Time
	used   atomic.Int64 // the minute of the last request that is noted, Unix ms
}

// maxWrong bounds the memory for keys that do not exist.
const maxWrong = 1024

// NewGate makes a gate. Requests count in the minutes of now.
func NewGate(e env.Env, finder KeyFinder, source QuotaSource, now func() time.Time) *Gate {
	return &Gate{finder: finder, now: now, partners: newQuotas(e, source), strangers: NewLimits(), queue: make(chan struct{}, 1),
		known: map[commerce.KeyHash]*knownKey{}, wrong: map[commerce.KeyHash]time.Time{}}
}

// wrongKeysPerMinute bounds how many wrong keys one address can try. It never delays
// a good key from the same address.
const wrongKeysPerMinute = 120

// Admit returns the caller, or an error that is answered with 401 or 429. It sets the
// RateLimit headers in either case.
func (g *Gate) Admit(w *Writer, r *http.Request) (Caller, error) {
	caller, err := g.Caller(r)
	now := g.now()
	switch {
	case errors.Is(err, ErrNoKey):
		if err := g.strangers.take(w.Header(), Address(r), wrongKeysPerMinute, now); err != nil {
			return caller, err
		}
		return caller, unauthorized(r.Header)
	case err != nil:
		return caller, err
	}
	if err := g.Count(w, r, caller); err != nil {
		return caller, err
	}
	if !caller.Key.Admits(Address(r)) {
		return caller, &Error{Status: http.StatusForbidden, Code: "address_not_allowed", Message: "This key may not be used from " + Address(r)}
	}
	return caller, nil
}

// Count counts the request of a caller, and refuses it beyond the limit (429). It sets the RateLimit
// headers in either case.
func (g *Gate) Count(w *Writer, r *http.Request, caller Caller) error {
	w.Partner, w.Mode = caller.Partner.ID, caller.Mode
	return g.partners.take(r.Context(), w.Header(), caller, g.now())
}

// unauthorized says what is wrong with the key, and what to do.
func unauthorized(h http.Header) error {
	message := "Invalid x-api-key"
	switch _, elsewhere := h["Authorization"]; {
	case len(h["X-Api-Key"]) > 1:
		message = "Invalid x-api-key: the header was sent more than once"
	case h.Get("X-Api-Key") != "":
	case elsewhere:
		message = "Missing x-api-key: send the key in the header x-api-key, not in Authorization"
	default:
		message = "Missing x-api-key: send the key in this header"
	}
	return &Error{Status: http.StatusUnauthorized, Code: "unauthorized", Message: message}
}

// Caller finds the caller by the key without counting the request. It returns
// ErrNoKey if the key is missing or wrong.
func (g *Gate) Caller(r *http.Request) (Caller, error) {
	given := r.Header["X-Api-Key"]
	if len(given) != 1 || !commerce.IsKey(given[0]) {
		return Caller{}, ErrNoKey
	}
	hash := commerce.HashKey(given[0])
	now := g.now()
	g.mu.RLock()
	known, seen := g.known[hash]
	wrong := now.Before(g.wrong[hash])
	g.mu.RUnlock()
	switch {
	case wrong:
		return Caller{}, ErrNoKey
	case seen && now.Before(known.until):
		g.use(known, now)
		return known.caller, nil
	case !seen && g.strangers.exhausted(Address(r), wrongKeysPerMinute, now):
		// One lookup at a time: an address that tries random keys costs the database
		// no more than that, and its good keys are still found.
		select {
		case g.queue <- struct{}{}:
			defer func() { <-g.queue }()
		case <-r.Context().Done():
			return Caller{}, r.Context().Err()
		}
	}
	return g.lookUp(r.Context(), hash, now)
}

func (g *Gate) lookUp(ctx context.Context, hash commerce.KeyHash, now time.Time) (Caller, error) {
	partner, key, err := g.finder.FindKey(ctx, hash)
	if err != nil && !errors.Is(err, ErrNoKey) {
		return Caller{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil:
		if len(g.wrong) >= maxWrong {
			clear(g.wrong)
		}
		g.wrong[hash] = now.Add(keyFreshness)
		fallthrough
	case partner.Suspended, key.State(commerce.MillisOf(now)) != commerce.KeyActive:
		delete(g.known, hash)
		return Caller{}, ErrNoKey
	}
	known := &knownKey{caller: Caller{Partner: partner.Under(&key), Mode: key.Mode, Key: &key}, until: now.Add(keyFreshness)}
	known.used.Store(int64(key.UsedOn))
	if before := g.known[hash]; before != nil {
		known.used.Store(max(before.used.Load(), int64(key.UsedOn)))
	}
	if end := key.ExpiresOn; end != 0 && end.Time().Before(known.until) {
		known.until = end.Time()
	}
	g.known[hash] = known
	g.use(known, now)
	return known.caller, nil
}

// use notes the minute of a request, once for each minute.
func (g *Gate) use(k *knownKey, now time.Time) {
	minute := now.Truncate(time.Minute).UnixMilli()
	if before := k.used.Load(); before < minute && k.used.CompareAndSwap(before, minute) {
		g.finder.Used(*k.caller.Key, commerce.Millis(minute))
	}
}

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
