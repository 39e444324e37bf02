package web

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
)

const (
	// MaxBody is the largest request body, in bytes.
	MaxBody = 1 << 20
	// maxDrain is how much more of a body that is too large is read and thrown
	// away, so that its sender gets to read why.
	maxDrain = 32 << 20
)

// Bodies that are still arriving share a budget, beyond what each may have
// anyway: 500 senders of nearly 1 MiB each that then dribble must not cost
// 500 MiB.
const (
	freeBody   = 16 << 10
	bodyBudget = 48 << 20
)

var arriving atomic.Int64

// ReadBody reads the whole body, or refuses what is too large or ends early.
func ReadBody(r *http.Request) ([]byte, error) {
	size := r.ContentLength
	if size > MaxBody {
		return nil, tooLarge(r)
	}
	buf := make([]byte, 0, min(max(512, size+1), freeBody))
	var taken int64
	defer func() { arriving.Add(-taken) }()
	for {
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxBody:
			return nil, tooLarge(r)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, commerce.Invalid("body", "the body could not be read to its end")
		case len(buf) == cap(buf):
			more := int64(cap(buf))
			taken += more
			if arriving.Add(more) > bodyBudget {
				return nil, &Error{Status: http.StatusTooManyRequests, Code: "rate_limited",
					Message: "Too many large bodies are being sent at once; try again"}
			}
			buf = slices.Grow(buf, int(more))
		}
	}
}

func tooLarge(r *http.Request) error {
	_, _ = io.CopyN(io.Discard, r.Body, maxDrain)
	return commerce.Invalid("body", "the body is larger than 1 MiB")
}

// IdempotencyKey reads the header: 1 to 255 printable characters, surrounding
// quotes stripped. Absent gives "" and no error.
func IdempotencyKey(r *http.Request) (string, error) {
	given := r.Header["Idempotency-Key"]
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(given) > 1 || key == "" || len(key) > 4*255 || utf8.RuneCountInString(key) > 255 || strings.ContainsFunc(key, notPrintable) {
		return "", &Error{Status: http.StatusBadRequest, Code: "idempotency_key_invalid", Field: "Idempotency-Key",
			Message: "Idempotency-Key must be given once, as 1 to 255 printable characters"}
	}
	return key, nil
}

func notPrintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// Query reads query parameters. Each is given once at most, and the first
// that cannot be used is the error.
type Query struct {
	values url.Values
	err    error
}

// QueryOf parses the query of a request.
func QueryOf(r *http.Request) *Query {
	q := &Query{}
	if r.URL.RawQuery == "" {
		return q
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		q.err = &Error{Status: http.StatusBadRequest, Code: "invalid_query", Field: "query", Message: "the query string is malformed"}
	}
	q.values = values
	return q
}

// Err is the first error met.
func (q *Query) Err() error { return q.err }

// Fail notes an error of a parameter, if it is the first.
func (q *Query) Fail(code, name, message string) {
	if q.err == nil {
		q.err = &Error{Status: http.StatusBadRequest, Code: code, Field: name, Message: name + " " + message}
	}
}

// Text is a parameter, or "" if it is not given.
func (q *Query) Text(name string) string {
	given, ok := q.values[name]
	switch {
	case !ok:
		return ""
	case len(given) > 1:
		q.Fail("invalid_query", name, "is given more than once")
	case given[0] == "" || len(given[0]) > 1024 || !utf8.ValidString(given[0]) || strings.ContainsFunc(given[0], unicode.IsControl):
		q.Fail("invalid_query", name, "is empty, too long or holds characters that are not allowed")
	default:
		return given[0]
	}
	return ""
}

// Bool is true, false, or what it is without the parameter.
func (q *Query) Bool(name string, otherwise bool) bool {
	switch q.Text(name) {
	case "":
		return otherwise
	case "true":
		return true
	case "false":
		return false
	}
	q.Fail("invalid_query", name, "must be true or false")
	return otherwise
}

// Limit is the size of a list: above the maximum it is the maximum.
func (q *Query) Limit(otherwise, most int) int {
	text := q.Text("limit")
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64) // which takes no sign
	switch {
	case errors.Is(err, strconv.ErrRange):
		return most
	case err != nil || n < 1:
		q.Fail("invalid_query", "limit", "must be an integer of 1 or more")
		return otherwise
	}
	return int(min(n, uint64(most)))
}

// Millis is a time in Unix ms, or 0.
func (q *Query) Millis(name string) int64 {
	text := q.Text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63) // which takes no sign
	if err != nil {
		q.Fail("invalid_query", name, "must be Unix milliseconds")
		return 0
	}
	return int64(n)
}
