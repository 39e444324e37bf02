// Package faultproxy is a TCP proxy on loopback that breaks connections on command.
package faultproxy

import (
	"io"
	"net"
	"regexp"
	"sync"
	"time"
)

// Mode says what happens to new connections.
type Mode int

const (
	Forward   Mode = iota
	Refuse         // closed at once
	Blackhole      // accepted and never answered
)

func (m Mode) String() string { return [...]string{"forward", "refuse", "blackhole"}[m] }

// Direction is a direction of data through the proxy.
type Direction int

const (
	ToServer Direction = iota
	ToClient
)

// Proxy forwards connections to one address. Its methods may be called
// concurrently.
type Proxy struct {
	listener net.Listener
	links    sync.WaitGroup // goroutines of connections

	mu     sync.Mutex
	target string
	mode   Mode
	closed bool
	open   map[*link]bool
	fault  *fault // nil: no fault is set
}

// New starts a proxy to a TCP address.
func New(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, open: map[*link]bool{}}
	p.links.Go(p.accept)
	return p, nil
}

// Address returns the address that the proxy listens on.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Retarget makes new connections go to another address. Existing ones stay.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// SetMode says what happens to new connections. Existing ones stay.
func (p *Proxy) SetMode(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

// Close cuts every connection and accepts no new ones.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.CutAll()
	p.links.Wait()
	return err
}

// CutAll cuts all connections at once.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		p.cut(l)
	}
}

// CutAfter cuts the connection that carries the n-th byte from now on in one
// direction, counted over all connections; this byte still passes. The returned
// channel is closed when that has happened. A new cut replaces a pending one.
func (p *Proxy) CutAfter(d Direction, n int) <-chan struct{} {
	return p.set(&fault{direction: d, bytes: n})
}

// CutAt cuts the connection on which bytes that match a pattern, at most 256, come
// next in one direction. The last of them passes only if through is set. The returned
// channel is that of CutAfter.
func (p *Proxy) CutAt(d Direction, pattern *regexp.Regexp, through bool) <-chan struct{} {
	return p.set(&fault{direction: d, pattern: pattern, through: through})
}

func (p *Proxy) set(f *fault) <-chan struct{} {
	f.done = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	return f.done
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.links.Go(func() { p.serve(client) })
	}
}

// link is a connection to the proxy and its continuation to the target.
type link struct{ ends []net.Conn }

// join adds a connection to a link, unless the link has been cut.
func (p *Proxy) join(l *link, end net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := len(l.ends) == 0; first && !p.closed {
		p.open[l] = true
	}
	if !p.open[l] {
		_ = end.Close()
		return false
	}
	l.ends = append(l.ends, end)
	return true
}

// cut closes both ends of a link. The caller holds the lock.
func (p *Proxy) cut(l *link) {
	delete(p.open, l)
	for _, end := range l.ends {
		_ = end.Close()
	}
}

func (p *Proxy) finish(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut(l)
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	mode, target := p.mode, p.target
	p.mu.Unlock()
	l := &link{}
	if !p.join(l, client) {
		return
	}
	defer p.finish(l)
	switch mode {
	case Refuse:
		return
	case Blackhole:
		_, _ = io.Copy(io.Discard, client) // until the client gives up, or the link is cut
		return
	}
	server, err := net.DialTimeout("tcp", target, 10*time.Second)
	if err != nil || !p.join(l, server) {
		return
	}
	p.links.Go(func() { p.pump(l, ToServer, client, server) })
	p.pump(l, ToClient, server, client)
}

// pump forwards data in one direction until the link ends.
func (p *Proxy) pump(l *link, d Direction, from io.Reader, to io.Writer) {
	defer p.finish(l)
	buffer := make([]byte, 32<<10)
	var before []byte // the latest data that passed
	for {
		n, err := from.Read(buffer)
		pass, hit := p.examine(d, before, buffer[:n])
		if _, err := to.Write(buffer[:pass]); err != nil && hit == nil {
			return
		}
		if hit != nil {
			p.finish(l)
			close(hit.done)
			return
		}
		if err != nil {
			return
		}
		before = append(before, buffer[:n]...)
		before = before[max(0, len(before)-longest):]
	}
}
