package webhook

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// TestSpellingsOfLoopback checks that no spelling of the machine's own address leads
// to a connection.
func TestSpellingsOfLoopback(t *testing.T) {
	var reached atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	sender := NewSender(false, nil)
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "127.0.0.001",
		"0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "localhost.", "a.localhost", "１２７.０.０.１", "127。0。0。1", "ⓛocalhost",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[::1%25lo]",
		"public.example@127.0.0.1", "127.0.0.1:80@127.0.0.1",
	} {
		got := sender.Send(t.Context(), Request{URL: "http://" + host + ":" + port + "/", Body: []byte(body)})
		if got.Error == "" || got.Status != 0 || reached.Load() {
			t.Fatalf("%s: %+v, reached: %v", host, got, reached.Load())
		}
	}
}

// TestHostileAnswers checks that an endpoint cannot take more time and memory than
// the limits.
func TestHostileAnswers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name          string
		begin, repeat string
		pause         time.Duration // between two repetitions
		status        int64
		want          string
	}{
		{"nothing", "", "", 0, 0, "no answer within 15 s"},
		{"a dribbled head", head + "A: ", "b", time.Second, 0, "no answer within 15 s"},
		{"endless headers", head, "A: b\r\n", 0, 0, "server response headers exceeded 32768 bytes; aborted"},
		{"a dribbled body", head + "Content-Length: 1000\r\n\r\n", "x", time.Second, 200, ""},
		{"endless small chunks", head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 0, 200, ""},
		{"an endless extension of a chunk", head + "Transfer-Encoding: chunked\r\n\r\n1;", "x", 0, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var endpoint sync.WaitGroup
				sender := newSender(&net.Dialer{})
				sender.route.DialContext = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					endpoint.Go(func() { answer(theirs, c.begin, c.repeat, c.pause) })
					return ours, nil
				}
				got := sender.Send(t.Context(), Request{URL: "http://p.example/", Body: []byte(body)})
				if got.Status != c.status || got.Error != c.want || len(got.Answer) > 512 || got.TookMs > timeout.Milliseconds() {
					t.Errorf("%+v", got)
				}
				endpoint.Wait() // the endpoint sees that the connection is closed
			})
		})
	}
}

// answer reads a request, and writes endlessly until the connection is closed.
func answer(c net.Conn, begin, repeat string, pause time.Duration) {
	defer c.Close()
	request, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, request.Body)
	if repeat == "" {
		_, _ = io.Copy(io.Discard, c)
	}
	for text := begin; ; text = repeat {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// TestAnswerForTerminals checks that answers, which operators see in terminals,
// contain no control characters.
func TestAnswerForTerminals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "\x1b[2J\u009b31m\u202egnp\u2066\x00\x07\xff")
	}))
	defer server.Close()
	got := newSender(&net.Dialer{}).Send(t.Context(), Request{URL: server.URL})
	if !utf8.ValidString(got.Answer) || strings.ContainsAny(got.Answer, "\x1b\u009b\u202e\u2066\x00\x07") || !strings.Contains(got.Answer, "gnp") {
		t.Errorf("%q", got.Answer)
	}
}
