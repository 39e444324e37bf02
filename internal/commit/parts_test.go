package commit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// TestComplete: every appended row has an id of its kind, a job runs in the mode that its command
// names, or in live, and the job of an event in the event's, when the event happened.
func TestComplete(t *testing.T) {
	ids := idSource{now: 1000, slot: 7, encode: func(commerce.WebhookEvent) []byte { return []byte("{}") }}
	c := commerce.Changes{
		Webhooks: []commerce.WebhookEvent{
			{Mode: commerce.Test, Timestamp: 1005, About: &commerce.EventData{}, To: []string{"one", "two"}},
			{Mode: commerce.Live, Timestamp: 1006},
		},
		Attempts: make([]commerce.WebhookAttempt, 1), Outbox: make([]commerce.UnsentMessage, 1),
		StrayCallbacks: make([]commerce.StrayCallback, 1), Audit: make([]commerce.AuditEntry, 1),
		NewJobs: []commerce.Job{{Kind: "a", Mode: commerce.Test}, {Kind: "b", RunAt: 9}},
	}
	ids.complete(&c)
	for prefix, id := range map[string]string{
		commerce.PrefixEvent: c.Webhooks[1].ID, commerce.PrefixAttempt: c.Attempts[0].ID, commerce.PrefixOutbox: c.Outbox[0].ID,
		commerce.PrefixStrayCallback: c.StrayCallbacks[0].ID, commerce.PrefixAudit: c.Audit[0].ID, commerce.PrefixJob: c.NewJobs[0].ID,
	} {
		if !strings.HasPrefix(id, prefix) {
			t.Errorf("%q should begin with %s", id, prefix)
		}
	}
	event := &c.Webhooks[0]
	want := []commerce.Job{{Kind: "a", Mode: commerce.Test}, {Kind: "b", Mode: commerce.Live, RunAt: 9}}
	for _, owner := range event.To {
		want = append(want, commerce.Job{Kind: commerce.JobDeliverWebhook, Mode: commerce.Test, Owner: owner, Subject: event.ID, RunAt: 1005, Event: event})
	}
	for i := range want {
		want[i].Slot, want[i].ID, want[i].State = 7, c.NewJobs[i].ID, commerce.JobWaiting
	}
	if !slices.Equal(c.NewJobs, want) || event.About != nil || string(event.Data) != "{}" {
		t.Errorf("jobs %+v, want %+v; event %+v", c.NewJobs, want, event)
	}
}

// asking is a call that needs the stock of a store's products.
func asking(stores ...string) *call {
	p := &call{done: make(chan struct{})}
	for _, s := range stores {
		p.needs.Stock = append(p.needs.Stock, commerce.ProductKey{StoreID: s, ProductID: "p"})
	}
	return p
}

// TestNextAside: calls that met a lock have a time of their own, and so do calls that follow one
// of those. The earlier one is next, and of one kind the one that came first.
func TestNextAside(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	follows, met := waiting{}, waiting{tried: true}
	for _, c := range []struct {
		calls             []waiting
		locked, followers time.Time
		next              int
		at                time.Time
	}{
		{nil, early, late, -1, time.Time{}},
		{[]waiting{met, met}, late, early, 0, late},
		{[]waiting{follows, follows}, early, late, 0, late},
		{[]waiting{met, follows}, early, late, 0, early},
		{[]waiting{met, follows}, late, early, 1, early},
		{[]waiting{follows, met}, early, late, 1, early},
	} {
		a := aside{calls: c.calls, locked: c.locked, followers: c.followers}
		if i, at := a.next(); i != c.next || !at.Equal(c.at) {
			t.Errorf("%+v: %d at %v, want %d at %v", a, i, at, c.next, c.at)
		}
	}
}

