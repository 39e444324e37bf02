package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
)

// TestStoreRules: stores that staff make and change keep the rules of the import file.
func TestStoreRules(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		good := commerce.Store{Name: "New", TimeZone: "Europe/Berlin", LateMinutes: 240, TaxRateBps: 10_000}
		made, err := s.CreateStore(t.Context(), staff, good, service.Once[commerce.Store]{})
		if err != nil || !strings.HasPrefix(made.Result.ID, commerce.PrefixStore) || made.Result.No == 0 {
			t.Fatalf("%+v, %v", made.Result, err)
		}
		far, nan := 91.0, 0.0
		nan /= nan
		for field, spoil := range map[string]func(*commerce.Store){
			"name":                          func(s *commerce.Store) { s.Name = " " },
			"slug":                          func(s *commerce.Store) { s.Slug = strings.Repeat("s", 501) },
			"lat":                           func(s *commerce.Store) { s.Lat = &far },
			"lng":                           func(s *commerce.Store) { s.Lat, s.Lng = new(1.0), &nan },
			"service_delivery_radius_miles": func(s *commerce.Store) { s.RadiusMiles = new(-1.0) },
			"tax_rate_bps":                  func(s *commerce.Store) { s.TaxRateBps = 10_001 },
			"time_zone":                     func(s *commerce.Store) { s.TimeZone = "Mars/Phobos" },
			"hold_minutes":                  func(s *commerce.Store) { s.HoldMinutes = 61 },
			"late_minutes":                  func(s *commerce.Store) { s.LateMinutes = 0 },
			"id":                            func(s *commerce.Store) { s.ID = "a\nb" },
		} {
			bad := good
			bad.ID = made.Result.ID
			spoil(&bad)
			_, err := s.CreateStore(t.Context(), staff, bad, service.Once[commerce.Store]{})
			if refused(err) != field {
				t.Errorf("%s: made, %v", field, err)
			}
			if _, err = s.UpdateStore(t.Context(), staff, bad); refused(err) != field {
				t.Errorf("%s: changed, %v", field, err)
			}
		}
	})
}

// refused is the field that a refusal names.
func refused(err error) string {
	if refusal, ok := err.(*commerce.Error); ok {
		return refusal.Field
	}
	return fmt.Sprint(err)
}

// TestDrawnKeys: a form that is sent twice makes one partner and one key, and both answers show
// the same key, which works. A text that can be guessed is refused.
func TestDrawnKeys(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, draw := t.Context(), strings.Repeat("d", service.MinDraw)
		p := commerce.Partner{Name: "Q", RateLimit: 1, CallbackURL: "https://q.example"}
		first, err := s.CreatePartner(ctx, staff.Actor, p, nil, draw)
		again, err2 := s.CreatePartner(ctx, staff.Actor, p, nil, draw)
		if err != nil || err2 != nil || again.Partner.ID != first.Partner.ID || again.Keys[commerce.Live] != first.Keys[commerce.Live] || first.Keys[commerce.Live] == first.Keys[commerce.Test] {
			t.Fatalf("%+v, %v, then %+v, %v", first, err, again, err2)
		}
		if list, err := s.Reader.Partners(ctx); err != nil || len(list) != 2 {
			t.Errorf("%d partners, %v", len(list), err)
		}
		if stored, err := s.Reader.Partner(ctx, first.Partner.ID); err != nil || !strings.HasPrefix(first.Secret, "whsec_") || again.Secret != first.Secret || stored.CallbackSecret != first.Secret {
			t.Errorf("the secret %q, then %q, stored %q, %v", first.Secret, again.Secret, stored.CallbackSecret, err)
		}
		p.Name = "R"
		if _, err := s.CreatePartner(ctx, staff.Actor, p, nil, draw); code(err) != "idempotency_key_reused" {
			t.Errorf("another partner by the same form: %v", err)
		}
		keys, err := s.Reader.APIKeys(ctx, first.Partner.ID)
		if err != nil || len(keys) != 2 {
			t.Fatal(keys, err)
		}
		live := slices.IndexFunc(keys, func(k commerce.APIKey) bool { return k.Mode == commerce.Live })
		rotate := service.RotateKey{PartnerID: first.Partner.ID, KeyID: keys[live].ID, Draw: strings.Repeat("e", service.MinDraw)}
		var shown [2]string
		for i := range shown {
			made, err := s.RotateKey(ctx, staff.Actor, rotate)
			if err != nil {
				t.Fatal(err)
			}
			shown[i] = made.Value
		}
		holder, key, err := s.Reader.KeyHolder(ctx, commerce.HashKey(shown[0]))
		if shown[0] != shown[1] || shown[0] == first.Keys[commerce.Live] || !commerce.IsKey(shown[0]) || holder.ID != first.Partner.ID || key.Mode != commerce.Live || key.Last4 != shown[0][len(shown[0])-4:] || err != nil {
			t.Errorf("%q, of %s %+v, %v", shown, holder.ID, key, err)
		}
		rotate.Draw = draw
		if key, err := s.RotateKey(ctx, staff.Actor, rotate); code(err) != "wrong_status" || key.ID != "" {
			t.Errorf("from an old page: %v", err)
		}
		rotate.Draw = "short"
		if key, err := s.RotateKey(ctx, staff.Actor, rotate); code(err) != "invalid_body" || key.Value != "" {
			t.Errorf("by a short text: %v", err)
		}
		secret := service.RotateSecret{Owner: fixture.PartnerID, Seen: s.partner().UpdatedOn, Draw: draw}
		one, _, err := s.RotateSecret(ctx, staff.Actor, secret)
		two, e, err2 := s.RotateSecret(ctx, staff.Actor, secret)
		if err != nil || err2 != nil || one != two || s.partner().CallbackSecret != one || e.PreviousSecret != "secret" {
			t.Errorf("%q, %v, then %q, %v, before %q", one, err, two, err2, e.PreviousSecret)
		}
	})
}

