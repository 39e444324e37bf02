package effect

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
)

// shaky is an engine of which one read or write fails for a while, by its name.
type shaky struct {
	storage.Engine
	fails    atomic.Value // string
	failed   atomic.Int64
	released atomic.Int64 // calls of ReleaseParked
	// full is how many calls of ReleaseParked find more than they may release.
	full int64
}

func (e *shaky) fail(name string) error {
	if e.fails.Load() != name {
		return nil
	}
	e.failed.Add(1)
	return fmt.Errorf("%w: %s", storage.ErrUnavailable, name)
}

func (e *shaky) Reader() storage.Reader { return shakyReader{e.Engine.Reader(), e} }

func (e *shaky) ReleaseParked(ctx context.Context, owner string, limit int) (int, error) {
	if err := e.fail("ReleaseParked"); err != nil {
		return 0, err
	}
	if e.released.Add(1) <= e.full {
		return limit, nil
	}
	return e.Engine.ReleaseParked(ctx, owner, limit)
}

type shakyReader struct {
	storage.Reader
	e *shaky
}

func (r shakyReader) HeldEndpoints(ctx context.Context) ([]commerce.Endpoint, error) {
	if err := r.e.fail("HeldEndpoints"); err != nil {
		return nil, err
	}
	return r.Reader.HeldEndpoints(ctx)
}

func (r shakyReader) Jobs(ctx context.Context, f storage.JobFilter) ([]commerce.Job, error) {
	if err := r.e.fail("Jobs"); err != nil {
		return nil, err
	}
	return r.Reader.Jobs(ctx, f)
}

func (r shakyReader) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	if err := r.e.fail("Partner"); err != nil {
		return commerce.Partner{}, err
	}
	return r.Reader.Partner(ctx, id)
}

func (r shakyReader) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	if err := r.e.fail("WebhookEvents"); err != nil {
		return nil, err
	}
	return r.Reader.WebhookEvents(ctx, keys)
}

// TestHeldWhileTheDatabaseIsAway: what a failing endpoint and a suspended partner
// have waiting is sent once each way to the database works again.
func TestHeldWhileTheDatabaseIsAway(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		for _, fails := range []string{"HeldEndpoints", "Jobs", "Partner", "WebhookEvents", "ReleaseParked"} {
			if suspended && fails != "Partner" && fails != "ReleaseParked" {
				continue // a suspended partner gets no probe
			}
			in(t, func(s *shop) { heldWhileAway(s, &shaky{Engine: s.Engine}, fails, suspended) })
		}
	}
}

func heldWhileAway(s *shop, engine *shaky, fails string, suspended bool) {
	const sold = 20
	suspend := func(yes bool) { fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &yes}) }
	e := Start(Options{Queue: engine, Reads: engine.Reader(), Uses: s.uses(), Runner: s.runner("w"), Sender: s, AppendWebhook: wire.AppendWebhook, Mailer: mailer{s}, Texter: texter{s}})
	defer s.stop(e)
	if suspended {
		suspend(true)
	} else {
		s.answers(status(503))
	}
	for range sold {
		s.sell("")
	}
	time.Sleep(10 * time.Minute)
	if n := len(s.Jobs(commerce.JobParked, partnerID)); n != sold {
		s.T.Fatalf("%d jobs are parked, want %d", n, sold)
	}
	engine.fails.Store(fails)
	s.answers(nil)
	if suspended {
		suspend(false)
	}
	before := len(s.got())
	time.Sleep(5 * time.Minute)
	if engine.failed.Load() == 0 {
		s.T.Errorf("%s was not called: the test did not test it", fails)
	}
	if n := len(s.got()) - before; n != 0 && fails != "ReleaseParked" { // that is called after a probe
		s.T.Errorf("%s, suspended %t: %d requests while it fails", fails, suspended, n)
	}
	engine.fails.Store("")
	time.Sleep(20 * time.Minute)
	seen := map[string]bool{}
	for _, r := range s.got()[before:] {
		seen[r.ID] = true
	}
	if left := len(s.Jobs(commerce.JobParked, partnerID)) + len(s.Jobs(commerce.JobWaiting, partnerID)); len(seen) != sold || left != 0 {
		s.T.Errorf("%s, suspended %t: %d of %d events arrived, %d jobs are left", fails, suspended, len(seen), sold, left)
	}
}

// TestReleaseInTurns: a release with much to do lets others have their turn, and
// goes on.
func TestReleaseInTurns(t *testing.T) {
	in(t, func(s *shop) {
		engine := &shaky{Engine: s.Engine, full: 2*releaseRounds + 5}
		e := Start(Options{Queue: engine, Reads: engine.Reader(), Uses: s.uses(), Runner: s.runner("w"), Sender: s, AppendWebhook: wire.AppendWebhook, Mailer: mailer{s}, Texter: texter{s}})
		defer s.stop(e)
		yes, no := true, false
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &yes})
		s.sell("")
		time.Sleep(time.Minute)
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &no})
		time.Sleep(time.Minute)
		if n := engine.released.Load(); n != engine.full+1 || len(s.got()) != 1 {
			t.Errorf("%d calls, want %d; %d requests", n, engine.full+1, len(s.got()))
		}
	})
}

// lifted ends the suspension of the partner, and nothing else.
type lifted struct{}

func (lifted) Needs() commerce.Needs {
	return commerce.Needs{Partners: []string{partnerID}, Lock: true}
}

func (lifted) Decide(rows *commerce.Rows, _ commerce.Millis) (struct{}, commerce.Changes, error) {
	p, _ := rows.Partners.Get(partnerID)
	p.Suspended = false
	return struct{}{}, commerce.Changes{Partners: []commerce.Partner{p}}, nil
}

// TestParkedTooLate: a process that has not heard of the end of a suspension wants
// to park a job. The job goes out at once instead. A release that finds the partner
// suspended releases nothing, and a job whose event is gone is done.
func TestParkedTooLate(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		defer s.stop(e)
		yes := true
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &yes})
		time.Sleep(time.Minute)
		s.sell("")
		time.Sleep(100 * time.Millisecond) // the process knows of the suspension, for a second
		fixture.Do(s.Shop, commit.Command[struct{}](lifted{}))
		s.sell("")
		time.Sleep(100 * time.Millisecond)
		if n, parked := len(s.got()), len(s.Jobs(commerce.JobParked, partnerID)); n != 1 || parked != 1 {
			t.Errorf("%d events went out, want the second; %d are parked, want the first", n, parked)
		}
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &yes})
		time.Sleep(time.Minute)
		fixture.Do(s.Shop, ask{commerce.Job{Kind: commerce.JobReleaseParked, Owner: partnerID, Subject: partnerID}})
		time.Sleep(time.Minute)
		if waiting, parked := s.Jobs(commerce.JobWaiting, partnerID), s.Jobs(commerce.JobParked, partnerID); len(waiting) != 0 || len(parked) != 1 {
			t.Errorf("after a release while the partner is suspended: %+v wait, %d are parked", waiting, len(parked))
		}
		fixture.Do(s.Shop, commit.Command[struct{}](lifted{}))
		time.Sleep(time.Minute)
		fixture.Do(s.Shop, ask{commerce.Job{Kind: commerce.JobDeliverWebhook, Owner: partnerID, Subject: "evt_gone"}})
		time.Sleep(time.Minute)
		if waiting, sent := s.Jobs(commerce.JobWaiting, partnerID), len(s.got()); len(waiting) != 0 || sent != 1 {
			t.Errorf("a job without its event: %+v wait, %d requests", waiting, sent)
		}
	})
}