// TestScreen: one call that met a lock suffices to set others of its owner aside, with the same
// error. A call that only follows it sets no more aside.
func TestScreen(t *testing.T) {
	l, locked := &loop{Committer: &Committer{}}, errors.New("locked")
	both, same, other := asking("a", "b"), asking("a"), asking("b")
	if others := l.screen([]*call{same}); len(others) != 1 {
		t.Errorf("no lock, and %d calls go on", len(others))
	}
	l.aside.add(asking("a"), locked, time.Now())
	if others := l.screen([]*call{both, same, other}); len(others) != 1 || others[0] != other {
		t.Errorf("%d calls go on", len(others))
	}
	if n := len(l.aside.calls); n != 3 || l.aside.locks() != 1 {
		t.Errorf("%d calls are aside, %d with a lock", n, l.aside.locks())
	}
	for _, w := range l.aside.calls {
		if w.err != locked || w.until.IsZero() {
			t.Errorf("%+v", w)
		}
	}
}

// TestSlot: the time of a batch chooses the slot of its new jobs. If that slot has failed, the next
// one that works is taken, or, to try again, the next one that has failed. If all have failed, the
// batch keeps its own.
func TestSlot(t *testing.T) {
	const all = commerce.JobSlots
	every := map[int64]bool{}
	for i := range int64(all) {
		every[i] = true
	}
	for _, c := range []struct {
		now    commerce.Millis
		failed map[int64]bool
		retry  bool
		want   int64
	}{
		{2 * all, nil, false, 0},
		{2*all + 5, nil, true, 5},
		{2, map[int64]bool{2: true, 3: true}, false, 4},
		{all - 1, map[int64]bool{all - 1: true, 0: true}, false, 1},
		{2, map[int64]bool{1: true}, false, 2},
		{2, map[int64]bool{1: true, 6: true}, true, 6},
		{7, map[int64]bool{1: true, 6: true}, true, 1},
		{9, every, false, 9},
	} {
		l := &loop{Committer: &Committer{}, slots: slots{failed: c.failed}}
		if !c.retry {
			l.slots.next = time.Now().Add(time.Hour)
		}
		if got := l.slot(c.now); got != c.want {
			t.Errorf("%d of %v, try one that failed %v: %d, want %d", c.now, c.failed, c.retry, got, c.want)
		}
	}
	l := &loop{Committer: &Committer{}}
	if l.slotTried(3, false); len(l.slots.failed) != 0 || !l.slots.next.IsZero() {
		t.Errorf("a slot was written: %+v", l.slots)
	}
	l.slotTried(3, true)
	l.slotTried(5, true)
	if l.slotTried(4, false); len(l.slots.failed) != 2 {
		t.Errorf("another slot was written: %+v", l.slots)
	}
	if l.slotTried(5, false); len(l.slots.failed) != 0 {
		t.Errorf("a slot that had failed was written: %+v", l.slots)
	}
}

// TestNodesOf: the order in which a command names its rows says nothing of its nodes.
func TestNodesOf(t *testing.T) {
	if a, b := nodesOf(asking("a", "b")), nodesOf(asking("b", "a")); a != b || a == nodesOf(asking("a")) {
		t.Errorf("%q and %q", a, b)
	}
}

// TestHeatCools: after many changes all counts are halved, once.
func TestHeatCools(t *testing.T) {
	for others, want := range map[int]uint32{400: 7, 600: 9} { // 7 has half of 1000
		var h heat
		for range 1000 {
			h.hottest([]uint32{7})
		}
		for i := range uint32(cooling - 1000) {
			h.hottest([]uint32{10 + i%1000})
		}
		for range others {
			h.hottest([]uint32{9})
		}
		if got := h.hottest([]uint32{7, 9}); got != want {
			t.Errorf("after %d changes of another row %d is the hottest, want %d", others, got, want)
		}
	}
}

// idleEngine is an engine that has so many writers and is not asked for more.
type idleEngine struct {
	storage.Batches
	writers int
}

func (e idleEngine) Writers() storage.Writers { return storage.Writers{Batches: e.writers} }

// TestQueuesAreBounded: however many loops there are, about as many commands may wait.
func TestQueuesAreBounded(t *testing.T) {
	for loops := 1; loops <= 3; loops++ {
		c, room := New(idleEngine{writers: loops}, Options{}), 0
		for _, l := range c.loops {
			room += cap(l.queue)
		}
		if c.Close(); room > maxQueue || room <= maxQueue-loops {
			t.Errorf("%d loops have room for %d commands, want %d", loops, room, maxQueue)
		}
	}
}
