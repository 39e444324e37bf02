// Package httpcall is what calls to providers over HTTP have in common: no
// redirects, answers of bounded size, errors without the request's URL.
package httpcall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"purveyor/internal/tracing"
)

// Client makes a client that returns redirects like any other answer: following
// them would send addresses and credentials wherever they point. The transport may
// be nil.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     traced{cmp.Or(transport, http.DefaultTransport)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// traced is a transport that sends the traceparent of a request's context with it.
type traced struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper, which must not change the request.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	if tracing.Traced(r.Context()) {
		r = r.Clone(r.Context())
		tracing.Inject(r.Context(), r.Header)
	}
	return t.next.RoundTrip(r)
}

// Answer is an answer with the first bytes of its body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK reports whether the status is a success.
func (a Answer) OK() bool { return a.Status/100 == 2 }

// BlamesRequest reports whether a status means that the request itself is at fault.
// Otherwise the cause may pass, or the operator can fix it (401, 403: the account).
func BlamesRequest(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4
}

// send sends a request, as Do says.
func send(client *http.Client, request *http.Request, most int64) (Answer, error) {
	response, err := client.Do(request)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(io.LimitReader(response.Body, most))
		_ = response.Body.Close()
		if err == nil {
			return Answer{response.StatusCode, response.Header, body}, nil
		}
	}
	if over := request.Context().Err(); over != nil {
		return Answer{}, fmt.Errorf("no answer yet: %w", over)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return Answer{}, fmt.Errorf("it cannot be reached, check the network: %w", err)
}

// Call is a call of an API that answers in JSON.
type Call struct {
	Method, URL string
	Header      http.Header // beside Accept and Content-Type
	JSON        any         // what the body is made of; nil: there is none
	Form        url.Values  // the body instead; nil: none
}

// Do makes the call, and reads at most so many bytes of the answer. Its errors do not
// contain the URL, which may hold an address or a secret.
func (c Call) Do(ctx context.Context, client *http.Client, most int64) (Answer, error) {
	var body []byte
	kind := "application/json"
	switch {
	case c.Form != nil:
		body, kind = []byte(c.Form.Encode()), "application/x-www-form-urlencoded"
	case c.JSON != nil:
		var err error
		if body, err = json.Marshal(c.JSON); err != nil {
			return Answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, bytes.NewReader(body))
	if err != nil { // the error would contain the URL
		return Answer{}, errors.New("the URL is invalid")
	}
	maps.Copy(request.Header, c.Header)
	request.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		request.Header.Set("Content-Type", kind)
	}
	return send(client, request, most)
}

// Whole is a transport for libraries that do not bound answers or close bodies. It
// reads at most so many bytes of each answer, and refuses redirects, which the
// libraries would take for answers.
type Whole struct {
	Next http.RoundTripper
	Most int64
}

// RoundTrip implements http.RoundTripper.
func (t Whole) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := traced{t.Next}.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 == 3 {
		return nil, fmt.Errorf("it answered %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, t.Most))
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// LongestWait bounds RetryAfter.
const LongestWait = 24 * time.Hour

// RetryAfter reads the header Retry-After, in seconds or as a date; 0: neither.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(LongestWait/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), LongestWait)
}
