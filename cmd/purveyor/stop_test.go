package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/web"
)

// tardy is a listener that has accepted a connection when it is closed, and hands it over later.
type tardy struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *tardy) Accept() (net.Conn, error) {
	if c, open := <-l.conns; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *tardy) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *tardy) Addr() net.Addr { return &net.TCPAddr{} }

// stopping serves until the service stops. The test gets the listener that is closed then, and
// what tells that all were answered.
func stopping(t *testing.T) (*tardy, <-chan error) {
	l, served, over := &tardy{conns: make(chan net.Conn), closed: make(chan struct{})}, make(chan error, 1), make(chan error, 1)
	server := newHTTPServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), nil)
	callers := limitConnections(l, 8, web.Proxies{})
	go func() { served <- door{}.serve(server, callers) }()
	synctest.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), drainPeriod)
	t.Cleanup(cancel)
	go func() { over <- answerAll(ctx, server, callers, served) }()
	<-l.closed
	return l, over
}

// TestAnswerAll: a connection that was accepted just before the service stops has its first request
// answered, and ends with the answer.
func TestAnswerAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, over := stopping(t)
		caller, conn := net.Pipe()
		l.conns <- conn
		close(l.conns)
		synctest.Wait()
		if len(over) > 0 {
			t.Fatal("the service stops before a connection that it has accepted is answered")
		}
		if _, err := fmt.Fprint(caller, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(caller), nil)
		if err != nil || res.StatusCode != http.StatusOK || !res.Close {
			t.Fatalf("%v, %v", res, err)
		}
		_ = res.Body.Close()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// TestAnswerAllGoesOn: a connection that stays open delays the server's own end, which tells callers
// by HTTP/2 to go, by the period for first requests and no longer.
func TestAnswerAllGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, l := time.Now(), &tardy{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		server, callers, served := newHTTPServer(http.NotFoundHandler(), nil), limitConnections(l, 8, web.Proxies{}), make(chan error, 1)
		var ends time.Duration
		told := make(chan struct{})
		server.RegisterOnShutdown(func() {
			ends = time.Since(began)
			close(told)
		})
		caller, conn := net.Pipe()
		defer caller.Close()
		l.conns <- conn
		close(l.conns)
		served <- door{}.serve(server, callers)
		ctx, cancel := context.WithTimeout(t.Context(), drainPeriod)
		defer cancel()
		if err := answerAll(ctx, server, callers, served); err != nil {
			t.Error(err)
		}
		if <-told; ends != firstPeriod {
			t.Errorf("the server began to end after %s, not %s", ends, firstPeriod)
		}
	})
}
