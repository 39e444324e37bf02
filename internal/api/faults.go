package api

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// beyondFaults reports whether faults leave the route alone: a test must be able to end them.
func (r Route) beyondFaults() bool {
	return strings.HasPrefix(r.Path, "/v1/sandbox/")
}

// hit does to a call with a test key what the partner has asked for. cut: the call is to be done, and
// its answer lost.
func (a *API) hit(ctx context.Context, partnerID, operation string) (cut bool, err error) {
	now := a.now()
	known, err := a.faults.of(ctx, a.reader.Faults, partnerID, now)
	if err != nil || !known.mayHit(operation, commerce.MillisOf(now)) {
		return false, err
	}
	f, err := a.service.TakeFault(ctx, partnerID, operation)
	if err != nil {
		return false, err
	}
	switch f.Kind {
	case commerce.FaultSlow:
		return false, a.env.Sleep(ctx, f.Delay)
	case commerce.FaultError:
		return false, &web.Error{Status: http.StatusInternalServerError, Code: "unavailable", Message: "The sandbox plays a service that cannot use its database; nothing was changed, try again"}
	case commerce.FaultLimited:
		return false, &web.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: 2, Message: "The sandbox plays a limit that is used up; wait"}
	case commerce.FaultStock:
		return false, commerce.Conflict(commerce.CodeInsufficientStock, "Insufficient stock: the sandbox plays goods that are sold out")
	}
	return f.Kind == commerce.FaultLostAnswer, nil
}

// faultFreshness is how long the faults of a partner are known without another look, as long as keys are.
const faultFreshness = 2 * time.Second

// faultCache knows the faults of the partners whose test keys call. The zero value is empty.
type faultCache struct {
	mu    sync.RWMutex
	known map[string]knownFaults // bounded by the number of partners
}

type knownFaults struct {
	list  []commerce.Fault
	until time.Time
}

// mayHit reports whether a call may be hit: whether it is, is counted in the database.
func (k knownFaults) mayHit(operation string, now commerce.Millis) bool {
	for _, f := range k.list {
		if f.Hits(operation, now) {
			return true
		}
	}
	return false
}

func (c *faultCache) of(ctx context.Context, read func(context.Context, string) (commerce.Faults, error), partnerID string, now time.Time) (knownFaults, error) {
	c.mu.RLock()
	known, seen := c.known[partnerID]
	c.mu.RUnlock()
	if seen && now.Before(known.until) {
		return known, nil
	}
	stored, err := read(ctx, partnerID)
	if err != nil {
		return known, err
	}
	known = knownFaults{stored.Active(commerce.MillisOf(now)), now.Add(faultFreshness)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]knownFaults{}
	}
	c.known[partnerID] = known
	return known, nil
}

// forget has the faults of a partner read again by the next call.
func (c *faultCache) forget(partnerID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, partnerID)
}
