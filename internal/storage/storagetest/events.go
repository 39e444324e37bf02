package storagetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"encoding/binary"
)

var events = map[string]func(*testing.T, Database){
	"pages of events are filtered":                       eventPages,
	"events skip nothing while processes write":          eventsSkipNothing,
	"what is older than its keep time is swept, no more": sweepEvents,
}

// event is of the batch with this stamp, as the committer makes it.
func event(now commerce.Millis, n uint32, kind commerce.WebhookKind) commerce.WebhookEvent {
	var e commerce.Entropy
	binary.BigEndian.PutUint32(e[:], n)
	return commerce.WebhookEvent{PartnerID: "ptn_1", ID: commerce.NewID(commerce.PrefixEvent, now, e), Kind: kind, Data: []byte("{}"), Timestamp: now}
}

func addEvents(e storage.Engine, make func(now commerce.Millis) []commerce.WebhookEvent) error {
	return tryChange(e, of("ptn_1", "ptn_2"), func(_ *commerce.Rows, now commerce.Millis) commerce.Changes {
		return commerce.Changes{Webhooks: make(now)}
	})
}

func eventPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	kinds := []commerce.WebhookKind{commerce.WebhookPaid, commerce.WebhookShipped, commerce.WebhookCancelled}
	const base = 1_700_000_000_000
	var all []commerce.WebhookEvent
	for i := range int64(9) {
		all = append(all, event(commerce.Millis(base)+commerce.Millis(i), 0, kinds[i%3]))
	}
	foreign := event(base+100, 0, kinds[0])
	foreign.PartnerID = "ptn_2"
	if err := addEvents(e, func(commerce.Millis) []commerce.WebhookEvent { return append(slices.Clone(all), foreign) }); err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return all[i].ID }
	for _, c := range []struct {
		name    string
		f       storage.EventFilter
		want    []int // of all
		through string
		more    bool
	}{
		{"first", storage.EventFilter{Limit: 4}, []int{0, 1, 2, 3}, id(3), true},
		{"next", storage.EventFilter{Limit: 4, After: id(3)}, []int{4, 5, 6, 7}, id(7), true},
		{"last", storage.EventFilter{Limit: 4, After: id(7)}, []int{8}, id(8), false},
		{"as many as there are", storage.EventFilter{Limit: 9}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, id(8), false},
		{"behind the last", storage.EventFilter{Limit: 4, After: id(8)}, nil, id(8), false},
		{"one that alone is longer than the page", storage.EventFilter{Limit: 9, Bytes: 1}, []int{0}, id(0), true},
		{"as many as have room", storage.EventFilter{Limit: 9, Bytes: 2*storage.EventRoom + 2*200}, []int{0, 1}, id(1), true},
		{"as many as have room, last", storage.EventFilter{Limit: 9, Bytes: 2*storage.EventRoom + 2*200, After: id(6)}, []int{7, 8}, id(8), false},
		{"of a kind", storage.EventFilter{Limit: 2, Kinds: kinds[:1]}, []int{0, 3}, id(3), true},
		{"of a kind, last", storage.EventFilter{Limit: 2, Kinds: kinds[:1], After: id(3)}, []int{6}, id(8), false},
		{"of two kinds", storage.EventFilter{Limit: 9, Kinds: kinds[1:]}, []int{1, 2, 4, 5, 7, 8}, id(8), false},
		{"of no kind", storage.EventFilter{Limit: 9, Kinds: []commerce.WebhookKind{}}, nil, id(8), false},
		{"since", storage.EventFilter{Limit: 2, Since: base + 5}, []int{5, 6}, id(6), true},
		{"until", storage.EventFilter{Limit: 9, Since: base + 5, Until: base + 7}, []int{5, 6}, id(8), false},
		{"before", storage.EventFilter{Limit: 9, After: id(3), Before: id(6)}, []int{4, 5}, id(5), false},
		{"newest", storage.EventFilter{Limit: 2, Newest: true}, []int{8, 7}, id(7), true},
		{"older", storage.EventFilter{Limit: 9, Newest: true, After: id(2)}, []int{1, 0}, id(0), false},
		{"newest of a kind", storage.EventFilter{Limit: 2, Newest: true, Kinds: kinds[:1]}, []int{6, 3}, id(3), true},
	} {
		c.f.PartnerID = "ptn_1"
		page, err := e.Reader().EventPage(context.Background(), c.f)
		var got []int
		for _, v := range page.Events {
			got = append(got, slices.IndexFunc(all, func(w commerce.WebhookEvent) bool { return w.ID == v.ID }))
		}
		if err != nil || !slices.Equal(got, c.want) || page.Through != c.through || page.More != c.more {
			t.Errorf("%s: %v through %s, more %v, %v\nwant %v through %s, more %v", c.name, got, page.Through, page.More, err, c.want, c.through, c.more)
		}
	}
	page, err := e.Reader().EventPage(context.Background(), storage.EventFilter{PartnerID: "ptn_3", Limit: 5})
	if err != nil || len(page.Events) > 0 || page.Through != "" || page.More {
		t.Errorf("events of nobody: %+v, %v", page, err)
	}
}

