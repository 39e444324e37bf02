package web

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"purveyor/internal/env"
)

// Connections is a listener with bounds on open connections: in all, so that the
// process keeps descriptors for its database and its own calls, and per address, so
// that one caller cannot take all of them. It closes further connections at once.
type Connections struct {
	net.Listener
	env     env.Env
	proxies Proxies
	open    *Budget // by address

	mu     sync.Mutex
	warned time.Time
}

// LimitConnections bounds the connections of a listener. Trusted proxies have no
// bound per address, because their connections serve many callers.
func LimitConnections(e env.Env, l net.Listener, most, perAddress int, proxies Proxies) *Connections {
	return &Connections{Listener: l, env: e, proxies: proxies, open: NewBudget(int64(most), int64(perAddress))}
}

// Accept implements net.Listener.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := c.addressOf(conn)
		if c.open.Take(address, 1) {
			return &connection{conn, sync.OnceFunc(func() { c.open.Give(address, 1) })}, nil
		}
		_ = conn.Close() // the connection was never used
		c.warn(address)
	}
}

// addressOf returns the address that a connection counts for; empty: it is not
// counted by address.
func (c *Connections) addressOf(conn net.Conn) string {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || c.proxies.trust(peer.Addr()) {
		return ""
	}
	return counted(peer.Addr())
}

// warn logs a refused connection, once a minute.
func (c *Connections) warn(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.env.Now(); now.Sub(c.warned) >= time.Minute {
		c.warned = now
		open, ofAddress := c.open.used(address)
		slog.Warn("connections are refused: there are too many", "open", open, "most", c.open.total,
			"address", address, "of_the_address", ofAddress, "most_of_an_address", c.open.share)
	}
}

// connection is an admitted connection. It counts until it is closed.
type connection struct {
	net.Conn
	leave func()
}

// CloseWrite lets net/http deliver its last answer before it closes the connection,
// as with a *net.TCPConn.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.leave()
	return c.Conn.Close()
}
