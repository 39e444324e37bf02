package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"purveyor/internal/commerce"
)

// KeyFinder finds whose key has a hash; ErrNoKey if nobody's.
type KeyFinder interface {
	FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error)
}

// ErrNoKey is the answer of a KeyFinder to a key that is nobody's.
var ErrNoKey = errors.New("no such key")

// keyFreshness is how long a key is believed before it is looked up again: a
// suspended partner or a rotated key stops working within it.
const keyFreshness = 2 * time.Second

// Gate lets requests in: it knows their partner by the key, and counts them.
type Gate struct {
	finder KeyFinder
	now    func() time.Time
	// Apart, so that strangers cannot use up what is counted for partners.
	partners  *leases
	strangers *Limits

	mu    sync.RWMutex
	known map[commerce.KeyHash]knownKey // good keys only, so partners bound it
}

type knownKey struct {
	caller Caller
	until  time.Time
}

// NewGate makes a gate.
func NewGate(finder KeyFinder, leaser Leaser, now func() time.Time) *Gate {
	return &Gate{finder: finder, now: now, partners: newLeases(leaser), strangers: NewLimits(), known: map[commerce.KeyHash]knownKey{}}
}

// wrongKeysPerMinute bounds what one address can try. A good key from the
// same address is never held up by it.
const wrongKeysPerMinute = 120

// Admit tells who the caller is, or answers 401 or 429 by its error. The
// RateLimit headers are set on every answer.
func (g *Gate) Admit(w *Writer, r *http.Request) (Caller, error) {
	caller, err := g.caller(r)
	now := g.now()
	switch {
	case errors.Is(err, ErrNoKey):
		if err := g.strangers.take(w.Header(), address(r), wrongKeysPerMinute, now); err != nil {
			return caller, err
		}
		return caller, &Error{Status: http.StatusUnauthorized, Code: "unauthorized", Message: "Missing or invalid x-api-key"}
	case err != nil:
		return caller, err
	}
	w.Partner = caller.Partner.ID
	return caller, g.partners.take(r.Context(), w.Header(), caller, now)
}

func (g *Gate) caller(r *http.Request) (Caller, error) {
	given := r.Header["X-Api-Key"]
	if len(given) != 1 || given[0] == "" {
		return Caller{}, ErrNoKey
	}
	hash := commerce.HashKey(given[0])
	now := g.now()
	g.mu.RLock()
	known, ok := g.known[hash]
	g.mu.RUnlock()
	if ok && now.Before(known.until) {
		return known.caller, nil
	}
	partner, mode, err := g.finder.FindKey(r.Context(), hash)
	if err == nil && partner.Suspended {
		err = ErrNoKey
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		delete(g.known, hash)
		return Caller{}, err
	}
	caller := Caller{partner, mode}
	g.known[hash] = knownKey{caller, now.Add(keyFreshness)}
	return caller, nil
}