// eventsSkipNothing follows the events from page to page, all of them and
// those of one kind, while three processes add more: the lowest of several low watermarks
// bounds a page.
func eventsSkipNothing(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now), db.Open(t, time.Now)}
	rare := commerce.WebhookCancelled
	var mu sync.Mutex
	want := map[commerce.WebhookKind][]string{}
	var writers sync.WaitGroup
	for w, e := range engines {
		writers.Go(func() {
			for i := range 80 {
				var made []commerce.WebhookEvent
				err := addEvents(e, func(now commerce.Millis) []commerce.WebhookEvent {
					made = []commerce.WebhookEvent{event(now, uint32(w), commerce.WebhookPaid)}
					if (i+w)%5 == 0 {
						made = append(made, event(now, uint32(len(engines)+w), rare))
					}
					return made
				})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, v := range made {
					want[v.Kind] = append(want[v.Kind], v.ID)
				}
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	follow := func(kinds []commerce.WebhookKind) (seen []string) {
		f := storage.EventFilter{PartnerID: "ptn_1", Kinds: kinds, Limit: 7}
		for finished := false; ; {
			page, err := engines[1].Reader().EventPage(context.Background(), f)
			if err != nil {
				t.Error(err)
				return nil
			}
			for _, v := range page.Events {
				seen = append(seen, v.ID)
			}
			if len(page.Events) == 0 && finished && page.Through == f.After {
				return seen
			}
			f.After = page.Through
			select {
			case <-done:
				finished = true
			default:
			}
		}
	}
	var all, some []string
	var readers sync.WaitGroup
	readers.Go(func() { all = follow(nil) })
	readers.Go(func() { some = follow([]commerce.WebhookKind{rare}) })
	readers.Wait()
	if every := slices.Concat(want[commerce.WebhookPaid], want[rare]); !slices.Equal(all, slices.Sorted(slices.Values(every))) {
		t.Errorf("%d of %d events were seen in order", len(all), len(every))
	}
	if !slices.Equal(some, slices.Sorted(slices.Values(want[rare]))) {
		t.Errorf("%d of %d events of one kind were seen in order", len(some), len(want[rare]))
	}
}

var sweptStates = []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobHeld, commerce.JobDead, commerce.JobGivenUp}

// sweepEvents has of each an old one and a young one; jobs that wait or are held
// are never swept.
func sweepEvents(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	const before = 1_700_000_000_000
	partner := commerce.Partner{ID: "ptn_1", Name: "P"}
	needs := of(partner.ID)
	needs.Partners = []string{partner.ID}
	Change(t, e, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		c := commerce.Changes{Partners: []commerce.Partner{partner}}
		for i, at := range []int64{before - 1, before} {
			v := event(commerce.Millis(at), 0, commerce.WebhookPaid)
			c.Webhooks = append(c.Webhooks, v)
			c.Attempts = append(c.Attempts, commerce.WebhookAttempt{PartnerID: v.PartnerID, EventID: v.ID, ID: "att_1"},
				commerce.WebhookAttempt{PartnerID: v.PartnerID, EventID: v.ID, ID: "att_2"})
			c.Outbox = append(c.Outbox, commerce.UnsentMessage{ID: commerce.NewID(commerce.PrefixOutbox, commerce.Millis(at), commerce.Entropy{}), CreatedOn: commerce.Millis(at)})
			c.StrayCallbacks = append(c.StrayCallbacks, commerce.StrayCallback{DeliveryID: "del_1", ID: commerce.NewID(commerce.PrefixStrayCallback, commerce.Millis(at), commerce.Entropy{}), ReceivedOn: commerce.Millis(at)})
			for s, state := range sweptStates {
				j := waiting(int64(s), fmt.Sprintf("job_%d_%s", i, state), commerce.Millis(at))
				j.State, j.Owner = state, "ptn_1"
				c.NewJobs = append(c.NewJobs, j)
			}
			for s, kind := range commerce.HoldingKinds { // whose dead jobs stay
				j := waiting(int64(s), fmt.Sprintf("job_%d_%s", i, kind), commerce.Millis(at))
				j.State, j.Kind, j.Owner = commerce.JobDead, kind, "sto_1"
				c.NewJobs = append(c.NewJobs, j)
			}
		}
		return c
	})
	counts := func() [9]int {
		ctx, r := context.Background(), e.Reader()
		page, err := r.EventPage(ctx, storage.EventFilter{PartnerID: "ptn_1", Limit: 10})
		outbox, outboxErr := r.Outbox(ctx, "", 10)
		callbacks, callbacksErr := r.StrayCallbacks(ctx, "del_1")
		n := [9]int{len(page.Events), 0, len(outbox), len(callbacks)}
		for _, at := range []int64{before - 1, before} {
			attempts, attemptsErr := r.Attempts(ctx, event(commerce.Millis(at), 0, "").Key())
			n[1] += len(attempts)
			err = firstOf(err, attemptsErr)
		}
		for i, state := range sweptStates {
			list, jobsErr := r.Jobs(ctx, storage.JobFilter{State: state, Owner: "ptn_1", Limit: 10})
			n[4+i] = len(list)
			err = firstOf(err, jobsErr)
		}
		if err = firstOf(err, outboxErr, callbacksErr); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := counts(); got != [9]int{2, 4, 2, 2, 2, 2, 2, 2, 2} {
		t.Fatalf("before: %v", got)
	}
	for _, want := range []int{8, 0} {
		if n, err := e.Sweep(context.Background(), commerce.Millis(before).Add(schema.EventKeep)); n != want || err != nil {
			t.Errorf("swept %d, %v; want %d", n, err, want)
		}
	}
	if got := counts(); got != [9]int{1, 2, 1, 1, 2, 1, 2, 1, 1} {
		t.Errorf("left: %v", got)
	}
	held, err := e.Reader().Jobs(context.Background(), storage.JobFilter{State: commerce.JobDead, Owner: "sto_1", Limit: 100})
	if err != nil || len(held) != 2*len(commerce.HoldingKinds) {
		t.Errorf("%d dead jobs that may hold something are left, %v", len(held), err)
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// wantOutbound compares the jobs, webhook events, attempts, unsent messages and audit entries
// with sample.
func wantOutbound(t *testing.T, r storage.Reader, c commerce.Changes) {
	t.Helper()
	ctx := context.Background()
	event := c.Webhooks[0]
	want := func(what string, err error, got, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", what, got, err, want)
		}
	}
	job, err := r.Job(ctx, c.NewJobs[0].Key())
	want("job", err, job, c.NewJobs[0])
	found, err := r.WebhookEvents(ctx, []commerce.EventKey{event.Key(), {PartnerID: "ptn_1", ID: "evt_0"}, {PartnerID: "ptn_0", ID: "evt_1"}})
	want("events", err, found, map[commerce.EventKey]commerce.WebhookEvent{event.Key(): event})
	endpoints, err := r.Endpoints(ctx, []string{"ptn_0", "ptn_1"})
	want("endpoints", err, endpoints, map[string]commerce.Endpoint{"ptn_1": c.Endpoints[0]})
	attempts, err := r.Attempts(ctx, event.Key())
	want("attempts", err, attempts, c.Attempts)
	at := commerce.EndpointOwner(c.Attempts[0].PartnerID, c.Attempts[0].Endpoint)
	newest, err := r.EndpointAttempts(ctx, at, "", 1)
	want("attempts at an endpoint", err, newest, c.Attempts[len(c.Attempts)-1:])
	before, err := r.EndpointAttempts(ctx, at, newest[0].ID, 9)
	want("attempts before the newest", err, len(before), len(c.Attempts)-1)
	elsewhere, err := r.EndpointAttempts(ctx, at+"/whe_0", "", 9)
	want("attempts elsewhere", err, len(elsewhere), 0)
	outbox, err := r.Outbox(ctx, "", 5)
	want("outbox", err, outbox, c.Outbox)
	message, err := r.OutboxMessage(ctx, "out_1")
	want("message", err, message, c.Outbox[0])
	audit, err := r.Audit(ctx, "sto_1", "", 5)
	want("audit", err, audit, c.Audit)
	audit, err = r.Audit(ctx, "sto_1", "aud_1", 5)
	want("audit before the first entry", err, audit, []commerce.AuditEntry(nil))
	audit, err = r.NewestAudit(ctx, "", 5)
	want("audit of all stores", err, slices.DeleteFunc(audit, func(e commerce.AuditEntry) bool { return e.StoreID != "sto_1" }), c.Audit)
	audit, err = r.NewestAudit(ctx, "aud_1", 5)
	want("audit of all stores before the first entry", err, audit, []commerce.AuditEntry(nil))
}