// TestReplay: the events of a range are sent again in steps, those of the given kinds and stores.
func TestReplay(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, events := t.Context(), []commerce.WebhookEvent{}
		for i := range 2*service.ReplayStep + 5 {
			kind, store := commerce.WebhookPaid, fixture.StoreID
			if i%2 == 1 {
				kind = commerce.WebhookCancelled
			}
			if i%3 == 1 {
				store = "sto_other"
			}
			events = append(events, commerce.WebhookEvent{PartnerID: fixture.PartnerID, Kind: kind, StoreID: store, Data: []byte("{}"), Timestamp: commerce.Millis(1000 + i)})
		}
		fixture.Do(s.Shop, stored{Webhooks: events})
		page, err := s.Reader.EventPage(ctx, storage.EventFilter{PartnerID: fixture.PartnerID, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		fixture.Do(s.Shop, stored{Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: page.Events[0].ID, Status: 200}}})
		all := len(events)
		for _, c := range []struct {
			name string
			in   service.ReplayEvents
			want int
		}{
			{"all", service.ReplayEvents{}, all},
			{"undelivered", service.ReplayEvents{Undelivered: true}, all - 1},
			{"range", service.ReplayEvents{Since: 1010, Until: 1020}, 10},
			{"kind", service.ReplayEvents{Kinds: []commerce.WebhookKind{commerce.WebhookCancelled}}, all / 2},
			{"store", service.ReplayEvents{StoreIDs: []string{"sto_other"}, Until: 1030}, 10},
			{"none", service.ReplayEvents{Since: 90_000}, 0},
		} {
			c.in.PartnerID = fixture.PartnerID
			before := len(s.waiting())
			counted, err := s.CountEvents(ctx, c.in, 100_000)
			n, _, _, err2 := s.ReplayEvents(ctx, staff, c.in)
			if err != nil || err2 != nil || counted != c.want || n != c.want || len(s.waiting())-before != c.want {
				t.Errorf("%s: counted %d, sent %d, %d jobs; want %d; %v, %v", c.name, counted, n, len(s.waiting())-before, c.want, err, err2)
			}
		}
		if n, err := s.CountEvents(ctx, service.ReplayEvents{PartnerID: fixture.PartnerID}, 10); n != 11 || err != nil {
			t.Errorf("counted %d, %v", n, err)
		}
		if _, _, _, err := s.ReplayEvents(ctx, staff, service.ReplayEvents{PartnerID: "ptn_none"}); code(err) != "not_found" {
			t.Errorf("an unknown partner: %v", err)
		}
	})
}

// waiting are the jobs that send events to the partner.
func (s *shop) waiting() []commerce.Job {
	s.T.Helper()
	list, err := s.Reader.Jobs(s.T.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: fixture.PartnerID, Limit: 100_000})
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}
