package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	"zombiezen.com/go/sqlite/sqlitex"
)

// SIGTERM under load: requests from before are answered, the process ends cleanly and
// in time, and nothing that was answered is lost.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	l := &callLog{shop: s}
	for round := range 3 {
		p, c := s.serve()
		wait := l.load(c, round)
		l.waitForLoad(t, times(40))
		signalled := time.Now().UnixNano()
		p.stop()
		sent := wait()
		for _, a := range sent {
			if sent := a.sent.Load(); a.err != nil && sent > 0 && sent < signalled {
				t.Errorf("%s was sent %v before the signal, and cut: %v", a.path, time.Duration(signalled-sent), a.err)
			}
		}
		p, c = s.serve()
		checkAcknowledged(c, sent)
		l.repeatUnanswered(c, sent)
		l.check(c)
		p.stop()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// A slow but honest client still gets an answer; a dribbling one does not delay the
// end.
func TestStopWithSlowBodies(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	honest := openUpload(t, c, "honest", "p1")
	dribbling := openUpload(t, c, "dribbling", "p2")
	stopped := make(chan struct{})
	defer close(stopped)
	go dribbling.dribble(200*time.Millisecond, stopped)

	p.signal(syscall.SIGTERM)
	// Load balancers see the end coming before connections are refused.
	check.Eventually(t, patience, pollPause, "readiness to fall", func() bool {
		a, err := c.send(get("/readyz"))
		if err != nil {
			t.Fatalf("connections were refused before readiness fell: %v", err)
		}
		return a.status == http.StatusServiceUnavailable
	})
	check.Eventually(t, patience, pollPause, "new connections to be refused", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	orderID := honest.finish().orderID(t)
	if code := p.exit(10 * time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if got := s.rows("SELECT id FROM orders"); len(got) != 1 || got[0] != orderID {
		t.Errorf("the file has the orders %v, want only %s", got, orderID)
	}
}

// Requests that wait for a locked database are admitted: they are answered before the
// process ends, and it still ends in time.
func TestStopWhileLocked(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	other := openSQLite(t, s.path())
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	l := &callLog{shop: s}
	var wg sync.WaitGroup
	waiting := make([]*attempt, 6) // more than one batch: the first request waits alone
	for i := range waiting {
		waiting[i] = &attempt{request: report(fmt.Sprintf("waiting-%d", i), "p1")}
		wg.Go(func() { l.send(c, waiting[i]) })
	}
	check.Eventually(t, patience, pollPause, "the requests to be sent", func() bool {
		return !slices.ContainsFunc(waiting, func(a *attempt) bool { return a.sent.Load() == 0 })
	})
	p.stop()
	wg.Wait()
	for _, a := range waiting {
		if a.err != nil {
			t.Errorf("%s was cut: %v", a.key, a.err)
			continue
		}
		a.answer.refusal(t, 500, "unavailable")
	}
}

// upload is a report whose body arrives slowly.
type upload struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
	rest string // of the body
}

// openUpload sends the head of a report and half of its body, and returns once the
// service reads the body: it asks for it with 100 Continue.
func openUpload(t *testing.T, c *client, external, product string) *upload {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := report(external, product)
	data, err := json.Marshal(r.body)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		r.path, c.key, r.key, len(data))
	if err != nil {
		t.Fatal(err)
	}
	u := &upload{t, conn, bufio.NewReader(conn), string(data)}
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := u.from.ReadString('\n'); err != nil || line != want {
			t.Fatalf("%q (error %v), want %q", line, err, want)
		}
	}
	u.write(len(data) / 2)
	return u
}

func (u *upload) write(n int) {
	u.t.Helper()
	if _, err := io.WriteString(u.conn, u.rest[:n]); err != nil {
		u.t.Fatal(err)
	}
	u.rest = u.rest[n:]
}

// finish sends the rest, and expects an order.
func (u *upload) finish() answer {
	u.t.Helper()
	u.write(len(u.rest))
	res, err := http.ReadResponse(u.from, nil)
	if err != nil {
		u.t.Fatalf("a body that was on its way got no answer: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		u.t.Fatalf("status %d (error %v): %s", res.StatusCode, err, body)
	}
	return answer{res.StatusCode, res.Header, body}
}

// dribble sends byte after byte, but never the last one.
func (u *upload) dribble(every time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := 0; i < len(u.rest)-1; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if _, err := io.WriteString(u.conn, u.rest[i:i+1]); err != nil {
			return // cut off
		}
	}
}
