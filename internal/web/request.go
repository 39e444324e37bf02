package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// Largest request bodies, in bytes (BEHAVIOUR, sizes).
const (
	MaxBody      = 256 << 10
	MaxLargeBody = 1 << 20
	MaxBulkBody  = 2 << 20
)

// Bodies reads request bodies within a memory budget, of which each caller may have a
// share. The bytes of a body count from when they arrive until the body is decoded,
// except for the first few KiB.
type Bodies struct {
	env      env.Env
	free     int // bytes of each body that do not count
	budget   *Budget
	decoding chan struct{} // holds an element per body that is being decoded; nil: no bound
}

// NewBodies makes the budget for partners' bodies. Large bodies are decoded by half
// as many goroutines as there are processors, because decoding 1 MiB can take 80 ms
// and 17 MiB. The others wait, and small bodies overtake them.
func NewBodies(e env.Env) *Bodies {
	return &Bodies{env: e, free: 16 << 10, budget: NewBudget(48<<20, 12<<20), decoding: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// NewStrangersBodies makes the budget for bodies that are read before their sender is
// known. Any number may be decoded at once: only bodies with a provider's signature
// are decoded, and that may wait for a call to the provider.
func NewStrangersBodies(e env.Env) *Bodies {
	return &Bodies{env: e, free: 4 << 10, budget: NewBudget(8<<20, 1<<20)}
}

// Decode reads the body of a request, at most so many bytes, and passes it to decode,
// which must not keep it. Errors: 400 if the body is too large or ends early, 429 if
// the budget is used up, and those of decode.
func (b *Bodies) Decode(w http.ResponseWriter, r *http.Request, caller string, most int, decode func(data []byte) error) error {
	var taken int64
	defer func() { b.budget.Give(caller, taken) }()
	data, err := b.read(w, r, caller, most, &taken)
	if err != nil {
		return err
	}
	if len(data) > b.free && b.decoding != nil {
		select {
		case b.decoding <- struct{}{}:
			defer func() { <-b.decoding }()
		case <-r.Context().Done():
			return tooManyBodies()
		}
	}
	return decode(data)
}

// read returns the whole body, and adds the bytes that it took from the budget to
// taken. It ignores the announced length, so that a caller has to send bytes to use
// up the budget.
func (b *Bodies) read(w http.ResponseWriter, r *http.Request, caller string, most int, taken *int64) ([]byte, error) {
	body := &paced{env: b.env, body: r.Body, connection: http.NewResponseController(w)}
	if r.ContentLength > int64(most) {
		return nil, tooLarge(body, most)
	}
	buf := make([]byte, 0, min(max(512, r.ContentLength+1), int64(b.free)))
	for {
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > most:
			return nil, tooLarge(body, most)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, commerce.Invalid("body", "the body could not be read to its end")
		case len(buf) == cap(buf):
			size := min(2*cap(buf), most+1)
			more := int64(size - max(cap(buf), b.free))
			if more > 0 && !b.budget.Take(caller, more) {
				_, _ = io.CopyN(io.Discard, body, int64(most)) // otherwise the sender meets a closed connection instead of the answer
				return nil, tooManyBodies()
			}
			*taken += max(0, more)
			buf = append(make([]byte, 0, size), buf...)
		}
	}
}

func tooManyBodies() error {
	return &Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: 1,
		Message: "Too many large bodies are being sent at once; try again"}
}

// maxDrain bounds how much of a body that is too large is read and dropped, so that
// its sender gets to read the answer.
const maxDrain = 32 << 20

func tooLarge(rest io.Reader, most int) error {
	_, _ = io.CopyN(io.Discard, rest, maxDrain)
	size := fmt.Sprintf("%d KiB", most>>10)
	if most >= 1<<20 {
		size = fmt.Sprintf("%d MiB", most>>20)
	}
	return commerce.Invalid("body", "the body is larger than %s; send less at a time", size)
}

// The lowest rate of a body: a first pause, then so many bytes per second on average,
// and all of it within the server's time for a request.
const (
	bodyPause  = 5 * time.Second
	leastSpeed = 64 << 10
	bodyTime   = 15 * time.Second
)

// paced reads a body, and fails if its sender falls below the lowest rate.
type paced struct {
	env        env.Env
	body       io.Reader
	connection *http.ResponseController
	began      time.Time
	received   int64
}

// Read implements io.Reader. It first takes the bytes that the connection has already
// received: most bodies need no more.
func (p *paced) Read(b []byte) (int, error) {
	if p.began.IsZero() {
		p.began = p.env.Now()
	} else {
		allowed := bodyPause + time.Duration(p.received)*time.Second/leastSpeed
		_ = p.connection.SetReadDeadline(p.began.Add(min(allowed, bodyTime))) // an error means a recorder of a test, which has no deadline
	}
	n, err := p.body.Read(b)
	p.received += int64(n)
	return n, err
}

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
	most := 1024
	if name == "cursor" {
		most *= 2 // it may hold the longest id of a partner
	}
	switch {
	case !ok:
		return ""
	case len(given) > 1:
		q.Fail("invalid_query", name, "is given more than once")
	case given[0] == "" || len(given[0]) > most || !utf8.ValidString(given[0]) || strings.ContainsFunc(given[0], unicode.IsControl):
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
