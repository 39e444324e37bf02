package web

import (
	"net"
	"net/netip"
	"testing"

	"purveyor/internal/env"
)

// peers is a listener with one connection from each address, in order.
type peers struct {
	net.Listener
	from []string
}

func (p *peers) Accept() (net.Conn, error) {
	if len(p.from) == 0 {
		return nil, net.ErrClosed
	}
	conn := &peerConn{from: p.from[0]}
	p.from = p.from[1:]
	return conn, nil
}

type peerConn struct {
	net.Conn
	from   string
	closed int
}

func (c *peerConn) Close() error { c.closed++; return nil }

func (c *peerConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.from), 1234))
}

// accepted returns those of these connections that are admitted.
func accepted(c *Connections, from ...string) (list []net.Conn) {
	c.Listener = &peers{from: from}
	for {
		conn, err := c.Accept()
		if err != nil {
			return list
		}
		list = append(list, conn)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	c := LimitConnections(env.Env{}, nil, 5, 2, Proxies{netip.MustParsePrefix("10.0.0.0/8")})
	of := accepted(c, "192.0.2.1", "192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db8::3")
	if len(of) != 4 {
		t.Fatalf("%d of two addresses, want 2 each", len(of))
	}
	if n := len(accepted(c, "192.0.2.1", "10.0.0.1", "10.0.0.1", "192.0.2.2")); n != 1 {
		t.Errorf("%d when one may still come", n)
	}
	_, _ = of[0].Close(), of[0].Close() // the second Close counts nothing
	if n := len(accepted(c, "192.0.2.1", "192.0.2.1")); n != 1 {
		t.Errorf("%d in place of one that was closed", n)
	}
	for _, conn := range of[1:] {
		_ = conn.Close()
	}
	if c.open.taken != 2 || len(c.open.callers) != 1 {
		t.Errorf("%d are open, of %v", c.open.taken, c.open.callers)
	}
}

// A trusted proxy may open as many connections as there are in all.
func TestProxiesHaveConnections(t *testing.T) {
	c := LimitConnections(env.Env{}, nil, 5, 2, Proxies{netip.MustParsePrefix("10.0.0.0/8")})
	if n := len(accepted(c, "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1")); n != 5 {
		t.Errorf("%d", n)
	}
}

// Refused connections are closed.
func TestRefusedConnectionsAreClosed(t *testing.T) {
	c := LimitConnections(env.Env{}, nil, 0, 2, nil)
	conn := &peerConn{from: "192.0.2.1"}
	c.Listener = &only{conn: conn}
	if _, err := c.Accept(); err == nil || conn.closed != 1 {
		t.Errorf("%v, closed %d times", err, conn.closed)
	}
}

type only struct {
	net.Listener
	conn net.Conn
}

func (o *only) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	conn := o.conn
	o.conn = nil
	return conn, nil
}
