package effect

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/testkit/fixture"
)

// TestDelivered: an event goes out at once as GET /v1/events gives it, and is
// on record.
func TestDelivered(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		defer s.stop(e)
		s.sell("")
		time.Sleep(100 * time.Millisecond)
		event, got := s.Events(partnerID)[0], s.got()
		if len(got) != 1 || !bytes.Equal(got[0].Body, wire.AppendWebhook(nil, event)) || got[0].ID != event.ID ||
			got[0].Secret != "secret" || got[0].PreviousSecret != "" || got[0].URL != callbackURL {
			t.Fatalf("sent %+v", got)
		}
		want := commerce.WebhookAttempt{PartnerID: partnerID, EventID: event.ID, URL: "https://user:xxxxx@p.example/hook", At: got[0].At, TookMs: 1, Status: 204}
		attempts := s.Attempts(event)
		attempts[0].ID = ""
		if len(attempts) != 1 || attempts[0] != want {
			t.Errorf("on record %+v", attempts)
		}
		if left := s.Jobs(commerce.JobWaiting, partnerID); len(left) != 0 {
			t.Errorf("jobs left: %+v", left)
		}
	})
}

// TestSchedule: an event that an endpoint refuses for its own sake is tried
// ten times over three days and as many restarts, the same each time, and is
// then dead.
func TestSchedule(t *testing.T) {
	in(t, func(s *shop) {
		s.sell("")
		bad := s.Events(partnerID)[0]
		s.answers(func(r webhook.Request) webhook.Result {
			if r.ID == bad.ID {
				return status(500)(r)
			}
			return webhook.Result{Status: 200}
		})
		for range 1 + len(commerce.RetryDelays) {
			s.runDue(partnerID)
			s.sell("") // others arrive, so the endpoint is not failing
		}
		attempts := s.Attempts(bad)
		var waits []time.Duration
		for i := 1; i < len(attempts); i++ {
			waits = append(waits, attempts[i].At.Sub(attempts[i-1].At))
		}
		for i, delay := range commerce.RetryDelays {
			least := delay
			if i >= len(waits) || waits[i] < least || waits[i] > least+least/10+10*time.Second {
				t.Fatalf("waits %v", waits)
			}
		}
		dead := s.Jobs(commerce.JobDead, partnerID)
		if len(attempts) != 10 || len(dead) != 1 || dead[0].Subject != bad.ID || dead[0].Error != "status 500" {
			t.Errorf("%d attempts, dead %+v", len(attempts), dead)
		}
		for _, r := range s.got() {
			if r.ID == bad.ID && !bytes.Equal(r.Body, wire.AppendWebhook(nil, bad)) {
				t.Errorf("a try said something else: %s", r.Body)
			}
		}
	})
}

// TestOutage: an endpoint that is down for minutes gets probes, and then all
// that was held, each once more.
func TestOutage(t *testing.T) {
	in(t, func(s *shop) {
		s.answers(status(503))
		e := s.start(true)
		defer s.stop(e)
		const sold = 300
		for range sold {
			s.sell("")
		}
		time.Sleep(10 * time.Minute)
		if endpoint := s.Endpoint(partnerID); !endpoint.Failing() || endpoint.HeldUntil == 0 {
			t.Fatalf("endpoint %+v", endpoint)
		}
		if n, got := len(s.Jobs(commerce.JobParked, partnerID)), len(s.got()); n != sold || got > 10+8+commerce.FailingAfter+webhookWidth {
			t.Errorf("%d jobs are parked of %d, %d requests were made in ten minutes", n, sold, got)
		}
		before := len(s.got())
		s.answers(nil)
		time.Sleep(3 * time.Minute)
		seen := map[string]int{}
		for _, r := range s.got()[before:] {
			seen[r.ID]++
		}
		if endpoint := s.Endpoint(partnerID); len(seen) != sold || len(s.got())-before != sold || endpoint.Holds() {
			t.Errorf("%d of %d events arrived in %d requests, endpoint %+v", len(seen), sold, len(s.got())-before, endpoint)
		}
		for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobDead} {
			if left := s.Jobs(state, partnerID); len(left) != 0 {
				t.Errorf("%d jobs are left %s", len(left), state)
			}
		}
	})
}

// TestGone: 410 stops all, also over a restart; resume sends what waited.
func TestGone(t *testing.T) {
	in(t, func(s *shop) {
		s.answers(status(410))
		e := s.start(true)
		s.sell("")
		time.Sleep(time.Second)
		if endpoint := s.Endpoint(partnerID); endpoint.PausedFor != commerce.PausedGone {
			t.Fatalf("endpoint %+v", endpoint)
		}
		s.sell("")
		time.Sleep(time.Minute)
		s.stop(e)
		e = s.start(true)
		defer s.stop(e)
		s.sell("")
		time.Sleep(time.Minute)
		if n := len(s.got()); n != 1 {
			t.Errorf("%d requests to an endpoint that is gone", n)
		}
		s.answers(nil)
		fixture.Do(s.Shop, command.ResumeEndpoint{Owner: partnerID})
		time.Sleep(10 * time.Second)
		if n := len(s.got()); n != 4 {
			t.Errorf("%d requests after the resume, want 4", n)
		}
	})
}

