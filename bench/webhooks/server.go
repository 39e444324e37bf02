package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// server answers each request with 200. It shares the machine with what is
// measured, which would be elsewhere otherwise, so it does as little as it can:
// net/http took a third of what a webhook cost the machine in all.
type server struct {
	listener net.Listener
	take     func(*request)

	mu    sync.Mutex
	conns map[net.Conn]bool // that are open
	most  int               // of them at a time, since it was told to begin
}

// request is valid until take returns.
type request struct {
	raw, body []byte
	head      []byte // with the line break of its last line
	arrived   time.Time
}

func serve(take func(*request)) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l, take: take, conns: map[net.Conn]bool{}}
	go s.accept()
	return s, nil
}

// accept ends with close.
func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.most = max(s.most, len(s.conns))
		s.mu.Unlock()
		go s.serve(conn)
	}
}

func (s *server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = len(s.conns)
}

// connections is how many there were at most.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

func (s *server) close() error {
	err := s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		err = errors.Join(err, conn.Close())
	}
	return err
}

var answered = []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

func (s *server) serve(conn net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
		_ = conn.Close() // by the client already, or by close
	}()
	buf := make([]byte, 8<<10)
	for {
		r, grown, err := receive(conn, buf)
		if err != nil {
			return // the client notices
		}
		buf = grown
		s.take(r)
		if _, err := conn.Write(answered); err != nil {
			return
		}
	}
}

var (
	headEnd   = []byte("\r\n\r\n")
	lineBreak = []byte("\r\n")
)

// receive reads one request into a buffer, which may grow. The client waits for
// the answer before it sends another.
func receive(conn net.Conn, buf []byte) (*request, []byte, error) {
	whole, body := 0, 0 // lengths of the request and its body, once they are known
	for n := 0; ; {
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		more, err := conn.Read(buf[n:])
		if err != nil {
			return nil, buf, err
		}
		n += more
		if i := bytes.Index(buf[:n], headEnd); whole == 0 && i >= 0 {
			if body, err = strconv.Atoi(value(buf[:i+len(lineBreak)], "Content-Length")); err != nil {
				return nil, buf, err
			}
			whole = i + len(headEnd) + body
		}
		switch {
		case whole == 0 || n < whole:
		case n > whole:
			return nil, buf, fmt.Errorf("%d bytes more than Content-Length", n-whole)
		default:
			raw, start := buf[:n], n-body
			return &request{raw: raw, body: raw[start:], head: raw[:start-len(lineBreak)], arrived: time.Now()}, buf, nil
		}
	}
}

// value is that of a header that is spelled as in the name.
func value(head []byte, name string) string {
	_, rest, _ := bytes.Cut(head, []byte("\r\n"+name+": "))
	line, _, _ := bytes.Cut(rest, lineBreak)
	return string(line)
}
