package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestConnections checks after which answers a connection is used again, and the
// results of unusual answers.
func TestConnections(t *testing.T) {
	const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, c := range []struct {
		name, answer string
		again        bool
		status       int64
		want, err    string
	}{
		{"plain", plain, true, 200, "ok", ""},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", true, 204, "", ""},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true, 200, "ok", ""},
		{"after early hints", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + plain, true, 200, "ok", ""},
		{"nothing but early hints", strings.Repeat("HTTP/1.1 103 Early Hints\r\nA: "+strings.Repeat("a", 1000)+"\r\n\r\n", 50), false, 0, "",
			"server response headers exceeded 32768 bytes; aborted"},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", false, 101, "", "status 101"},
		{"asks to close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok", ""},
		{"an older protocol", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok", ""},
		{"more than an answer", plain + plain, false, 200, "ok", ""},
		{"long", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000), false, 200, strings.Repeat("x", 512), ""},
		{"long headers", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 40_000) + "\r\nContent-Length: 0\r\n\r\n", false, 0, "",
			"server response headers exceeded 32768 bytes; aborted"},
		{"no HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n", false, 0, "", `malformed HTTP response "SSH-2.0-OpenSSH_9.6"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var connections atomic.Int64
			closed := make(chan struct{}, 3)
			endpoint := listen(t, func(n net.Conn) {
				connections.Add(1)
				defer func() { closed <- struct{}{} }()
				for r := bufio.NewReader(n); ; {
					request, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					_, _ = io.WriteString(n, c.answer)
				}
			})
			sender := newSender(&net.Dialer{})
			for range 3 {
				got := sender.Send(t.Context(), Request{URL: "http://" + endpoint.Addr().String(), Body: []byte(body)})
				if got.Status != c.status || got.Answer != c.want || got.Error != c.err {
					t.Errorf("%+v", got)
				}
				if !c.again { // a request that is early would be sent before the sender has seen all that came
					<-closed
				}
			}
			if n := connections.Load(); (n == 1) != c.again {
				t.Errorf("%d connections for three requests", n)
			}
		})
	}
}

// TestUserInfo checks that user and password of the URL reach the endpoint.
func TestUserInfo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		_, _ = io.WriteString(w, user+" "+password)
	}))
	defer server.Close()
	got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: strings.Replace(server.URL, "//", "//ann:s3cret@", 1)})
	if got.Answer != "ann s3cret" {
		t.Errorf("%+v", got)
	}
}

// TestHostileURLs checks that no URL adds a header, leads elsewhere or changes the
// kind of request.
func TestHostileURLs(t *testing.T) {
	for _, u := range []string{"https://p.example/\r\nX-A: b", "https://p.example/?\x00", "https://p.exa mple/", "https:///hook",
		"ftp://p.example/", "gopher://p.example/", "/hook", "%", "http://p.example:port/", "http://[::1"} {
		if got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: u}); got.Error == "" || got.Status != 0 {
			t.Errorf("%q: %+v", u, got)
		}
	}
	for _, path := range []string{"/%0d%0aX-A:%20b", "/a b;c=d/é?q=ü", "?x=%0d%0aX-A:b"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("X-A"))
		}))
		got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: strings.Replace(server.URL, "//", "//a%3An:%0d%0aX-A%3Ab@", 1) + path})
		server.Close()
		if got.Error != "" || got.Answer != "" {
			t.Errorf("%q: %+v", path, got)
		}
	}
}

// TestHTTP2 checks that HTTP/2 is used if the endpoint offers it.
func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	sender := newSender(&net.Dialer{})
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	sender.route.TLSClientConfig = &tls.Config{RootCAs: roots}
	if got := sender.Send(t.Context(), Request{URL: server.URL, Body: []byte(body)}); got.Answer != "HTTP/2.0" || got.Error != "" {
		t.Errorf("%+v", got)
	}
}

// TestConnectionsOfAHost checks the bound on open connections to one host: further
// requests wait for one.
func TestConnectionsOfAHost(t *testing.T) {
	var open, most atomic.Int64
	free := make(chan struct{})
	full := make(chan struct{}, connectionsPerHost)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), open.Add(1)))
		full <- struct{}{}
		<-free
		open.Add(-1)
	}))
	defer server.Close()
	sender := newSender(&net.Dialer{})
	var all sync.WaitGroup
	for range connectionsPerHost + 8 {
		all.Go(func() {
			if got := sender.Send(t.Context(), Request{URL: server.URL, Body: []byte(body)}); got.Error != "" {
				t.Errorf("%+v", got)
			}
		})
	}
	for range connectionsPerHost {
		<-full
	}
	go func() { // these had to wait for a free connection
		for range 8 {
			<-full
		}
	}()
	close(free)
	all.Wait()
	if n := most.Load(); n > connectionsPerHost {
		t.Errorf("%d connections to one host", n)
	}
}

// TestCut checks that a request that is cut ends at once, and that its connection is
// closed.
func TestCut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
		close(closed)
	}))
	defer server.Close()
	sender := newSender(&net.Dialer{})
	if got := sender.Send(ctx, Request{URL: server.URL, Body: []byte(body)}); got.Error != "cut off: the service stopped" {
		t.Errorf("%+v", got)
	}
	<-closed
	if got := sender.Send(ctx, Request{URL: server.URL, Body: []byte(body)}); got.Error != "cut off: the service stopped" { // it has ended before
		t.Errorf("%+v", got)
	}
}

// TestCompressionIsLeftAlone checks that compression is neither requested nor undone,
// so that no answer grows in memory.
func TestCompressionIsLeftAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "asked for "+r.Header.Get("Accept-Encoding")+".")
	}))
	defer server.Close()
	if got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: server.URL}); got.Answer != "asked for ." || got.Error != "" {
		t.Errorf("%+v", got)
	}
}

// TestProxy checks that all requests go through the operator's proxy, and that each
// address of a host is judged before.
func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // must not be read
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := parseProxyAuth(r)
		asked = append(asked, r.Method+" "+r.RequestURI+" by "+user+" "+password)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer proxy.Close()
	at, err := url.Parse(strings.Replace(proxy.URL, "//", "//ann:s3cret@", 1))
	if err != nil {
		t.Fatal(err)
	}
	sender := NewSender(false, at)
	addresses := map[string][]netip.Addr{"inside.example": {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.1")},
		"public.example": {netip.MustParseAddr("8.8.8.8")}, "127.0.0.1": {netip.MustParseAddr("127.0.0.1")}}
	sender.route.lookUp = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if a := addresses[host]; a != nil {
			return a, nil
		}
		return nil, &net.DNSError{Name: host, IsNotFound: true}
	}
	for target, want := range map[string]Result{
		"http://public.example/hook":  {Status: 202},
		"http://inside.example/hook":  {Error: "address 10.0.0.1 is private"},
		"https://inside.example/hook": {Error: "address 10.0.0.1 is private"},
		"http://127.0.0.1/hook":       {Error: "address 127.0.0.1 is loopback"},
		"http://nowhere.example/hook": {Error: "no such host"},
	} {
		got := sender.Send(t.Context(), Request{URL: target, Body: []byte(body)})
		if want.TookMs = got.TookMs; got != want {
			t.Errorf("%s: %+v, want %+v", target, got, want)
		}
	}
	if len(asked) != 1 || asked[0] != "POST http://public.example/hook by ann s3cret" {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if got := NewSender(true, at).Send(t.Context(), Request{URL: "http://127.0.0.1:1/hook"}); got.Status != 202 {
		t.Errorf("private addresses are allowed: %+v", got)
	}
}

// parseProxyAuth reads the proxy's header as BasicAuth does.
func parseProxyAuth(r *http.Request) (user, password string, ok bool) {
	return (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
}