// TestStopAndStart: what a process stopped in the middle of is done by the
// next, at once, and a try that was cut is no failure.
func TestStopAndStart(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		for range 100 {
			s.sell("")
		}
		s.stop(e)
		for _, j := range s.Jobs(commerce.JobWaiting, partnerID) {
			if j.LeasedBy != "" || j.Tries != 0 {
				t.Errorf("a job was left as %+v", j)
			}
		}
		sold := len(s.Events(partnerID))
		e = s.start(true)
		defer s.stop(e)
		time.Sleep(5 * time.Second)
		var ids []string
		for _, r := range s.got() {
			ids = append(ids, r.ID)
		}
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) != sold {
			t.Errorf("%d events of %d arrived", len(ids), sold)
		}
	})
}

// TestNoListener: without a callback URL, or with the event gone, a job
// ends.
func TestNoListener(t *testing.T) {
	in(t, func(s *shop) {
		s.sell("")
		none := ""
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, CallbackURL: &none})
		e := s.start(true)
		time.Sleep(5 * time.Second)
		s.stop(e)
		if n := len(s.Jobs(commerce.JobWaiting, partnerID)); n != 0 || len(s.got()) != 0 {
			t.Errorf("%d jobs are left, %d requests", n, len(s.got()))
		}
	})
}

// TestRotation: while a secret is rotated both sign.
func TestRotation(t *testing.T) {
	in(t, func(s *shop) {
		fixture.Do(s.Shop, command.RotateSecret{Owner: partnerID, Secret: "new", Overlap: commerce.SecretOverlap})
		for _, want := range []string{"secret", ""} {
			s.sell("")
			e := s.start(true)
			time.Sleep(5 * time.Second)
			s.stop(e)
			got := s.got()
			if r := got[len(got)-1]; r.Secret != "new" || r.PreviousSecret != want {
				t.Errorf("signed with %q and %q, want new and %q", r.Secret, r.PreviousSecret, want)
			}
			time.Sleep(24 * time.Hour)
		}
	})
}

// TestSuspended: nothing is sent to a suspended partner, not even a probe. What
// waited is sent when the suspension ends, unless its endpoint is paused.
func TestSuspended(t *testing.T) {
	for _, before := range []string{"healthy", "failing", "paused"} {
		in(t, func(s *shop) {
			e := s.start(true)
			defer s.stop(e)
			suspend := func(yes bool) {
				fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, Suspended: &yes})
			}
			switch before {
			case "failing":
				s.answers(status(503))
				for range commerce.FailingAfter + 1 {
					s.sell("")
				}
				time.Sleep(2 * time.Second)
			case "paused":
				fixture.Do(s.Shop, command.PauseEndpoint{Owner: partnerID, By: commerce.PausedOperator})
			}
			suspend(true)
			time.Sleep(2 * time.Second) // what is known of a partner is a second old at most
			s.answers(nil)
			sent := len(s.got())
			for range 20 {
				s.sell("")
			}
			time.Sleep(10 * time.Minute)
			if n := len(s.got()) - sent; n != 0 {
				t.Errorf("%s: %d requests to a suspended partner", before, n)
			}
			if n := len(s.Jobs(commerce.JobParked, partnerID)); n < 20 {
				t.Errorf("%s: %d jobs are parked", before, n)
			}
			suspend(false)
			time.Sleep(2 * time.Minute)
			got := map[string]bool{}
			for _, r := range s.got()[sent:] {
				got[r.ID] = true
			}
			if before == "paused" {
				if len(got) != 0 {
					t.Errorf("%d events went to a paused endpoint", len(got))
				}
				return
			}
			if len(got) < 20 || len(s.Jobs(commerce.JobParked, partnerID)) != 0 {
				t.Errorf("%s: %d events arrived after the suspension, %d are parked", before, len(got), len(s.Jobs(commerce.JobParked, partnerID)))
			}
		})
	}
}

// telling is a change that tells a partner of an event of a kind.
type telling struct{ kind commerce.WebhookKind }

func (c telling) Needs() commerce.Needs { return commerce.Needs{} }

func (c telling) Decide(_ *commerce.Rows, now commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{Webhooks: []commerce.WebhookEvent{{PartnerID: partnerID, Kind: c.kind, Mode: commerce.Live,
		StoreID: storeID, OrderID: "ord_1", Data: []byte("{}"), Timestamp: now, To: []string{partnerID}}}}, nil
}

// TestEachKindArrives: an event of each kind is delivered, not only listed.
func TestEachKindArrives(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		defer s.stop(e)
		for _, kind := range commerce.WebhookKinds {
			fixture.Do(s.Shop, telling{kind})
		}
		time.Sleep(10 * time.Second)
		arrived := map[string]bool{}
		for _, r := range s.got() {
			arrived[string(r.Body)] = true
		}
		for _, kind := range commerce.WebhookKinds {
			found := false
			for body := range arrived {
				found = found || strings.Contains(body, `"`+string(kind)+`"`)
			}
			if !found {
				t.Errorf("no %s arrived", kind)
			}
		}
	})
}
