// Package webhook posts signed events to the URLs that partners gave. Such a
// URL is hostile until shown otherwise: it may name the inside of the
// network, never answer, or answer without end.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
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
	ID             string // of the event, the same on every try
	Body           []byte // JSON
	At             int64  // Unix ms of this try
	Secret         string // empty: unsigned
	PreviousSecret string // while the secret is rotated, else empty
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
	route   *route
	timeout time.Duration
}

// NewSender makes a sender. Unless private addresses are allowed it connects
// to public ones only. Proxy is the operator's HTTP proxy; nil: none.
func NewSender(allowPrivate bool, proxy *url.URL) *Sender {
	direct := &net.Dialer{Control: refusePrivate}
	if allowPrivate || proxy != nil { // a proxy may stand anywhere
		direct.Control = nil
	}
	s := newSender(direct)
	switch {
	case proxy != nil && allowPrivate:
		s.route.Proxy = http.ProxyURL(proxy)
	case proxy != nil:
		s.route.through(proxy, judge)
	}
	return s
}

func newSender(dialer *net.Dialer) *Sender {
	return &Sender{timeout: timeout, route: newRoute(dialer)}
}

// Send makes one try, of 15 s at most. If ctx is cancelled first the try is cut, which
// says nothing of the endpoint; the caller knows its ctx.
func (s *Sender) Send(ctx context.Context, r Request) Result {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	result := s.send(ctx, r)
	result.TookMs = time.Since(began).Milliseconds()
	return result
}

func (s *Sender) send(ctx context.Context, r Request) Result {
	request, err := compose(ctx, r)
	if err != nil {
		return Result{Error: s.reason(err)}
	}
	response, err := s.route.RoundTrip(request)
	if err != nil {
		return Result{Error: s.reason(err)}
	}
	defer response.Body.Close()
	var answer []byte
	if response.StatusCode != http.StatusSwitchingProtocols { // whose body is the connection
		// The status alone decides: a body that breaks off is as good as a whole one. Reading
		// past the bound finds the end of most, and their connections are used again.
		answer, _ = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	}
	result := Result{
		Status: int64(response.StatusCode),
		Answer: commerce.CleanText(string(answer[:min(len(answer), maxAnswer)]), commerce.MaxNote),
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

// compose makes the HTTP request of a webhook.
func compose(ctx context.Context, r Request) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	h := request.Header
	h.Set("User-Agent", "purveyor")
	h.Set("Content-Type", "application/json")
	if user := request.URL.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	// The header is not sent. It lets net/http send the event again if the endpoint
	// closed an idle connection just then: an event may arrive twice.
	h["Idempotency-Key"] = []string{}
	sign(h, r)
	return request, nil
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
