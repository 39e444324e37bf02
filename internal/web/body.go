package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"purveyor/internal/commerce"
)

// Largest bodies of requests, in bytes (BEHAVIOUR, sizes).
const (
	MaxBody      = 256 << 10
	MaxLargeBody = 1 << 20
)

// Bodies reads request bodies within a budget of memory: one for all callers
// together, and a share of it for each. What a body takes beyond the first few
// KiB counts from when it arrives until it is decoded.
type Bodies struct {
	free     int // bytes of each body that do not count
	budget   *Budget
	decoding chan struct{} // has an element for each that is being decoded; nil: there is no bound
}

// NewBodies makes the budget of partners' bodies. Of those that count, half as
// many as there are processors are decoded at a time, because decoding 1 MiB can
// take 80 ms and 17 MiB: the others wait, and small bodies pass them.
func NewBodies() *Bodies {
	return &Bodies{free: 16 << 10, budget: NewBudget(48<<20, 12<<20), decoding: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// NewStrangersBodies makes the budget of bodies that are read before their sender
// is known. All may be decoded at a time: only what a provider has signed is
// decoded, and that may wait for a call to the provider.
func NewStrangersBodies() *Bodies { return &Bodies{free: 4 << 10, budget: NewBudget(8<<20, 1<<20)} }

// Decode reads the body of a request, of at most so many bytes, and has decode
// read the data, which must not keep it. Errors: 400 for a body that is too large
// or ends early, 429 when the budget is used up, and those of decode.
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

// read gives the whole body, and adds to taken what it takes of the budget. It
// does not believe the announced length, so that announcing much and sending
// little takes little.
func (b *Bodies) read(w http.ResponseWriter, r *http.Request, caller string, most int, taken *int64) ([]byte, error) {
	body := &paced{body: r.Body, connection: http.NewResponseController(w)}
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
				_, _ = io.CopyN(io.Discard, body, int64(most)) // else the sender meets a closed connection, not the answer
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

// maxDrain is how much more of a body that is too large is read and thrown away,
// so that its sender gets to read why.
const maxDrain = 32 << 20

func tooLarge(rest io.Reader, most int) error {
	_, _ = io.CopyN(io.Discard, rest, maxDrain)
	size := fmt.Sprintf("%d KiB", most>>10)
	if most >= 1<<20 {
		size = fmt.Sprintf("%d MiB", most>>20)
	}
	return commerce.Invalid("body", "the body is larger than %s; send less at a time", size)
}

// The least speed at which a body must arrive: a first pause, then so many bytes
// a second on average; all of it in the server's time for a request.
const (
	bodyPause  = 5 * time.Second
	leastSpeed = 64 << 10
	bodyTime   = 15 * time.Second
)

// paced reads a body whose sender keeps up the least speed; else reading fails.
type paced struct {
	body       io.Reader
	connection *http.ResponseController
	began      time.Time
	received   int64
}

// Read implements io.Reader. What the connection has already is taken at once:
// for most bodies that is all.
func (p *paced) Read(b []byte) (int, error) {
	if p.began.IsZero() {
		p.began = time.Now()
	} else {
		allowed := bodyPause + time.Duration(p.received)*time.Second/leastSpeed
		_ = p.connection.SetReadDeadline(p.began.Add(min(allowed, bodyTime))) // recorders of tests have none
	}
	n, err := p.body.Read(b)
	p.received += int64(n)
	return n, err
}
