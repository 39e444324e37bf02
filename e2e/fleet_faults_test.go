package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
	"purveyor/internal/testkit/pg"
)

var anAnswer = regexp.MustCompile(`HTTP/1.1 20`)

// Processes are killed in the middle of their work: at a random moment, and when the
// work is done but the partner has no answer yet.
func TestFleetKilled(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(f *fleet) {
		anytime := func(m *member) { m.process.kill() }
		done := func(m *member) {
			f.cut("at an answer", m.proxy.CutAt(faultproxy.ToClient, anAnswer, false))
			m.process.kill()
		}
		for range times(1) {
			f.replace(f.members[0], done)
			f.replace(f.members[1], anytime)
			f.replace(f.members[2], done)
			f.replace(f.members[0], anytime)
		}
		if f.replayed.Load() == 0 {
			f.t.Error("no repeated request was done already, so the kills did not hit")
		}
	})
}

// Processes are replaced one by one, as for an upgrade. Partners that repeat
// unanswered requests see no failure.
func TestFleetRolled(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(f *fleet) {
		for _, m := range f.members {
			f.replace(m, func(m *member) { m.process.stop() })
		}
		if n := f.failed.Load(); n > 0 {
			f.t.Errorf("%d requests were answered as failed, want none", n)
		}
	})
}

// onBothEngines is underFault for faults outside of the database.
func onBothEngines(t *testing.T, fault func(*fleet)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		underFault(t, &shop{t: t, dir: t.TempDir()}, fault)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		underFault(t, &shop{t: t, postgres: database(t)}, fault)
	})
}

// Connections to the database break in the middle of transactions.
func TestFleetConnectionsCut(t *testing.T) {
	t.Parallel()
	proxy, url := throughProxy(t, pg.Shared(t))
	underFault(t, &shop{t: t, postgres: url}, func(f *fleet) {
		for n := 1; n < 20_000; n = 2*n + 300 {
			f.cut(fmt.Sprintf("after %d bytes to the server", n), proxy.CutAfter(faultproxy.ToServer, n))
			f.cut(fmt.Sprintf("after %d bytes from the server", n), proxy.CutAfter(faultproxy.ToClient, n))
		}
		for range 4 {
			f.cut("before a commit is answered", proxy.CutAt(faultproxy.ToClient, faultproxy.Saved, false))
			f.cut("after a commit is answered", proxy.CutAt(faultproxy.ToClient, faultproxy.Saved, true))
			f.burst()
			proxy.CutAll()
		}
		f.recovers("all connections were cut", time.Now())
		for _, mode := range []faultproxy.Mode{faultproxy.Refuse, faultproxy.Blackhole} {
			f.burst()
			proxy.SetMode(mode)
			proxy.CutAll()
			f.down()
			since := time.Now()
			proxy.SetMode(faultproxy.Forward)
			f.recovers(fmt.Sprintf("the network did %v", mode), since)
		}
	})
}

// throughProxy returns the URL of a new database behind a proxy.
func throughProxy(t *testing.T, s *pg.Server) (*faultproxy.Proxy, string) {
	t.Helper()
	proxy := newProxy(t, s.Address())
	return proxy, strings.Replace(s.Database(t), s.Address(), proxy.Address(), 1)
}

// The database stops in order, and crashes.
func TestFleetDatabaseRestarted(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	underFault(t, &shop{t: t, postgres: s.URL("postgres")}, func(f *fleet) {
		for _, end := range []func() error{s.Stop, s.Kill} {
			f.burst()
			check.OK(t, end())
			f.down()
			check.OK(t, s.Restart())
			f.recovers("the database was restarted", time.Now())
		}
	})
}

// The database fails over to its synchronous standby.
func TestFleetFailover(t *testing.T) {
	t.Parallel()
	primary := newPostgres(t)
	standby, err := primary.Standby("")
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, standby.Close()) })
	url := pg.URL("postgres", primary.Address(), standby.Address())
	underFault(t, &shop{t: t, postgres: url}, func(f *fleet) {
		f.burst()
		check.OK(t, primary.Kill())
		f.down()
		check.OK(t, standby.Promote())
		f.recovers("the failover", time.Now())
	})
}

// newPostgres starts a server that the test may end. Its crash is one of the server,
// not of the machine, so the server need not wait for the disk.
func newPostgres(t *testing.T, settings ...string) *pg.Server {
	t.Helper()
	s, err := pg.Start("", append(settings, "fsync=off", "shared_buffers=32MB")...)
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, s.Close()) })
	return s
}
