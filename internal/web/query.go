package web

import (
	"errors"
	"net/http"
	"net/url"
	"purveyor/internal/commerce"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query reads query parameters. Each may be given once, and the first invalid one is
// the error.
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

// Err returns the first error.
func (q *Query) Err() error { return q.err }

// Fail records the error of a parameter if it is the first.
func (q *Query) Fail(code, name, message string) {
	if q.err == nil {
		q.err = &Error{Status: http.StatusBadRequest, Code: code, Field: name, Message: name + " " + message}
	}
}

// Text returns a parameter, or "" if it is absent.
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

// Bool returns a parameter that is true or false, or otherwise if it is absent.
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

// Limit returns the size of a page; larger values become the maximum.
func (q *Query) Limit(otherwise, most int) int {
	text := q.Text("limit")
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64) // which accepts no sign
	switch {
	case errors.Is(err, strconv.ErrRange):
		return most
	case err != nil || n < 1:
		q.Fail("invalid_query", "limit", "must be an integer of 1 or more")
		return otherwise
	}
	return int(min(n, uint64(most)))
}

// Millis returns a time in Unix ms, or 0 if it is absent.
func (q *Query) Millis(name string) commerce.Millis {
	text := q.Text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63) // which accepts no sign
	if err != nil {
		q.Fail("invalid_query", name, "must be Unix milliseconds")
		return 0
	}
	return commerce.Millis(n)
}
