package service_test

import (
	"slices"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// bear stores rows as they are.
type bear struct {
	needs   commerce.Needs
	changes commerce.Changes
}

func (b bear) Needs() commerce.Needs { return b.needs }

func (b bear) Decide(*commerce.Rows, commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, b.changes, nil
}

// TestRaiseAlarms: the endpoint of a partner fails, is paused and answers again, and one of its
// keys ends. The owners that manage the partner are told of each once, by jobs. A key that was
// replaced raises nothing.
func TestRaiseAlarms(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		now := func() commerce.Millis { return commerce.MillisOf(time.Now()) }
		url, to := "https://p.example/hook", []string{" Dev@p.example ", "dev@p.example"}
		if _, err := s.UpdatePartner(ctx, commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, command.UpdatePartner{ID: fixture.PartnerID, CallbackURL: &url, AlarmAddresses: &to}); err != nil {
			t.Fatal(err)
		}
		grant := func(role commerce.Role, store string) []commerce.Grant {
			return []commerce.Grant{{Role: role, StoreID: store}}
		}
		users := []commerce.User{{ID: "usr_1", Email: "owner@s.example", Grants: grant(commerce.Owner, commerce.AllStores)},
			{ID: "usr_2", Email: "gone@s.example", Suspended: true, Grants: grant(commerce.Owner, commerce.AllStores)},
			{ID: "usr_3", Email: "manager@s.example", Grants: grant(commerce.Manager, commerce.AllStores)},
			{ID: "usr_4", Email: "one@s.example", Grants: grant(commerce.Owner, fixture.StoreID)}}
		keys := []commerce.APIKey{{ID: "key_a", PartnerID: fixture.PartnerID, Mode: commerce.Live, Hash: commerce.HashKey("a"), CreatedOn: 1, ExpiresOn: now().Add(24 * time.Hour)},
			{ID: "key_b", PartnerID: fixture.PartnerID, Mode: commerce.Live, Hash: commerce.HashKey("b"), CreatedOn: 1, ExpiresOn: now().Add(20 * 24 * time.Hour), Replaces: "key_a"}}
		needs := commerce.Needs{APIKeys: []string{"key_a", "key_b"}}
		for _, u := range users {
			needs.Users = append(needs.Users, u.ID)
		}
		fixture.Do(s.Shop, bear{needs, commerce.Changes{Users: users, APIKeys: keys}})
		fare := func(change func(commerce.Endpoint) commerce.Endpoint) {
			e, _ := s.Reader.Endpoints(ctx, []string{fixture.PartnerID})
			row := e[fixture.PartnerID]
			row.PartnerID = fixture.PartnerID
			fixture.Do(s.Shop, bear{commerce.Needs{Endpoints: []string{fixture.PartnerID}}, commerce.Changes{Endpoints: []commerce.Endpoint{change(row)}}})
		}
		told := 0
		tells := func(when string, want ...string) {
			t.Helper()
			for range 2 {
				if err := s.RaiseAlarms(ctx); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, j := range s.Jobs(commerce.JobWaiting, fixture.PartnerID) {
				if j.Kind == commerce.JobMailAlarm {
					got = append(got, j.Subject)
				}
			}
			slices.Sort(got)
			wanted := []string{}
			for _, about := range want {
				wanted = append(wanted, about+" dev@p.example", about+" owner@s.example")
			}
			if told += len(wanted); len(got) != told {
				t.Fatalf("%s: %q, want %d, with %q", when, got, told, wanted)
			}
			for _, w := range wanted {
				if !slices.Contains(got, w) {
					t.Errorf("%s: %q is not among %q", when, w, got)
				}
			}
		}
		const callback = fixture.PartnerID
		tells("healthy")
		fare(func(e commerce.Endpoint) commerce.Endpoint {
			e.Failures, e.FailingSince, e.HeldSince, e.HeldUntil = 5, now(), now(), now()+1
			return e
		})
		tells("held")
		time.Sleep(time.Hour)
		tells("for an hour", "held "+callback)
		time.Sleep(4*24*time.Hour - time.Hour)
		tells("a day before the pause", "pausing "+callback)
		fare(func(e commerce.Endpoint) commerce.Endpoint { return e.Pause(commerce.PausedFailing, now()) })
		tells("paused", "paused "+callback)
		fare(func(e commerce.Endpoint) commerce.Endpoint { return e.Resume(now()) })
		tells("resumed")
		fare(commerce.Endpoint.Healed)
		tells("healed", "healed "+callback)
		time.Sleep(2 * 24 * time.Hour)
		tells("a key ends in 14 days", "ends_in_14_days key_b")
		time.Sleep(12 * 24 * time.Hour)
		tells("a key ends in 2 days", "ends_in_2_days key_b")
		time.Sleep(3 * 24 * time.Hour)
		tells("it has ended")
	})
}

// TestAlarmAddresses: what is no address, and a sixth one, are refused.
func TestAlarmAddresses(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		by := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
		for _, c := range []struct {
			list []string
			want int // -1: refused
		}{
			{[]string{"a@e.example"}, 1}, {[]string{"Ann <a@e.example>"}, -1}, {[]string{"a b@e.example"}, -1}, {[]string{"a@e.example\nb@e.example"}, -1}, {[]string{`"a b"@e.example`}, -1},
			{[]string{"a@e.example", "b@e.example", "c@e.example", "d@e.example", "e@e.example"}, 5},
			{[]string{"a@e.example", "b@e.example", "c@e.example", "d@e.example", "e@e.example", "f@e.example"}, -1}, {[]string{""}, 0},
		} {
			p, err := s.UpdatePartner(t.Context(), by, command.UpdatePartner{ID: fixture.PartnerID, AlarmAddresses: &c.list})
			if (err != nil) != (c.want < 0) || err == nil && len(p.AlarmAddresses) != c.want {
				t.Errorf("%q: %q, %v", c.list, p.AlarmAddresses, err)
			}
		}
	})
}
