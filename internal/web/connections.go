package web

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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
			return &connection{gather{Conn: conn}, sync.OnceFunc(func() { c.open.Give(address, 1) })}, nil
		}
		_ = conn.Close() // the connection was never used
		c.warn(address)
	}
}

// AwaitNone returns when no connection is open, or when ctx ends.
func (c *Connections) AwaitNone(ctx context.Context) {
	for c.open.Taken() > 0 && c.env.Sleep(ctx, 5*time.Millisecond) == nil {
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
	gather
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

// Address returns the key under which limits by address count a request: the IPv4
// address of its caller, or the /64 network of an IPv6 address, because one machine
// may use all addresses of a network. Proxies determines the caller.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	return counted(address)
}

func counted(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(64) // every IPv6 address has a /64 network
	return network.String()
}

// Proxies are the networks of the reverse proxies that are trusted to name the caller
// of a request.
type Proxies []netip.Prefix

func (p Proxies) trust(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Handler passes each request to next with its caller in RemoteAddr. The caller is
// the peer of the connection, or, behind a trusted proxy, the right-most address in
// X-Forwarded-For that is not a trusted proxy (BEHAVIOUR, Access). Callers can write
// what is left of it, so that is not believed.
func (p Proxies) Handler(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && p.trust(peer.Addr()) {
			caller := p.forwarded(peer.Addr(), r.Header["X-Forwarded-For"])
			r.RemoteAddr = netip.AddrPortFrom(caller, 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// forwarded returns the caller behind a trusted peer's request. If the header is
// missing or unreadable at that place, it returns the last known address, which is a
// proxy.
func (p Proxies) forwarded(last netip.Addr, headers []string) netip.Addr {
	for _, header := range slices.Backward(headers) {
		hops := strings.Split(header, ",")
		for _, hop := range slices.Backward(hops) {
			switch address, ok := parseHop(strings.TrimSpace(hop)); {
			case !ok:
				return last
			case !p.trust(address):
				return address
			default:
				last = address
			}
		}
	}
	return last
}

// parseHop parses an address, to which some proxies add a port.
func parseHop(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return address, true
	}
	withPort, err := netip.ParseAddrPort(text)
	return withPort.Addr(), err == nil
}
