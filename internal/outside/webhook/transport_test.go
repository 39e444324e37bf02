package webhook

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestConnections: after which answers a connection is used again, and what
// becomes of answers that are not plain.
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
		{"nothing but early hints", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50), false, 103, "", "status 103"},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", false, 101, "", "status 101"},
		{"asks to close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok", ""},
		{"an older protocol", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok", ""},
		{"more than an answer", plain + plain, false, 200, "ok", ""},
		{"long", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000), false, 200, strings.Repeat("x", 512), ""},
		{"long headers", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 40_000) + "\r\nContent-Length: 0\r\n\r\n", false, 0, "",
			"the headers of the answer exceed 32768 bytes"},
		{"no HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n", false, 0, "", `malformed HTTP response "SSH-2.0-OpenSSH_9.6"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var connections atomic.Int64
			endpoint := listen(t, func(n net.Conn) {
				connections.Add(1)
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
			}
			if n := connections.Load(); (n == 1) != c.again {
				t.Errorf("%d connections for three requests", n)
			}
		})
	}
}

// TestUserInfo: who is named in the URL is told to the endpoint.
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

func TestEndpointOf(t *testing.T) {
	for text, want := range map[string]endpoint{
		"http://p.example/hook":         {false, "p.example", "p.example:80"},
		"https://p.example/hook":        {true, "p.example", "p.example:443"},
		"https://p.example:8443":        {true, "p.example", "p.example:8443"},
		"http://b\u00fccher.example":    {false, "xn--bcher-kva.example", "xn--bcher-kva.example:80"},
		"http://under_score.example/":   {false, "under_score.example", "under_score.example:80"},
		"http://[2001:db8::1]:8080/a?b": {false, "2001:db8::1", "[2001:db8::1]:8080"},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := endpointOf(u); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if _, err := endpointOf(&url.URL{Scheme: "http"}); err == nil {
		t.Error("no host is needed")
	}
}

// TestIdleConnections: they are bounded, and closed after a while.
func TestIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newTransport(&net.Dialer{})
		var closed atomic.Int64
		idle := func(host string) *conn {
			ours, theirs := net.Pipe()
			go func() {
				_, _ = theirs.Read(make([]byte, 1))
				closed.Add(1)
			}()
			c := &conn{Conn: ours, to: endpoint{host: host}}
			c.expiry = time.AfterFunc(idleTime, func() { transport.expire(c) })
			return c
		}
		for i := range idleConnectionsPer + 1 {
			c := idle("a")
			if kept := transport.keep(c); kept != (i < idleConnectionsPer) {
				t.Fatalf("connection %d was kept: %v", i, kept)
			} else if !kept {
				_ = c.Close()
				c.expiry.Stop()
			}
		}
		taken := transport.take(endpoint{host: "a"})
		if taken == nil || transport.take(endpoint{host: "b"}) != nil {
			t.Fatal("no connection was there to be taken, or one of another host")
		}
		time.Sleep(idleTime)
		synctest.Wait()
		if n := closed.Load(); n != idleConnectionsPer || transport.count != 0 || len(transport.idle) != 0 {
			t.Errorf("%d are closed, %d of %d hosts are left", n, transport.count, len(transport.idle))
		}
		_ = taken.Close()
	})
}

// TestCutConnection: a connection whose request was cut is not used again, and
// one that was idle is cut as well as a new one.
func TestCutConnection(t *testing.T) {
	for _, before := range []int{0, 1, 2} { // requests that are answered
		ctx, cancel := context.WithCancel(t.Context())
		left := before
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if left--; left < 0 {
				cancel()
				<-r.Context().Done()
			}
		}))
		sender := newSender(&net.Dialer{})
		send := func(ctx context.Context) Result {
			return sender.Send(ctx, Request{URL: server.URL, Body: []byte(body)})
		}
		for range before {
			if got := send(ctx); got.Error != "" || sender.transport.count != 1 {
				t.Errorf("%+v, %d connections are kept", got, sender.transport.count)
			}
		}
		if got := send(ctx); got.Error != "cut off: the service stopped" || sender.transport.count != 0 {
			t.Errorf("after %d requests: %+v, %d connections are kept", before, got, sender.transport.count)
		}
		left = 1
		if got := send(t.Context()); got.Error != "" {
			t.Errorf("%+v", got)
		}
		if got := send(ctx); got.Error != "cut off: the service stopped" { // it has ended before
			t.Errorf("%+v", got)
		}
		server.Close()
	}
}

// TestCutWhileIdle: a connection that was cut while nobody used it costs the next
// request nothing but a new one.
func TestCutWhileIdle(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	sender := newSender(&net.Dialer{})
	first, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{first, t.Context()} {
		if got := sender.Send(ctx, Request{URL: server.URL, Body: []byte(body)}); got.Error != "" {
			t.Errorf("%+v", got)
		}
		cancel()
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections for two requests", n)
	}
}
