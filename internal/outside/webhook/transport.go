package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxHeaders = 32 << 10
	maxEarly   = 5 // answers of the kind 1xx before the real one

	idleTime           = time.Minute
	idleConnections    = 512
	idleConnectionsPer = 64 // of one host
)

// transport makes requests over HTTP/1.1, each in the goroutine that asks for
// it. That of net/http gives every request to two others in turn, which took
// two fifths of what a small request costs; reading answers is left to net/http.
type transport struct {
	dialer *net.Dialer
	tls    *tls.Config // nil: the default

	mu    sync.Mutex
	idle  map[endpoint][]*conn // the one that was used last at the end
	count int                  // of idle connections
}

// endpoint is what a connection leads to.
type endpoint struct {
	secure        bool
	host, address string
}

// conn is a connection, used by one request at a time.
type conn struct {
	net.Conn
	to     endpoint
	in     io.LimitedReader // of what may still be read
	r      *bufio.Reader
	expiry *time.Timer // closes it while it is idle
	ctx    context.Context
	forget func() bool // of the cut that ctx has when it ends
}

// answer is what came of a request.
type answer struct {
	*http.Response
	body []byte // how it began
}

// errStale says that a connection was closed by the other end before it
// answered. If it had been idle that may have been just then.
var errStale = errors.New("the connection was closed")

func newTransport(d *net.Dialer) *transport {
	return &transport{dialer: d, idle: map[endpoint][]*conn{}}
}

// do sends a request until a time, and reads how the answer begins. What an idle
// connection lost, because the other end was just closing it, is sent again on a
// new one.
func (t *transport) do(ctx context.Context, to endpoint, message []byte, until time.Time) (answer, error) {
	if c := t.take(to); c != nil {
		a, err := t.use(ctx, c, message, until)
		if !errors.Is(err, errStale) {
			return a, err
		}
	}
	c, err := t.connect(ctx, to, until)
	if err != nil {
		return answer{}, err
	}
	return t.use(ctx, c, message, until)
}

func endpointOf(u *url.URL) (endpoint, error) {
	ports := map[string]string{"http": "80", "https": "443"}
	port, ok := ports[u.Scheme]
	if !ok {
		return endpoint{}, fmt.Errorf("unsupported protocol scheme %q", u.Scheme)
	}
	host := u.Hostname()
	if host == "" {
		return endpoint{}, errors.New("no host in the URL")
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil { // else nobody has such a name
			host = ascii
		}
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return endpoint{u.Scheme == "https", host, net.JoinHostPort(host, port)}, nil
}

func (t *transport) connect(ctx context.Context, to endpoint, until time.Time) (*conn, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	raw, err := t.dialer.DialContext(ctx, "tcp", to.address)
	if err != nil {
		return nil, err
	}
	if to.secure {
		if raw, err = t.secure(ctx, raw, to.host); err != nil {
			return nil, err
		}
	}
	c := &conn{Conn: raw, to: to, in: io.LimitedReader{R: raw}}
	c.r = bufio.NewReader(&c.in)
	c.expiry = time.AfterFunc(idleTime, func() { t.expire(c) })
	c.expiry.Stop()
	return c, nil
}

func (t *transport) secure(ctx context.Context, raw net.Conn, host string) (net.Conn, error) {
	config := t.tls.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ServerName = host
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		if record, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(record.RecordHeader[:]) == "HTTP/" {
			return nil, http.ErrSchemeMismatch
		}
		return nil, err
	}
	return c, nil
}

// use sends a request on a connection, and keeps that if it can be used again.
func (t *transport) use(ctx context.Context, c *conn, message []byte, until time.Time) (answer, error) {
	if !c.cutBy(ctx) {
		c.close()
		return answer{}, errStale
	}
	err := c.SetDeadline(until)
	if err == nil {
		err = ctx.Err() // then the deadline may have come after the cut
	}
	a, whole := answer{}, false
	if err == nil {
		a, whole, err = c.roundTrip(message)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil || !whole || ctx.Err() != nil || !t.keep(c) {
		c.close()
	}
	return a, err
}

// cutBy has the connection cut when ctx ends, which is mostly the same ctx again.
// It is false when another one is just cutting it.
func (c *conn) cutBy(ctx context.Context) bool {
	if c.ctx == ctx {
		return true
	}
	if c.ctx != nil && !c.forget() {
		return false
	}
	c.ctx, c.forget = ctx, context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	return true
}

func (c *conn) close() {
	if c.ctx != nil {
		c.forget()
	}
	_ = c.Close() // nobody waits for what it had
}

// roundTrip sends a request and reads how its answer begins. It tells whether
// that was all of it and the connection stays open.
func (c *conn) roundTrip(message []byte) (a answer, whole bool, err error) {
	c.in.N = maxHeaders
	_, sent := c.Write(message)
	// Who refuses a request may answer before all of it was sent.
	if _, unanswered := c.r.Peek(1); unanswered != nil {
		return a, false, lost(sent, unanswered)
	}
	for early := 0; ; early++ {
		if a.Response, err = http.ReadResponse(c.r, nil); err != nil {
			if c.in.N <= 0 {
				err = fmt.Errorf("the headers of the answer exceed %d bytes", maxHeaders)
			}
			return a, false, err
		}
		if a.StatusCode >= 200 || a.StatusCode == http.StatusSwitchingProtocols || early == maxEarly {
			break
		}
	}
	c.in.N = 1 << 62 // the body is bounded below
	whole = sent == nil && !a.Close && a.StatusCode >= 200
	if a.ContentLength != 0 {
		a.body, err = io.ReadAll(io.LimitReader(a.Body, maxAnswer+1))
		whole = whole && err == nil && len(a.body) <= maxAnswer
		a.body = a.body[:min(len(a.body), maxAnswer)]
	}
	return a, whole && c.r.Buffered() == 0, nil // the status alone decides
}

// lost is the error of a request without an answer.
func lost(sent, unanswered error) error {
	for _, gone := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(unanswered, gone) {
			return errors.Join(errStale, unanswered)
		}
	}
	return errors.Join(sent, unanswered)
}

// take is an idle connection, if there is one.
func (t *transport) take(to endpoint) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.idle[to]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	t.forget(c, list[:len(list)-1])
	c.expiry.Stop()
	return c
}

// keep makes a connection idle, unless there are too many.
func (t *transport) keep(c *conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.idle[c.to]
	if t.count >= idleConnections || len(list) >= idleConnectionsPer {
		return false
	}
	t.idle[c.to] = append(list, c)
	t.count++
	c.expiry.Reset(idleTime)
	return true
}

// forget is called with the lock held; left are the other idle ones.
func (t *transport) forget(c *conn, left []*conn) {
	t.count--
	if t.idle[c.to] = left; len(left) == 0 {
		delete(t.idle, c.to)
	}
}

// expire closes a connection that nobody has taken.
func (t *transport) expire(c *conn) {
	t.mu.Lock()
	list := t.idle[c.to]
	i := slices.Index(list, c)
	if i >= 0 {
		t.forget(c, slices.Delete(list, i, i+1))
	}
	t.mu.Unlock()
	if i >= 0 {
		c.close()
	}
}
