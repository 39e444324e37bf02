package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
	"purveyor/internal/testkit/history"
	"purveyor/internal/testkit/pg"

	"github.com/anishathalye/porcupine"
)

// recorder plays histories one after the other, on three processes and one PostgreSQL, each
// history with products, keys and orders of its own.
type recorder struct {
	t        *testing.T
	database *pg.Server
	members  [fleetSize]*recorded

	// The present history.
	seed  uint64
	began time.Time
	slots []slot

	mu    sync.Mutex
	ops   []history.Op
	notes []history.Note
}

// recorded is one process with a network of its own: the clients reach it, and it reaches the
// database, through proxies.
type recorded struct {
	member
	shop     *shop
	database *faultproxy.Proxy
	down     atomic.Bool // as clients see: they cannot connect, and call another one
}

// Histories of three processes under faults look as if one process had served one call after
// another. PURVEYOR_HISTORIES says how many, and PURVEYOR_HISTORIES_FIRST which seed is the
// first; scripts/histories sets both.
func TestHistories(t *testing.T) {
	t.Parallel()
	program(t)
	count, first := number("PURVEYOR_HISTORIES", 20), number("PURVEYOR_HISTORIES_FIRST", 1)
	r := newRecorder(t)
	var calls, open, failed int
	for n := range count {
		r.record(uint64(first + n))
		if t.Failed() {
			return
		}
		for _, op := range r.ops {
			if calls++; op.Open() {
				open++
			}
		}
		if !r.check() {
			if failed++; failed == 5 {
				break
			}
		}
	}
	t.Logf("%d histories, %d calls, %d of them without a known outcome; %d histories have no order", count, calls, open, failed)
	if failed > 0 {
		t.Fail()
	}
}

func number(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

func newRecorder(t *testing.T) *recorder {
	database, err := pg.Start("", "fsync=off", "shared_buffers=32MB")
	check.OK(t, err)
	r := &recorder{t: t, database: database}
	t.Cleanup(func() { check.OK(t, r.database.Close()) }) // another one after a failover
	filled := &shop{t: t, postgres: r.database.URL("postgres")}
	filled.fill()
	for i := range r.members {
		m := &recorded{member: member{proxy: newProxy(t, "")}, database: newProxy(t, r.database.Address())}
		m.shop = &shop{t: t, partner: filled.partner, postgres: pg.URL("postgres", m.database.Address())}
		m.client = newClient(t, "http://"+m.proxy.Address(), filled.partner.Keys.Live)
		m.client.http.Timeout = 1500 * time.Millisecond // then the outcome is unknown
		r.members[i] = m
		m.process = m.shop.start()
	}
	for _, m := range r.members {
		m.ready()
	}
	return r
}

// ready lets clients reach the process again, once it serves.
func (m *recorded) ready() {
	base := m.process.ready(&m.process.stderr, servingLine)
	m.proxy.Retarget(strings.TrimPrefix(base, "http://"))
	m.proxy.SetMode(faultproxy.Forward)
	m.down.Store(false)
}

// record plays the history of a seed: clients call while faults happen, and look at everything
// once more when all is well again. The seed draws what is called and which faults happen; when
// they happen is up to the machine.
func (r *recorder) record(seed uint64) {
	r.seed, r.ops, r.notes = seed, nil, nil
	r.stock()
	r.began = time.Now()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for id := range historyClients {
		clients.Go(func() { r.newCaller(id).run(stop) })
	}
	r.faults(rand.New(rand.NewPCG(seed, 1)))
	r.recover()
	close(stop)
	clients.Wait()
	r.lookAtAll()
}

// recover waits until each process serves.
func (r *recorder) recover() {
	r.t.Helper()
	for i, m := range r.members {
		check.Eventually(r.t, patience, pollPause, fmt.Sprintf("process %d to serve again", i), func() bool {
			a, err := m.client.send(get("/readyz"))
			return err == nil && a.status == 200
		})
	}
}

// check reports whether each part of the history has an order.
func (r *recorder) check() bool {
	r.t.Helper()
	began, open, wrong, parts := time.Now(), 0, 0, history.Split(r.ops)
	for n, part := range parts {
		for _, op := range part {
			if op.Open() {
				open++
			}
		}
		if history.Check(part) == porcupine.Ok {
			continue
		}
		wrong++
		path, err := history.Write("failed-histories", fmt.Sprintf("history-%d-part-%d", r.seed, n), part, r.notes)
		check.OK(r.t, err)
		text, err := os.ReadFile(path)
		check.OK(r.t, err)
		r.t.Logf("history %d fails: %s\n%s", r.seed, path, text)
	}
	faults := make([]string, len(r.notes))
	for i, n := range r.notes {
		faults[i] = n.Text
	}
	r.t.Logf("history %d: %d calls about %d things in %v, %d without a known outcome, checked in %v, %d fail; %s", r.seed, len(r.ops), len(parts),
		began.Sub(r.began).Round(100*time.Millisecond), open, time.Since(began).Round(time.Millisecond), wrong, strings.Join(faults, "; "))
	return wrong == 0
}

// calls is the number of attempts so far.
func (r *recorder) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ops)
}

// present is the slot of the present moment.
func (r *recorder) present() int { return min(r.calls()/slotCalls, len(r.slots)-1) }

func (r *recorder) now() int64 { return time.Since(r.began).Microseconds() }

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, history.Note{At: r.now(), Text: fmt.Sprintf(format, args...)})
}
