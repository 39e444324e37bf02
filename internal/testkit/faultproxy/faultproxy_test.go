package faultproxy_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

const patience = 30 * time.Second

// server answers each connection with its name, then echoes.
type server struct {
	net.Listener
	name string

	mu  sync.Mutex
	got bytes.Buffer
}

func newServer(t *testing.T, name string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l, name: name}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.WriteString(conn, s.name)
				_, _ = io.Copy(conn, io.TeeReader(conn, s))
			}()
		}
	}()
	return s
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Write(p)
}

func (s *server) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.String()
}

func newProxy(t *testing.T, s *server) *faultproxy.Proxy {
	t.Helper()
	p, err := faultproxy.New(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// connection is a connection through the proxy.
type connection struct {
	t *testing.T
	net.Conn
}

func dial(t *testing.T, p *faultproxy.Proxy) connection {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return connection{t, conn}
}

func (c connection) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c connection) expect(text string) {
	c.t.Helper()
	got := make([]byte, len(text))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != text {
		c.t.Fatalf("got %q (error %v), want %q", got[:n], err, text)
	}
}

// expectEnd expects the text, then a cut.
func (c connection) expectEnd(text string) {
	c.t.Helper()
	got, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) || string(got) != text {
		c.t.Fatalf("got %q and error %v, want %q and a cut", got, err, text)
	}
}

func wait(t *testing.T, cut <-chan struct{}) {
	t.Helper()
	select {
	case <-cut:
	case <-time.After(patience):
		t.Fatal("nothing was cut")
	}
}

func TestModes(t *testing.T) {
	first, second := newServer(t, "first"), newServer(t, "second")
	p := newProxy(t, first)
	a := dial(t, p)
	a.expect("first")
	p.Retarget(second.Addr().String())
	b := dial(t, p)
	b.expect("second")
	a.send("x")
	a.expect("x") // an existing connection stays

	p.SetMode(faultproxy.Refuse)
	dial(t, p).expectEnd("")
	p.SetMode(faultproxy.Blackhole)
	hole := dial(t, p)
	hole.send("y")
	if err := hole.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := hole.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a blackhole gave %d bytes and error %v", n, err)
	}
	b.send("z")
	b.expect("z")

	p.CutAll()
	a.expectEnd("")
	b.expectEnd("")
	p.SetMode(faultproxy.Forward)
	dial(t, p).expect("second")
}

func TestCuts(t *testing.T) {
	type cut struct {
		after    int // or at:
		at       string
		through  bool
		to       faultproxy.Direction
		server   string // what the server receives
		toClient string // what the client receives; nothing may come back on a cut connection
	}
	for name, c := range map[string]cut{
		"bytes to server":   {after: 7, to: faultproxy.ToServer, server: "go, COM"},
		"bytes to client":   {after: 8, to: faultproxy.ToClient, server: "go, COMMIT, go", toClient: "go, COMM"},
		"before the server": {at: "COMMIT", to: faultproxy.ToServer, server: "go, COMMI"},
		"after the server":  {at: "COMMIT", to: faultproxy.ToServer, through: true, server: "go, COMMIT"},
		"before the client": {at: "COMMIT", to: faultproxy.ToClient, server: "go, COMMIT, go", toClient: "go, COMMI"},
		"after the client":  {at: "COMMIT", to: faultproxy.ToClient, through: true, server: "go, COMMIT, go", toClient: "go, COMMIT"},
		"in two parts":      {at: `o, .O`, to: faultproxy.ToServer, through: true, server: "go, CO"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, "hello")
			p := newProxy(t, s)
			conn := dial(t, p)
			conn.expect("hello")
			var done <-chan struct{}
			if c.at != "" {
				done = p.CutAt(c.to, regexp.MustCompile(c.at), c.through)
			} else {
				done = p.CutAfter(c.to, c.after)
			}
			conn.send("go, ")
			conn.expect("go, ")
			conn.send("COMMIT, go")
			wait(t, done)
			if c.to == faultproxy.ToClient {
				conn.expectEnd(strings.TrimPrefix(c.toClient, "go, "))
			}
			check.Eventually(t, patience, time.Millisecond, "the server to get "+c.server, func() bool { return s.String() == c.server })
			other := dial(t, p) // only one connection is cut
			other.expect("hello")
			other.send("COMMIT, COMMIT")
			other.expect("COMMIT, COMMIT")
		})
	}
}
