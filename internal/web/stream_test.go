package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/env"
)

// one is a listener with one connection.
type one struct {
	net.Listener
	conn chan net.Conn
	done chan struct{}
}

func (o one) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

func (o one) Close() error   { close(o.done); return nil }
func (o one) Addr() net.Addr { return &net.TCPAddr{} }

// A stream that is silent for longer than its client has to read a part goes on, over HTTP/1
// and over HTTP/2, which ends what is past its deadline even while nothing is written.
func TestStreamsOutliveTheirSilence(t *testing.T) {
	for name, protocol := range map[string]func(*http.Protocols, bool){"HTTP/1": (*http.Protocols).SetHTTP1, "HTTP/2": (*http.Protocols).SetUnencryptedHTTP2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				protocols := new(http.Protocols)
				protocol(protocols, true)
				const limit, pause = 10 * time.Second, 15 * time.Second
				server := http.Server{Protocols: protocols, WriteTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					for range 5 {
						if err := Push(env.Env{}, w, []byte("part\n"), limit, pause); err != nil {
							t.Error(err)
							return
						}
						time.Sleep(pause)
					}
				})}
				here, there := net.Pipe()
				l := one{conn: make(chan net.Conn, 1), done: make(chan struct{})}
				l.conn <- there
				go func() { _ = server.Serve(l) }()
				client := http.Client{Transport: &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return here, nil }}}
				answer, err := client.Get("http://shop.example/")
				if err != nil {
					t.Fatal(err)
				}
				parts, err := 0, error(nil)
				for lines := bufio.NewReader(answer.Body); err == nil; parts++ {
					_, err = lines.ReadString('\n')
				}
				if parts != 6 || err != io.EOF {
					t.Errorf("%d parts, then %v", parts-1, err)
				}
				_ = answer.Body.Close()
				client.CloseIdleConnections()
				_ = server.Close()
			})
		})
	}
}
