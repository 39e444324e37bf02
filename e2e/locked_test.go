package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	"zombiezen.com/go/sqlite/sqlitex"
)

// Another process holds the write lock for longer than any request waits: writes are
// refused and change nothing, reads continue, and repeats succeed afterwards.
func TestDatabaseLocked(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	before := c.product("p1").Quantity
	other := openSQLite(t, s.path())
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}

	var operator result
	var wg sync.WaitGroup
	wg.Go(func() { c.eventuallyStatus(patience, 503, get("/readyz")) })
	wg.Go(func() { operator = s.operate("partner", "create", "--name", "Too early") })
	requests := lockedRequests()
	refused := make([]answer, len(requests))
	for i, r := range requests {
		wg.Go(func() {
			var err error
			if refused[i], err = c.send(r); err != nil {
				t.Errorf("%s got no answer: %v", r.path, err)
			}
		})
	}
	reads := readUntil(c, &wg)
	if t.Logf("%d reads while the database was locked", reads); reads == 0 {
		t.Error("there were no reads while the database was locked")
	}
	for _, a := range refused {
		a.refusal(t, 500, "unavailable")
	}
	operator.refused(t, 1, "another process holds the database")
	if got := c.product("p1").Quantity; got != before {
		t.Errorf("stock is %d, want %d as before", got, before)
	}
	if err := sqlitex.ExecuteTransient(other, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	c.eventuallyStatus(patience, 200, get("/readyz"))
	check.Eventually(t, patience, pollPause, "the log to say that the service is ready again", func() bool { return strings.Contains(p.stderr.String(), "ready again") })
	if n := strings.Count(p.stderr.String(), `msg="not ready" fails="the database takes writes"`); n != 1 {
		t.Errorf("the log says %d times that no writes were taken, want once", n)
	}
	if got := s.count("SELECT count(*) FROM orders") + " " + s.count("SELECT count(*) FROM replies"); got != "0 0" {
		t.Errorf("refused requests left orders and replies: %s", got)
	}
	checkAfterwards(t, s, c, requests, before)
	s.checkFile()
}

func lockedRequests() []request {
	list := []request{post("/v1/inventory/adjustments", "adjust",
		map[string]any{"adjustments": []map[string]any{{"product_id": "p1", "delta": 10}}})}
	for i := range 5 {
		list = append(list, report(fmt.Sprintf("locked-%d", i), "p1"))
	}
	return list
}

// readUntil reads until the others are done; every read has to succeed.
func readUntil(c *client, others *sync.WaitGroup) (reads int) {
	c.t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); others.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return reads
		case <-tick.C:
		}
		for _, path := range []string{"/v1/products/p1", "/v1/products", "/v1/stores", "/v1/health", "/readyz?reads=1"} {
			c.must(200, get(path))
		}
		reads++
	}
}

// checkAfterwards repeats the refused requests.
func checkAfterwards(t *testing.T, s *shop, c *client, requests []request, before int64) {
	t.Helper()
	for _, r := range requests {
		first, err := c.send(r)
		if err != nil || first.status/100 != 2 || first.header.Get("Idempotent-Replayed") != "" {
			t.Fatalf("%s after the lock: status %d, error %v: %s", r.path, first.status, err, first.body)
		}
		again := c.must(first.status, r)
		if string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s again: %s, then %s", r.path, first.body, again.body)
		}
	}
	orders := len(requests) - 1
	if got, want := c.product("p1").Quantity, before+10-int64(orders); got != want {
		t.Errorf("stock is %d, want %d", got, want)
	}
	if got := s.count("SELECT count(*) FROM orders"); got != fmt.Sprint(orders) {
		t.Errorf("%s orders, want %d", got, orders)
	}
}
