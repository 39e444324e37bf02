// Package webhook posts signed events to the URLs that partners gave. Such a
// URL is hostile until shown otherwise: it may name the inside of the
// network, never answer, or answer without end.
package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"purveyor/internal/commerce"
)

const (
	timeout = 15 * time.Second // look-up, connection, TLS and answer together

	maxAnswer = 4 << 10
)

// Request is one event for one endpoint.
type Request struct {
	URL            string
	ID             string    // of the event, the same on every try
	Body           []byte    // JSON
	At             int64     // Unix ms of this try
	Secret         string    // empty: unsigned
	PreviousSecret string    // while the secret is rotated, else empty
	Until          time.Time // when the try ends, if its own time lasts longer; zero: it may take that
}

// Result is what came of a request. It was delivered if Error is empty.
type Result struct {
	Status     int64  // 0: no answer
	Error      string // in plain words, fit to be stored
	Answer     string // how the body began, by commerce.CleanText
	RetryAfter int64  // milliseconds that the answer asks to wait; 0: none
	TookMs     int64
}

// Sender sends webhooks. It may be used by many goroutines.
type Sender struct {
	transport *transport
	timeout   time.Duration
	signers   signers
}

// NewSender makes a sender. Unless private addresses are allowed it connects
// to public ones only.
func NewSender(allowPrivate bool) *Sender {
	dialer := &net.Dialer{Control: refusePrivate}
	if allowPrivate {
		dialer.Control = nil
	}
	return newSender(dialer)
}

func newSender(dialer *net.Dialer) *Sender {
	return &Sender{timeout: timeout, transport: newTransport(dialer)}
}

// Send makes one try. If ctx ends first the try is cut, which says nothing of
// the endpoint; the caller knows its ctx.
func (s *Sender) Send(ctx context.Context, r Request) Result {
	began := time.Now()
	until := began.Add(s.timeout)
	if !r.Until.IsZero() && r.Until.Before(until) {
		until = r.Until
	}
	result := s.send(ctx, r, until)
	result.TookMs = time.Since(began).Milliseconds()
	return result
}

// send follows no redirect, and uses no proxy, which would connect past the
// check of addresses.
func (s *Sender) send(ctx context.Context, r Request, until time.Time) Result {
	to, message, err := s.compose(r)
	if err != nil {
		return Result{Error: s.reason(err)}
	}
	response, err := s.transport.do(ctx, to, message, until)
	if err != nil {
		return Result{Error: s.reason(err)}
	}
	result := Result{
		Status: int64(response.StatusCode),
		Answer: commerce.CleanText(string(response.body), commerce.MaxNote),
	}
	switch response.StatusCode / 100 {
	case 2:
		return result
	case 3:
		result.Error = "redirect"
	default:
		result.Error = "status " + strconv.Itoa(response.StatusCode)
	}
	result.RetryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
	return result
}

// retryAfter reads seconds or an HTTP date; what is neither asks for nothing.
func retryAfter(value string, now time.Time) int64 {
	if seconds, err := strconv.ParseUint(value, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		return int64(min(seconds, uint64(commerce.MaxRetryAfter/1000))) * 1000
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now).Milliseconds())
}
