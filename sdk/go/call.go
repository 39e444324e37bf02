package purveyor

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// operation is an operation of the API, with the types of its query, body and reply.
type operation[Q, B, R any] struct {
	method, path string
	keyed        bool // it takes an idempotency key
}

// none is the type of what an operation does not have.
type none struct{}

// maxAnswer bounds an answer. The longest are pages of 2 MiB.
const maxAnswer = 64 << 20

// request is a request that can be sent several times.
type request struct {
	settings
	method, url string
	body        []byte
}

// call sends a request until it is answered, as BEHAVIOUR.md says.
func call[Q, B, R any](ctx context.Context, c *Client, o operation[Q, B, R], path []string, query Q, body *B, options ...Option) (*R, error) {
	r, err := newRequest(c, o, path, query, body, options)
	if err != nil {
		return nil, err
	}
	a, err := c.perform(ctx, r)
	if a != nil && r.answer != nil {
		*r.answer = *a
	}
	if err != nil {
		return nil, err
	}
	reply := new(R)
	if _, empty := any(reply).(*none); empty {
		return reply, nil
	}
	if err := json.Unmarshal(a.Body, reply); err != nil {
		return nil, r.blame(&Error{Status: a.Status, Code: CodeBadAnswer, Message: "the answer cannot be read: " + err.Error(),
			TraceID: a.TraceID, Tries: a.Tries, Answer: a, cause: err})
	}
	return reply, nil
}

// newRequest makes a request of an operation.
func newRequest[Q, B, R any](c *Client, o operation[Q, B, R], path []string, query Q, body *B, options []Option) (*request, error) {
	r := &request{method: o.method, settings: settings{header: http.Header{}, tries: c.options.Tries,
		tryTimeout: c.options.TryTimeout, totalTimeout: c.options.TotalTimeout}}
	for _, option := range options {
		option(&r.settings)
	}
	filled, err := fill(o.path, path)
	if err != nil {
		return nil, err
	}
	r.url = c.base + filled + encodeQuery(query)
	if body != nil {
		if r.body, err = encode(body); err != nil {
			return nil, invalid("the body cannot be written as JSON: %v", err)
		}
		r.header.Set("Content-Type", "application/json")
	}
	switch {
	case !o.keyed && r.idempotencyKey != "":
		return nil, invalid("%s %s takes no idempotency key", o.method, o.path)
	case o.keyed && r.idempotencyKey == "":
		r.idempotencyKey = newKey()
	}
	if r.idempotencyKey != "" {
		r.header.Set("Idempotency-Key", r.idempotencyKey)
	}
	r.header.Set("X-Api-Key", c.key)
	r.header.Set("User-Agent", c.options.UserAgent)
	if r.header.Get("Accept") == "" {
		r.header.Set("Accept", "application/json")
	}
	return r, nil
}

// perform sends a request until there is an answer that is not to be repeated.
func (c *Client) perform(ctx context.Context, r *request) (*Answer, error) {
	deadline := time.Now().Add(r.totalTimeout)
	if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
		deadline = end
	}
	for tries := 1; ; tries++ {
		a, failure := c.try(ctx, r, min(r.tryTimeout, time.Until(deadline)))
		if a != nil {
			a.Tries, a.IdempotencyKey = tries, r.idempotencyKey
		}
		if failure == nil {
			return a, nil
		}
		failure.Tries = tries
		if tries >= r.tries || !r.mayRetry(failure) {
			return a, r.blame(failure)
		}
		wait := pause(tries, failure.RetryAfter, c.random())
		if time.Now().Add(wait).After(deadline) {
			return a, r.blame(failure)
		}
		if err := c.options.Sleep(ctx, wait); err != nil {
			return a, r.blame(cancelled(err, tries))
		}
	}
}

// try sends a request once. It returns the answer if there is one, and an error unless the
// answer is a success.
func (c *Client) try(ctx context.Context, r *request, limit time.Duration) (*Answer, *Error) {
	try, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := c.send(try, r)
	if err != nil {
		return nil, lost(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, lost(ctx, err)
	}
	a := newAnswer(response, text)
	if len(text) > maxAnswer {
		return a, &Error{Status: a.Status, Code: CodeBadAnswer, Message: "the answer is too long", TraceID: a.TraceID, Answer: a}
	}
	if a.Status < 200 || a.Status > 299 {
		return a, refusal(a)
	}
	return a, nil
}

// send sends a request and returns the head of its answer.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, r.url, body)
	if err != nil {
		return nil, err
	}
	request.Header = r.header.Clone()
	request.GetBody = nil // net/http must not send it again on its own
	return c.http.Do(request)
}

func newAnswer(response *http.Response, text []byte) *Answer {
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: text, TraceID: response.Header.Get("X-Trace-Id"),
		Replayed: response.Header.Get("Idempotent-Replayed") == "true"}
}

// lost makes the error of a try without an answer.
func lost(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return cancelled(ctx.Err(), 0)
	}
	message := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		message = "the answer takes too long"
	}
	return &Error{Code: CodeNoAnswer, Message: message, cause: err}
}

func cancelled(cause error, tries int) *Error {
	return &Error{Code: CodeCancelled, Message: "the call was cancelled: " + cause.Error(), Tries: tries, cause: cause}
}

// fill puts values into the places of a path.
func fill(path string, values []string) (string, error) {
	for _, value := range values {
		from, to := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
		if value == "" || value == "." || value == ".." {
			return "", invalid("%s cannot be %q", path[from+1:to], value)
		}
		path = path[:from] + url.PathEscape(value) + path[to+1:]
	}
	return path, nil
}

// encodeQuery writes the fields of a struct as a query, without those that are zero.
func encodeQuery(query any) string {
	v, q := reflect.ValueOf(query), url.Values{}
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		q.Set(v.Type().Field(i).Tag.Get("json"), fmt.Sprint(field.Interface()))
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// newKey draws an idempotency key: a UUID of version 4.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
