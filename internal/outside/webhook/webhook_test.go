package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string
		want       Result
	}{
		{status: 200},
		{status: 204},
		{status: 200, retryAfter: "7"},
		{status: 304, want: Result{Error: "redirect"}},
		{status: 400, want: Result{Error: "status 400"}},
		{status: 410, want: Result{Error: "status 410"}},
		{status: 429, retryAfter: "7", want: Result{Error: "status 429", RetryAfter: 7 * time.Second}},
		{status: 503, retryAfter: "99999999999999999999", want: Result{Error: "status 503", RetryAfter: 24 * time.Hour}},
		{status: 503, retryAfter: "-7", want: Result{Error: "status 503"}},
		{status: 503, retryAfter: "soon", want: Result{Error: "status 503"}},
		{status: 503, retryAfter: "Wed, 21 Oct 2015 07:28:00 GMT", want: Result{Error: "status 503"}},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(c.status)
		}))
		got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: server.URL})
		server.Close()
		c.want.Status, c.want.TookMs = int64(c.status), got.TookMs
		if got != c.want {
			t.Errorf("%d, Retry-After %q: %+v", c.status, c.retryAfter, got)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = quiet
	untrusted.StartTLS()
	defer untrusted.Close()
	closed := listen(t, func(net.Conn) {})
	_ = closed.Close()
	reset := listen(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	hangup := listen(t, func(c net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(c)) })

	for _, c := range []struct{ name, url, want string }{
		{"refused", "http://" + closed.Addr().String(), "connection refused"},
		{"reset", "http://" + reset.Addr().String(), "connection reset"},
		{"hangs up", "http://" + hangup.Addr().String(), "connection closed without an answer"},
		{"untrusted certificate", untrusted.URL, "certificate is not valid: x509: certificate signed by unknown authority"},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "the endpoint does not speak TLS"},
		{"no URL", "http://user:secret@[", "missing ']' in host"},
		{"another scheme", "file:///etc/passwd", `unsupported protocol scheme "file"`},
	} {
		got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: c.url})
		if got.Status != 0 || got.Error != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestCertificateOfAnotherHost(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	sender := newSender(&net.Dialer{})
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	sender.route.TLSClientConfig = &tls.Config{RootCAs: roots}
	if got := sender.Send(t.Context(), Request{URL: server.URL}); got.Status != 404 {
		t.Errorf("trusted: %+v", got)
	}
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	got := sender.Send(t.Context(), Request{URL: "https://localhost:" + port})
	if !strings.HasPrefix(got.Error, "certificate is not valid: x509: certificate is valid for ") {
		t.Errorf("another host: %+v", got)
	}
}

// listen serves each connection with handle, then closes it.
func listen(t *testing.T, handle func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			handle(c)
			_ = c.Close()
		}
	}()
	return l
}

func TestHang(t *testing.T) {
	arrived := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // otherwise the end of the connection is not noticed
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()

	sender := newSender(&net.Dialer{})
	sender.timeout = 250 * time.Millisecond
	if got := sender.Send(t.Context(), Request{URL: server.URL}); got.Error != "no answer within 0.25 s" || got.TookMs < 250 {
		t.Errorf("%+v", got)
	}
	<-arrived
	over, end := context.WithDeadline(t.Context(), time.Now().Add(-time.Second)) // there is no time left
	defer end()
	got := newSender(&net.Dialer{}).Send(over, Request{URL: server.URL})
	if got.Error != "no answer within 15 s" || len(arrived) != 0 {
		t.Errorf("%+v, %d requests arrived", got, len(arrived))
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if got := newSender(&net.Dialer{}).Send(ctx, Request{URL: server.URL}); got.Error != "cut off: the service stopped" {
		t.Errorf("%+v", got)
	}
}

func TestEndlessAnswer(t *testing.T) {
	const gib = 1 << 30
	var sent atomic.Int64
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for sent.Load() < gib {
			n, err := w.Write(chunk)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: server.URL})
	if got.Error != "" || got.Answer != strings.Repeat("x", 512) {
		t.Errorf("%+v", got)
	}
	<-ended
	if sent.Load() >= gib/2 {
		t.Errorf("%d bytes were taken", sent.Load())
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var followed atomic.Bool
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer inside.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(inside.URL, status))
		got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: server.URL, Body: []byte(body)})
		server.Close()
		if got.Status != int64(status) || got.Error != "redirect" || followed.Load() {
			t.Errorf("%d: %+v, followed: %v", status, got, followed.Load())
		}
	}
}

