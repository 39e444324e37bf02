package e2e_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
)

// Bodies and headers that are too large get a clear answer, take little memory and do
// not affect other clients.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	stopNeighbour := startNeighbour(c)
	const deep = 20_000
	nested := `{"items":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}"
	huge := `{"external_order_id":"` + strings.Repeat("x", 12<<20) + `"}`
	cases := []struct {
		name, body, want string
		chunked          bool
	}{
		{"12 MiB", huge, "256 KiB", false},
		{"12 MiB in chunks", huge, "256 KiB", true},
		{"nested", nested, "items[0]", false},
		{"nested, not closed", strings.Repeat(`{"a":`, deep), "valid JSON", false},
		{"nested, unknown field", `{"x":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}", "valid JSON", false},
		{"256 KiB of brackets", strings.Repeat("[", 256<<10), "JSON object", false},
		{"256 KiB of brackets in an object", `{"a":` + strings.Repeat("[", 256<<10-5), "valid JSON", false},
	}
	var wg sync.WaitGroup
	for _, tc := range cases {
		for range 10 { // at once, so that a leak would show
			wg.Go(func() {
				r := post("/v1/orders/report", tc.name, tc.body)
				req, err := c.httpRequest(r)
				if err != nil {
					t.Error(err)
					return
				}
				if tc.chunked {
					req.ContentLength = -1
				}
				a, err := c.do(req)
				if err != nil {
					t.Errorf("%s: no answer: %v", tc.name, err)
					return
				}
				if message := a.refusal(t, 400, "invalid_body"); !strings.Contains(message, tc.want) {
					t.Errorf("%s: message %q does not say %q", tc.name, message, tc.want)
				}
			})
		}
	}
	wg.Wait()
	checkLongHeaders(t, c)
	checkAsterisk(t, c)
	stopNeighbour()
	p.checkMemory()
	if got := s.count("SELECT count(*) FROM orders"); got != "0" {
		t.Errorf("%s orders came of it", got)
	}
}

func checkLongHeaders(t *testing.T, c *client) {
	t.Helper()
	// One header that is too long, then many that are too long together.
	for _, headers := range []string{"X-Long: " + strings.Repeat("x", 24<<10), strings.Repeat("X-Many: "+strings.Repeat("x", 100)+"\r\n", 300)} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", c.key)
		for line := range strings.SplitSeq(strings.TrimSuffix(headers, "\r\n"), "\r\n") {
			name, value, _ := strings.Cut(line, ": ")
			req.Header.Add(name, value)
		}
		if a, err := c.do(req); err != nil || a.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("headers of %d bytes: status %d, error %v, want 431", len(headers), a.status, err)
		}
	}
}

// checkAsterisk asks for the options of the whole server, which is not a path.
func checkAsterisk(t *testing.T, c *client) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer{res.StatusCode, res.Header, body}.refusal(t, 404, "not_found")
}

// startNeighbour starts another client with one connection, which must work all the
// time. The returned function stops it.
func startNeighbour(c *client) (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan int)
	go func() {
		own := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: patience}
		defer own.CloseIdleConnections()
		n := 0
		for ; ctx.Err() == nil; n++ {
			reused := true
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
			req, err := http.NewRequestWithContext(httptrace.WithClientTrace(c.t.Context(), trace), "GET", c.base+"/v1/products/p1", nil)
			if err != nil {
				c.t.Error(err)
				break
			}
			req.Header.Set("X-Api-Key", c.key)
			res, err := own.Do(req)
			if err != nil {
				c.t.Errorf("the neighbour got no answer: %v", err)
				break
			}
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != 200 || (n > 0 && !reused) {
				c.t.Errorf("the neighbour's request %d: status %d, error %v, same connection %v", n, res.StatusCode, err, reused)
				break
			}
		}
		done <- n
	}()
	return func() {
		cancel()
		if n := <-done; n == 0 {
			c.t.Error("the neighbour did nothing")
		}
	}
}
