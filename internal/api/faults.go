package api

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// beyondFaults reports whether faults leave the route alone: a test must be able to end them, and a
// certification to go on.
func (r Route) beyondFaults() bool {
	return strings.HasPrefix(r.Path, "/v1/sandbox/") || strings.HasPrefix(r.Path, "/v1/certify/")
}

// hit does to a call with a test key what the partner has asked for, or a certification. The kind that it
// returns is what is left to be done: to the answer (see alter), or to the connection.
func (a *API) hit(r *http.Request, partnerID, operation string) (commerce.FaultKind, error) {
	now := a.now()
	known, err := a.faults.of(r.Context(), a.reader.Faults, partnerID, now)
	if err != nil || !known.mayHit(operation, commerce.MillisOf(now)) {
		return "", err
	}
	f, err := a.service.TakeFault(r.Context(), partnerID, operation)
	if err != nil {
		return "", err
	}
	switch f.Kind {
	case commerce.FaultSlow:
		return "", a.env.Sleep(r.Context(), f.Delay)
	case commerce.FaultError:
		return "", &web.Error{Status: http.StatusInternalServerError, Code: "unavailable", Message: "The sandbox plays a service that cannot use its database; nothing was changed, try again"}
	case commerce.FaultLimited:
		return "", &web.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: 2, Message: "The sandbox plays a limit that is used up; wait"}
	case commerce.FaultStock:
		return "", commerce.Conflict(commerce.CodeInsufficientStock, "Insufficient stock: the sandbox plays goods that are sold out")
	case commerce.FaultShortPage:
		query := r.URL.Query()
		query.Set("limit", strconv.Itoa(certify.PageOfSync))
		if query.Has("updated_since") { // so that there are products, also for books that have them all
			query.Set("updated_since", "1")
		}
		r.URL.RawQuery = query.Encode()
	}
	return f.Kind, nil
}

// alter puts what is not documented yet into an answer, which is otherwise as it was.
func alter(body []byte, kind commerce.FaultKind) []byte {
	switch end := bytes.LastIndexByte(body, '}'); {
	case kind == commerce.FaultExtraField && end > 0:
		return slices.Concat(body[:end], []byte(`,"added_later":{"note":"A field that is not documented yet"}`), body[end:])
	case kind == commerce.FaultNewValue:
		return bytes.Replace(body, []byte(`"status":"`), []byte(`"status":"later_`), 1)
	}
	return body
}

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
	known = knownFaults{stored.Active(commerce.MillisOf(now)), now.Add(commerce.FaultFreshness)}
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