// An idle connection that the endpoint closes just as it is reused does not cause a
// failure.
func TestLostIdleConnection(t *testing.T) {
	var requests atomic.Int64
	endpoint := listen(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			request, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, request.Body)
			if requests.Add(1) == 2 {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	sender := newSender(&net.Dialer{})
	for range 2 {
		if got := sender.Send(t.Context(), Request{URL: "http://" + endpoint.Addr().String(), Body: []byte(body)}); got.Error != "" {
			t.Errorf("%+v", got)
		}
	}
}

func TestReservedAddresses(t *testing.T) {
	for _, c := range []struct{ kind, addresses string }{
		{"", "1.1.1.1 9.9.9.9 11.0.0.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 223.255.255.255 2606:4700::1111 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::8.8.8.8"},
		{"private", "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1 ::ffff:10.0.0.1 64:ff9b::10.0.0.1"},
		{"private (carrier-grade NAT)", "100.64.0.1 100.127.255.255"},
		{"loopback", "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 64:ff9b::127.0.0.1"},
		{"link-local", "169.254.1.1 fe80::1 fe80::1%eth0 ::ffff:169.254.1.1"},
		{"a metadata service", "169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254 ::ffff:169.254.169.254 64:ff9b::169.254.169.254"},
		{"unspecified", "0.0.0.0 :: ::ffff:0.0.0.0"},
		{"multicast", "224.0.0.1 239.255.255.255 ff02::1"},
		{"reserved", "0.0.0.1 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 255.255.255.255 ::7f00:1 64:ff9b:1::1 100::1 fec0::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 5f00::1"},
	} {
		for _, text := range strings.Fields(c.addresses) {
			if got := reserved(netip.MustParseAddr(text)); got != c.kind {
				t.Errorf("%s: %q, want %q", text, got, c.kind)
			}
		}
	}
}

func TestPrivateAddressIsRefused(t *testing.T) {
	var reached atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())

	guarded := NewSender(false, nil)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		got := guarded.Send(t.Context(), Request{URL: "http://" + host + ":" + port})
		if got.Error == "" || reached.Load() {
			t.Errorf("%s: %+v, reached: %v", host, got, reached.Load())
		}
	}
	// A name that a partner owns may resolve to any address at the time of dialling.
	rebound := newSender(&net.Dialer{Control: refusePrivate, Resolver: loopbackResolver(t)})
	got := rebound.Send(t.Context(), Request{URL: "http://hooks.partner.example:" + port})
	if got.Error != "address 127.0.0.1 is loopback" || reached.Load() {
		t.Errorf("rebinding: %+v, reached: %v", got, reached.Load())
	}
	if got := NewSender(true, nil).Send(t.Context(), Request{URL: server.URL}); got.Error != "" || !reached.Load() {
		t.Errorf("allowed: %+v", got)
	}
}

// loopbackResolver uses a name server that resolves every name to 127.0.0.1.
func loopbackResolver(t *testing.T) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(loopbackReply(packet[:n]), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// loopbackReply answers a DNS query (RFC 1035) with an A record if it asks for one,
// and otherwise with nothing.
func loopbackReply(query []byte) []byte {
	const header = 12
	end := header + strings.IndexByte(string(query[header:]), 0) + 5
	question := query[header:end]
	reply := []byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}
	reply = append(reply, question...)
	if question[len(question)-3] == 1 { // type A
		reply[7] = 1
		reply = fmt.Append(reply, "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x00\x00\x01")
	}
	return reply
}
