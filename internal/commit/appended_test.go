package commit_test

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// desk is a Starter that has room for some jobs.
type desk struct {
	mu                 sync.Mutex
	kind               commerce.JobKind // empty: deliveries
	room               int
	started, cancelled []commerce.Job
}

func (d *desk) Reserve(job commerce.Job) (commerce.Job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room == 0 || job.Kind != cmp.Or(d.kind, commerce.JobDeliverWebhook) {
		return job, false
	}
	d.room--
	return job.LeasedTo("me", 77), true
}

func (d *desk) EndReservation(jobs []commerce.Job, saved bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if saved {
		d.started = append(d.started, jobs...)
		return
	}
	d.cancelled = append(d.cancelled, jobs...)
	d.room += len(jobs)
}

// TestStarter reports an order, which asks for one delivery: its job is saved with a
// lease and handed over once, or left to be claimed by polling.
func TestStarter(t *testing.T) { onEveryEngine(t, testStarter) }

func testStarter(t *testing.T, open opener) {
	for _, c := range []struct {
		name                       string
		room                       int
		failure                    storagetest.Failure
		keyed                      bool
		stored, started, cancelled int
		leasedTo                   string
	}{
		{name: "room", room: 1, stored: 1, started: 1, leasedTo: "me"},
		{name: "no room", stored: 1},
		{name: "refused", room: 1, failure: storagetest.Refused, cancelled: 1},
		{name: "not persisted, with an unknown outcome", room: 1, failure: storagetest.BeforeSave, cancelled: 1},
		{name: "persisted, with an unknown outcome", room: 1, failure: storagetest.AfterSave, stored: 1, cancelled: 1, leasedTo: "me"},
		{name: "not persisted, tried again", room: 1, failure: storagetest.BeforeSave, keyed: true, stored: 1, started: 1, cancelled: 1, leasedTo: "me"},
		{name: "persisted, as turns out", room: 1, failure: storagetest.AfterSave, keyed: true, stored: 1, cancelled: 1, leasedTo: "me"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &desk{room: c.room}
			s := openShopWith(t, open, 1, 10, d)
			s.engine.Fail(c.failure)
			if c.keyed {
				must(commit.Do(t.Context(), s.Committer, s.once("k", s.Report(0, 1))))
			} else if _, err := commit.Do(t.Context(), s.Committer, s.Report(0, 1)); (err == nil) != (c.failure == storagetest.Never) {
				t.Error(err)
			}
			stored, err := s.engine.Reader().Jobs(t.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: "ptn_1", Limit: 5})
			if err != nil || len(stored) != c.stored || len(d.started) != c.started || len(d.cancelled) != c.cancelled || d.room != c.room-c.started {
				t.Fatalf("stored %+v, %v\nstarted %+v\ncancelled %+v\nroom %d; want %+v", stored, err, d.started, d.cancelled, d.room, c)
			}
			if c.stored == 1 && (stored[0].LeasedBy != c.leasedTo || (c.leasedTo != "") != (stored[0].LeasedUntil == 77)) {
				t.Errorf("stored %+v", stored[0])
			}
			if c.started == 1 {
				if started := s.withoutEvents(d.started); started[0] != stored[0] {
					t.Errorf("started %+v\nstored %+v", started[0], stored[0])
				}
			}
		})
	}
}

// TestStarterOfABatch: what a refused command asked for is not started, and
// of the rest as much as there is room for.
func TestStarterOfABatch(t *testing.T) { onEveryEngine(t, testStarterOfABatch) }

func testStarterOfABatch(t *testing.T, open opener) {
	d := &desk{room: 2}
	s := openShopWith(t, open, 1, 3, d)
	var run []func()
	for range 5 {
		run = append(run, func() { _, _ = commit.Do(t.Context(), s.Committer, s.Report(0, 1)) })
	}
	s.together(run...)
	stored, err := s.engine.Reader().Jobs(t.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: "ptn_1", Limit: 9})
	leased := slices.DeleteFunc(slices.Clone(stored), func(j commerce.Job) bool { return j.LeasedBy == "" })
	if err != nil || len(stored) != 3 || !slices.Equal(s.withoutEvents(d.started), leased) || len(leased) != 2 || len(d.cancelled) > 0 {
		t.Errorf("%v\nstored %+v\nstarted %+v\ncancelled %+v", err, stored, d.started, d.cancelled)
	}
}

// TestStarterHasTheOrder: the job that opens a payment session is handed over
// with its own order and payment, as they are stored.
func TestStarterHasTheOrder(t *testing.T) { onEveryEngine(t, testStarterHasTheOrder) }

func testStarterHasTheOrder(t *testing.T, open opener) {
	d := &desk{kind: commerce.JobOpenSession, room: 9}
	s := openShopWith(t, open, 1, 10, d)
	var run []func()
	for n := range int64(3) {
		cmd := s.Checkout(0, n+1)
		run = append(run, func() { must(commit.Do(t.Context(), s.Committer, cmd)) })
	}
	s.together(run...)
	if len(d.started) != 3 {
		t.Fatalf("started %+v", d.started)
	}
	for _, j := range d.started {
		key := commerce.OrderKey{StoreID: j.Owner, OrderID: j.Subject}
		order, paid := must(s.engine.Reader().Order(t.Context(), key)), must(s.engine.Reader().Payment(t.Context(), key))
		if j.Order == nil || j.Payment == nil || !reflect.DeepEqual(*j.Order, order) || !reflect.DeepEqual(*j.Payment, paid) {
			t.Errorf("handed over %+v, %+v\nstored %+v, %+v", j.Order, j.Payment, order, paid)
		}
	}
}

// withoutEvents sees that deliveries are handed over with their events, as those
// are stored, and gives what is stored of the jobs.
func (s *shop) withoutEvents(started []commerce.Job) []commerce.Job {
	s.T.Helper()
	list := slices.Clone(started)
	for i, j := range list {
		key := commerce.EventKey{PartnerID: j.Owner, ID: j.Subject}
		found, err := s.engine.Reader().WebhookEvents(s.T.Context(), []commerce.EventKey{key})
		if err != nil || j.Event == nil {
			s.T.Fatalf("event of %+v: %v", j, err)
		}
		event := *j.Event
		event.To = nil // is not stored
		if !reflect.DeepEqual(found[key], event) {
			s.T.Errorf("handed over %+v\nstored %+v", event, found[key])
		}
		list[i].Event = nil
	}
	return list
}
