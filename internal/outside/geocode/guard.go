package geocode

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"purveyor/internal/env"
)

const (
	maxFailures = 5                // consecutive failures that open the breaker
	leftAlone   = 30 * time.Second // until the next probe
	maxPause    = 10 * time.Minute // upper bound on what a geocoder may ask for
)

var errLeftAlone = errors.New("calls to the geocoder are paused after failures")

// Guard is a circuit breaker. It pauses calls to a geocoder that failed several times
// in a row, or that asked for a pause, so that a dead geocoder delays few requests.
// Each of these may take three seconds.
type Guard struct {
	env  env.Env
	next Geocoder
	log  *slog.Logger

	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // no calls before this time
}

// NewGuard guards a geocoder. The log may be nil.
func NewGuard(e env.Env, next Geocoder, log *slog.Logger) *Guard {
	return &Guard{env: e, next: next, log: cmp.Or(log, slog.Default())}
}

// Find asks the geocoder, unless calls are paused.
func (g *Guard) Find(ctx context.Context, q Query) (Place, error) {
	if !g.admit() {
		return Place{}, errLeftAlone
	}
	limited, cancel := g.env.WithTimeout(ctx, callLimit)
	defer cancel()
	place, err := g.next.Find(limited, q)
	known := err == nil || errors.Is(err, ErrNotFound)
	if known || !errors.Is(err, errBusy) && ctx.Err() == nil { // else no call was made, or the caller has gone
		g.record(known, err)
	}
	return place, err
}

// admit lets one caller probe the geocoder after the pause, and refuses the others
// until it has an answer.
func (g *Guard) admit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.env.Now()
	if now.Before(g.until) {
		return false
	}
	if g.failures >= maxFailures {
		g.until = now.Add(leftAlone)
	}
	return true
}

// record counts a call. An answer ends the pause.
func (g *Guard) record(answered bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if answered {
		if g.failures >= maxFailures {
			g.log.Info("the geocoder answers again")
		}
		g.failures, g.until = 0, time.Time{}
		return
	}
	g.failures++
	var pause time.Duration
	switch later, asked := errors.AsType[*laterError](err); {
	case asked && later.after > 0:
		g.failures = max(g.failures, maxFailures) // one more failure pauses again
		pause = min(later.after, maxPause)
	case g.failures >= maxFailures:
		pause = leftAlone
	}
	g.until = g.env.Now().Add(pause)
	g.log.Warn("a geocoder cannot be asked", "error", err, "failures", g.failures, "pause", pause)
}
