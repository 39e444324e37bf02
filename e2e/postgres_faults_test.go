package e2e_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"

	"github.com/jackc/pgx/v5"
)

// The database is gone: every request is refused and changes nothing, and succeeds
// when the database is back.
func TestPostgresGone(t *testing.T) {
	t.Parallel()
	server := newPostgres(t)
	s := &shop{t: t, postgres: server.URL("postgres")}
	s.fill()
	_, c := s.serve()
	before := c.product("p1").Quantity
	check.OK(t, server.Kill())
	requests := refusedAll(c)
	s.operate("partner", "list").refused(t, 1, "cannot be reached", "--database")
	check.OK(t, server.Restart())
	checkAfterwards(t, s, c, requests, before)
}

// Other programs hold all connections of the server.
func TestPostgresConnectionsExhausted(t *testing.T) {
	t.Parallel()
	const connections = 20
	server := newPostgres(t, fmt.Sprint("max_connections=", connections))
	check.OK(t, server.SQL("CREATE DATABASE shop"))
	s := &shop{t: t, postgres: server.URL("shop")}
	s.fill()
	_, c := s.serve()
	before := c.product("p1").Quantity

	var hogs []*pgx.Conn
	hog := func() {
		for {
			conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
			if err != nil {
				return
			}
			hogs = append(hogs, conn)
		}
	}
	hog()
	others := func(what string) int {
		var n int
		check.OK(t, hogs[0].QueryRow(t.Context(), "SELECT count("+what+") FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&n))
		return n
	}
	// The service's own connections are cut, too, and the others take what is free
	// then. A connection that is just being closed still counts for the server, but is
	// no longer listed: only the number of the others tells that none is left.
	check.Eventually(t, patience, pollPause, "the others to have all connections", func() bool {
		others("CASE WHEN datname = 'shop' THEN pg_terminate_backend(pid) END")
		hog()
		return len(hogs) == connections
	})
	requests := refusedAll(c)
	s.operate("partner", "list").refused(t, 1, "no connection left", "max_connections")
	for _, conn := range hogs[1:] {
		check.OK(t, conn.Close(t.Context()))
	}
	// The service may have a connection again before the last of the others has gone.
	check.Eventually(t, patience, pollPause, "the others to be gone", func() bool { return others("CASE WHEN datname <> 'shop' THEN pid END") == 0 })
	check.OK(t, hogs[0].Close(t.Context()))
	checkAfterwards(t, s, c, requests, before)
}

// refusedAll makes reads and writes, which have to be refused, and returns the
// writes.
func refusedAll(c *client) (writes []request) {
	c.t.Helper()
	writes = lockedRequests()
	var wg sync.WaitGroup
	for _, r := range append(slices.Clone(writes), get("/v1/products/p1"), get("/v1/products"), get("/v1/stores")) {
		wg.Go(func() {
			a, err := c.send(r)
			if err != nil {
				c.t.Errorf("%s got no answer: %v", r.path, err)
				return
			}
			a.refusal(c.t, 500, "unavailable")
		})
	}
	wg.Wait()
	c.eventuallyStatus(patience, 503, get("/readyz"))
	return writes
}
