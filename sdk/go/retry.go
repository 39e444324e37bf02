package purveyor

import (
	"net/http"
	"time"
)

// mayRetry reports whether a call is sent again by itself.
func (r *request) mayRetry(e *Error) bool {
	if r.method != http.MethodGet && r.idempotencyKey == "" {
		return false
	}
	switch e.Status {
	case 0:
		return e.Code == CodeNoAnswer
	case http.StatusConflict:
		return e.Code == ErrorCodeInProgress
	case http.StatusTooManyRequests, http.StatusBadGateway:
		return true
	case http.StatusInternalServerError:
		return e.Code == ErrorCodeUnavailable || e.Code == ErrorCodeOutcomeUnknown
	}
	return false
}

// blame completes an error with what it means for a repeat.
func (r *request) blame(e *Error) *Error {
	e.IdempotencyKey = r.idempotencyKey
	passing := e.Status == 0 || e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Code == ErrorCodeInProgress || e.Code == CodeBadAnswer
	once := r.method == http.MethodGet || r.idempotencyKey != "" || r.harmless
	untouched := e.Status == http.StatusTooManyRequests || e.Status == http.StatusInternalServerError && e.Code == ErrorCodeUnavailable
	e.SafeToRepeat = passing && (once || untouched)
	return e
}

// Waits before another try, unless the service says how long.
const (
	shortestPause = 500 * time.Millisecond
	longestPause  = 8 * time.Second
)

// pause returns how long to wait after some tries: what the service asks for, else a random
// time from 0.5 s to 2 s after the first try, and to 8 s after the others.
func pause(tries int, asked time.Duration, random float64) time.Duration {
	if asked > 0 {
		return asked
	}
	longest := longestPause
	if tries == 1 {
		longest /= 4
	}
	return shortestPause + time.Duration(random*float64(longest-shortestPause))
}
