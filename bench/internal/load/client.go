package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// connection is one keep-alive connection of the load generator. It does as
// little as it can, for it shares the machine with what it measures.
type connection struct {
	conn net.Conn
	buf  []byte
}

func dial(addr string, deadline time.Time) (*connection, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &connection{conn: conn, buf: make([]byte, 8<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// roundTrip sends a request and reads its whole answer. The body is valid
// until the next call. After an error the connection is of no use.
func (c *connection) roundTrip(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	n, head := 0, -1
	for head < 0 {
		if n == len(c.buf) {
			return 0, nil, errors.New("the header does not end")
		}
		more, err := c.conn.Read(c.buf[n:])
		if err != nil {
			return 0, nil, err
		}
		from := max(0, n-3)
		n += more
		if i := bytes.Index(c.buf[from:n], headEnd); i >= 0 {
			head = from + i
		}
	}
	status, size, err := parseHead(c.buf[:head])
	if err != nil {
		return 0, nil, err
	}
	start := head + len(headEnd)
	end := start + size
	if n > end {
		return 0, nil, fmt.Errorf("%d bytes more than Content-Length", n-end)
	}
	if end > len(c.buf) {
		grown := make([]byte, end+4<<10)
		copy(grown, c.buf[:n])
		c.buf = grown
	}
	if _, err := io.ReadFull(c.conn, c.buf[n:end]); err != nil {
		return 0, nil, err
	}
	return status, c.buf[start:end], nil
}

var (
	headEnd      = []byte("\r\n\r\n")
	lengthHeader = []byte("\r\nContent-Length: ")
)

// parseHead reads the status and the length of the body; head ends before
// the empty line.
func parseHead(head []byte) (status, size int, err error) {
	if len(head) < len("HTTP/1.1 200") || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("not an HTTP/1.1 answer: %.40q", head)
	}
	if status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return 0, 0, fmt.Errorf("not a status: %.40q", head)
	}
	i := bytes.Index(head, lengthHeader)
	if i < 0 {
		return 0, 0, errors.New("no Content-Length")
	}
	text := head[i+len(lengthHeader):]
	if end := bytes.IndexByte(text, '\r'); end >= 0 {
		text = text[:end]
	}
	if size, err = strconv.Atoi(string(text)); err != nil || size < 0 {
		return 0, 0, fmt.Errorf("Content-Length %q", text)
	}
	return status, size, nil
}

// appendGet appends a GET request.
func appendGet(b []byte, path, key string) []byte {
	b = append(b, "GET "...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: bench\r\nX-Api-Key: "...)
	b = append(b, key...)
	return append(b, "\r\n\r\n"...)
}

// appendPost appends a POST request with an idempotency key.
func appendPost(b []byte, path, key, idempotency string, body []byte) []byte {
	return AppendRequest(b, path, body, "X-Api-Key", key, "Idempotency-Key", idempotency)
}

// AppendRequest appends a POST request with headers, a name and a value in turn.
func AppendRequest(b []byte, path string, body []byte, headers ...string) []byte {
	b = append(b, "POST "...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json"...)
	for i := 0; i < len(headers); i += 2 {
		b = append(b, "\r\n"...)
		b = append(b, headers[i]...)
		b = append(b, ": "...)
		b = append(b, headers[i+1]...)
	}
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// get is one request outside of any measurement.
func get(addr, path, key string) ([]byte, error) {
	c, err := dial(addr, time.Now().Add(10*time.Second))
	if err != nil {
		return nil, err
	}
	defer c.close()
	status, body, err := c.roundTrip(appendGet(nil, path, key))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if status != 200 {
		return nil, fmt.Errorf("GET %s: status %d: %.300s", path, status, body)
	}
	return bytes.Clone(body), nil
}
