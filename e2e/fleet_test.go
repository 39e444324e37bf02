package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

const fleetSize = 3

// fleet is several processes of the service on one database, under the load of
// partners that repeat failed requests with the same key.
type fleet struct {
	*callLog
	t       *testing.T
	members [fleetSize]*member
	tokens  chan struct{} // one element per request that may still be made

	next atomic.Int64 // index of the member that is asked next

	// Attempts that got no answer, that were answered with unavailable or
	// outcome_unknown, and whose request had already taken effect.
	unanswered, failed, replayed atomic.Int64
}

// member is a sequence of processes at one address.
type member struct {
	process *process
	proxy   *faultproxy.Proxy // partners connect to it
	client  *client
	served  atomic.Int64 // Unix ns, the latest start of a request that it served
}

// underFault has a fleet serve a shop while a fault happens. Then every acknowledged
// order has to exist once.
func underFault(t *testing.T, s *shop, fault func(*fleet)) {
	t.Helper()
	f := &fleet{callLog: &callLog{shop: s}, t: t, tokens: make(chan struct{}, 10_000)}
	for i := range f.members {
		f.members[i] = &member{proxy: newProxy(t, "")}
		f.start(f.members[i])
	}
	if s.partner.PartnerID == "" { // an empty database: the first process creates the tables
		s.fill()
	}
	for _, m := range f.members {
		m.client = newClient(t, "http://"+m.proxy.Address(), s.partner.Keys.Live)
		m.client.http.Timeout = patience / 3 // then another member is asked
		f.ready(m)
	}
	wait := f.loadBy(0, f.sendUntilServed)
	stop := sync.OnceValue(func() []*attempt {
		close(f.tokens)
		return wait()
	})
	t.Cleanup(func() { stop() })
	fault(f)
	f.burst()
	sent := stop()
	t.Logf("%d requests; tries without an answer: %d, answered as failed: %d, done already: %d",
		len(sent), f.unanswered.Load(), f.failed.Load(), f.replayed.Load())
	if t.Failed() {
		return
	}
	c := f.members[0].client
	checkAcknowledged(c, sent)
	f.check(c)
}

func (f *fleet) start(m *member) {
	f.t.Helper()
	m.process = f.shop.start()
}

func (f *fleet) ready(m *member) {
	f.t.Helper()
	base := m.process.ready(&m.process.stderr, servingLine)
	m.proxy.Retarget(strings.TrimPrefix(base, "http://"))
	m.proxy.SetMode(faultproxy.Forward)
}

// replace ends the process of a member, and starts another one after the others have
// done some work.
func (f *fleet) replace(m *member, end func(*member)) {
	f.t.Helper()
	f.burst()
	end(m)
	m.proxy.SetMode(faultproxy.Refuse) // another program may have the port by now
	f.burst()
	since := time.Now()
	f.start(m)
	f.ready(m)
	f.recovers("a process was started", since)
}

// sendUntilServed is a partner that asks one member after the other. It is safe for
// concurrent use.
func (f *fleet) sendUntilServed(a *attempt) (more bool) {
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(10 * time.Millisecond) { // pause between attempts
		m := f.members[f.next.Add(1)%fleetSize]
		begun := time.Now()
		f.send(m.client, a)
		switch {
		case f.t.Context().Err() != nil: // the test has failed already
			return false
		case a.err != nil:
			f.unanswered.Add(1)
		case a.acknowledged():
			m.served.Store(begun.UnixNano())
			if a.answer.header.Get("Idempotent-Replayed") == "true" {
				f.replayed.Add(1)
			}
			_, more = <-f.tokens
			return more
		case a.failed():
			f.failed.Add(1)
		default:
			f.t.Errorf("%s was answered %d: %s", a.path, a.answer.status, a.answer.body)
			return false
		}
		if time.Now().After(deadline) {
			f.t.Errorf("%s was not served in %v: status %d, error %v: %s", a.path, 2*patience, a.answer.status, a.err, a.answer.body)
			return false
		}
	}
}

// failed reports whether the service answered that it could not do it.
func (a *attempt) failed() bool {
	var body struct {
		Code string `json:"code"`
	}
	return json.Unmarshal(a.answer.body, &body) == nil && a.answer.status == http.StatusInternalServerError &&
		(body.Code == "unavailable" || body.Code == "outcome_unknown")
}

// burst returns in the middle of many requests.
func (f *fleet) burst() {
	f.t.Helper()
	size := times(48)
	f.grant(size)
	f.waitForLoad(f.t, size/2)
}

func (f *fleet) grant(requests int64) {
	for range requests {
		f.tokens <- struct{}{}
	}
}

// cut waits until the cut has hit a connection, under load.
func (f *fleet) cut(where string, cut <-chan struct{}) {
	f.t.Helper()
	check.Eventually(f.t, patience, pollPause, "a cut "+where, func() bool {
		if len(f.tokens) < loadWorkers {
			f.grant(loadWorkers)
		}
		select {
		case <-cut:
			return true
		default:
			return false
		}
	})
}

// recovers waits until every member has served a request that began after the given
// time, when everything worked again.
func (f *fleet) recovers(what string, since time.Time) {
	f.t.Helper()
	check.Eventually(f.t, patience, pollPause, "every process to serve after "+what, func() bool {
		if len(f.tokens) < loadWorkers {
			f.grant(loadWorkers)
		}
		for _, m := range f.members {
			if m.served.Load() < since.UnixNano() {
				return false
			}
		}
		return true
	})
	f.t.Logf("%s: served by all again after %v", what, time.Since(since).Round(time.Millisecond))
}

// down waits until no member is ready.
func (f *fleet) down() {
	f.t.Helper()
	for i, m := range f.members {
		probe := *m.client
		probe.http = &http.Client{Transport: probe.http.Transport, Timeout: time.Second}
		check.Eventually(f.t, patience, pollPause, fmt.Sprintf("readiness of process %d to fall", i), func() bool {
			a, err := probe.send(get("/readyz"))
			return err != nil || a.status != http.StatusOK
		})
	}
}

func newProxy(t *testing.T, target string) *faultproxy.Proxy {
	t.Helper()
	p, err := faultproxy.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}
