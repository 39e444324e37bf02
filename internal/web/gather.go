package web

import (
	"context"
	"net"
	"sync"
)

// gather is a connection that can hold back what is written to it, and send it together with what
// is written next. net/http writes an answer of more than 8 KiB, twice its buffer, in two parts:
// the header with the first bytes, and then the rest. Sent one by one, they wake the caller twice.
type gather struct {
	net.Conn
	active bool
	held   *[]byte // waits for what is written next; nil: nothing waits
}

const mostHeld = 4 << 10 // the buffer of net/http

var heldBytes = sync.Pool{New: func() any { b := make([]byte, 0, mostHeld); return &b }}

// while calls write, and gathers what it writes to the connection. Nothing waits afterwards. On
// a nil connection, it only calls write.
func (g *gather) while(write func() (int, error)) (n int, err error) {
	if g == nil {
		return write()
	}
	g.active = true
	n, err = write()
	g.active = false
	if g.held != nil {
		_, failed := g.Write(nil)
		if err == nil {
			err = failed
		}
	}
	return n, err
}

// Write implements net.Conn.
func (g *gather) Write(b []byte) (int, error) {
	switch {
	case g.held != nil:
		held := g.held
		g.held = nil
		sent, err := (&net.Buffers{*held, b}).WriteTo(g.Conn)
		n := max(0, int(sent)-len(*held))
		*held = (*held)[:0]
		heldBytes.Put(held)
		return n, err
	case g.active && len(b) <= mostHeld:
		g.held = heldBytes.Get().(*[]byte)
		*g.held = append(*g.held, b...)
		return len(b), nil
	}
	return g.Conn.Write(b)
}

type gatherKey struct{}

// Gather is meant for the field ConnContext of an http.Server. If the server listens on
// Connections, each answer of more than 8 KiB is then sent by one system call. Over TLS it is
// not: a connection of HTTP/2 sends what several requests write.
func Gather(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*connection); ok {
		return context.WithValue(ctx, gatherKey{}, &c.gather)
	}
	return ctx
}

// gatherOf returns the connection of a request; nil: it is not one of Connections.
func gatherOf(ctx context.Context) *gather {
	g, _ := ctx.Value(gatherKey{}).(*gather)
	return g
}
