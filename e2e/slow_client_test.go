package e2e_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// dribbler is a client that sends a byte from time to time, and never ends.
type dribbler struct {
	conn   net.Conn
	opened time.Time
	cut    chan struct{} // closed when the service has ended the connection
}

// openDribbler connects, sends the start of a request, and continues byte by byte
// until the service cuts the connection.
func openDribbler(t *testing.T, c *client, start string) *dribbler {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, start); err != nil {
		t.Fatal(err)
	}
	d := &dribbler{conn, time.Now(), make(chan struct{})}
	go func() {
		defer close(d.cut)
		_, _ = io.Copy(io.Discard, conn) // until the service or the test closes it
	}()
	go func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-d.cut:
				return
			case <-tick.C:
			}
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
		}
	}()
	return d
}

func (d *dribbler) isCut() bool {
	select {
	case <-d.cut:
		return true
	default:
		return false
	}
}

// 500 dribbling clients delay only themselves, and not for long.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	starts := []string{
		"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		// It announces the largest allowed length, which would be costly to believe.
		"POST /v1/orders/report HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\nIdempotency-Key: slow\r\nX-Api-Key: " + c.key + "\r\n\r\n{",
	}
	const slow = 500
	dribblers := make([]*dribbler, slow)
	for i := range dribblers {
		dribblers[i] = openDribbler(t, c, starts[i%len(starts)])
	}
	sendNormally(c, 200)
	held := 0
	for _, d := range dribblers {
		if !d.isCut() {
			held++
		}
	}
	if t.Logf("%d of %d slow clients were there all the time", held, slow); held == 0 {
		t.Error("the normal requests met no slow ones")
	}
	p.checkMemory()

	const limit = 20 * time.Second // the read timeout is 15 s
	for i, d := range dribblers {
		select {
		case <-d.cut:
		case <-time.After(time.Until(d.opened.Add(limit))):
			t.Fatalf("slow client %d (%q) was not cut off within %v", i, starts[i%len(starts)][:20], limit)
		}
	}
	if got := s.count("SELECT count(*) FROM orders WHERE external_id LIKE 'normal%'"); got != "100" {
		t.Errorf("%s orders of normal clients, want 100", got)
	}
}

// sendNormally makes this many requests, half of them orders, from 8 callers; each
// has to succeed.
func sendNormally(c *client, total int) {
	c.t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(total); n = next.Add(1) {
				r := get("/v1/products?limit=3")
				if n%2 == 0 {
					r = report(fmt.Sprintf("normal-%d", n), "p1", "p2")
				}
				if a, err := c.send(r); err != nil || a.status/100 != 2 {
					c.t.Errorf("%s beside slow clients: status %d, error %v: %s", r.path, a.status, err, a.body)
					return
				}
			}
		})
	}
	wg.Wait()
}
