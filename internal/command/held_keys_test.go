package command

import (
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// holding is a partner that calls with one of its keys.
func holding(id string) commerce.Actor {
	return commerce.PartnerActor(&commerce.APIKey{ID: id, PartnerID: "p", Mode: commerce.Live}, commerce.Live, "t")
}

// TestWhoRevokes: a partner revokes keys with a key that has their rights, and not with the key itself.
// A key that is revoked stays as it is.
func TestWhoRevokes(t *testing.T) {
	for _, c := range []struct {
		name   string
		actor  commerce.Actor
		key    string
		change func(*commerce.Changes, *KeyRing)
		want   string
		saved  bool
	}{
		{"an operator", commerce.Actor{}, "key_1", nil, "", true},
		{"with another key", holding("key_0"), "key_1", nil, "", true},
		{"with the key itself", holding("key_1"), "key_1", nil, "own_key", false},
		{"with a key of fewer rights", holding("key_0"), "key_1", func(c *commerce.Changes, _ *KeyRing) { c.APIKeys[0].Scopes = []commerce.Scope{commerce.ReadOrders} }, "scope_missing", false},
		{"with a revoked key", holding("key_0"), "key_1", func(c *commerce.Changes, _ *KeyRing) { c.APIKeys[0].RevokedOn = now - 1 }, "scope_missing", false},
		{"with a key of another partner", holding("key_0"), "key_1", func(c *commerce.Changes, _ *KeyRing) { c.APIKeys[0].PartnerID = "q" }, "scope_missing", false},
		{"a key of another partner", commerce.Actor{}, "key_1", func(c *commerce.Changes, _ *KeyRing) { c.APIKeys[1].PartnerID = "q" }, "not_found", false},
		{"a revoked key", commerce.Actor{}, "key_1", func(c *commerce.Changes, _ *KeyRing) { c.APIKeys[1].RevokedOn = now - 1 }, "", false},
		{"keys that have moved", commerce.Actor{}, "key_1", func(_ *commerce.Changes, r *KeyRing) { r.No-- }, ErrKeysMoved.Error(), false},
	} {
		before, ring := keyShop(2)
		if c.change != nil {
			c.change(&before, &ring)
		}
		_, changes, err := decided(RevokeKey{KeyRing: ring, Actor: c.actor, KeyID: c.key}, before, now)
		if codeOf(err) != c.want || (len(changes.APIKeys) == 1) != c.saved || changes.Empty() == c.saved {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
		if refusal, ok := errors.AsType[*commerce.Error](err); ok && c.want == "scope_missing" && (refusal.Kind != commerce.KindForbidden || refusal.Message == "") {
			t.Errorf("%s: %+v", c.name, refusal)
		}
	}
}

// TestMoreKeysThanMayBe: a partner that has more active keys than it may can revoke each of them.
func TestMoreKeysThanMayBe(t *testing.T) {
	before, ring := keyShop(commerce.MaxActiveKeys + 2)
	for _, id := range ring.IDs[:3] {
		if _, changes, err := decided(RevokeKey{KeyRing: ring, KeyID: id}, before, now); err != nil || len(changes.APIKeys) != 1 {
			t.Errorf("%s: %+v, %v", id, changes, err)
		}
	}
}

// TestRotatedKeys: an unknown key is not replaced, and an expired key makes no others.
func TestRotatedKeys(t *testing.T) {
	before, ring := keyShop(2)
	if _, changes, err := decided(RotateKey{KeyRing: ring, KeyID: "key_9", New: commerce.APIKey{ID: "key_new", Hash: commerce.HashKey("new")}}, before, now); codeOf(err) != "not_found" || !changes.Empty() {
		t.Errorf("an unknown key: %+v, %v", changes, err)
	}
	before.APIKeys[0].ExpiresOn = now
	before.Partners[0].Scopes = []commerce.Scope{commerce.WriteProducts}
	made := MakeKey{KeyRing: ring, Actor: holding("key_0"), Default: true, Key: commerce.APIKey{ID: "key_new", Mode: commerce.Test, Name: "New", Hash: commerce.HashKey("new")}}
	if _, changes, err := decided(made, before, now); codeOf(err) != "scope_missing" || !changes.Empty() {
		t.Errorf("a maker whose key has expired: %+v, %v", changes, err)
	}
}

// routed is a partner with an endpoint for some events, and a key with some rights.
func routed(events []string, scopes ...commerce.Scope) commerce.Changes {
	return commerce.Changes{
		Partners: []commerce.Partner{{ID: "p", UpdatedOn: now - 5, Scopes: []commerce.Scope{commerce.ReadOrders, commerce.ReadProducts, commerce.ManageSelf},
			Routes: []commerce.Route{{ID: "whe_1", Events: events}}}},
		Endpoints: []commerce.Endpoint{{PartnerID: "p", ID: "whe_1", URL: "https://x", Secret: "s1"}},
		APIKeys:   []commerce.APIKey{{ID: "key_0", PartnerID: "p", Mode: commerce.Live, Scopes: scopes}},
	}
}

// TestEndpointsByKey: a key tests an endpoint, and rotates its secret, only if it may read all
// events that are sent there. Staff may do so for every endpoint. No callback URL is needed.
func TestEndpointsByKey(t *testing.T) {
	const owner = "p/whe_1"
	for _, c := range []struct {
		name   string
		before commerce.Changes
		actor  commerce.Actor
		want   string
	}{
		{"staff", routed(nil), byStaff, ""},
		{"orders", routed([]string{"order.*"}, commerce.ReadOrders, commerce.ManageSelf), holding("key_0"), ""},
		{"orders, with the rights of products", routed([]string{"order.*"}, commerce.ReadProducts), holding("key_0"), "scope_missing"},
		{"products", routed([]string{"order.*", "product.*"}, commerce.ReadOrders, commerce.ManageSelf), holding("key_0"), "scope_missing"},
		{"products, with their rights", routed([]string{"product.*"}, commerce.ReadOrders, commerce.ReadProducts, commerce.ManageSelf), holding("key_0"), ""},
		{"one kind of event of orders", routed([]string{"order.created"}, commerce.ReadOrders, commerce.ManageSelf), holding("key_0"), ""},
		{"a key that is gone", routed([]string{"order.*"}), holding("key_9"), "scope_missing"},
	} {
		_, tested, err := decided(TestEndpoint{Owner: owner, Actor: c.actor}, c.before, now)
		if codeOf(err) != c.want || (len(tested.Webhooks) == 1) != (c.want == "") {
			t.Errorf("%s: %+v, %v", c.name, tested, err)
		}
		e, rotated, err := decided(RotateSecret{Owner: owner, Actor: c.actor, Secret: "s2"}, c.before, now)
		if codeOf(err) != c.want || (len(rotated.Endpoints) == 1) != (c.want == "") || err == nil && (e.UpdatedOn != now || e.Secret != "s2") {
			t.Errorf("%s: %+v, %v", c.name, rotated, err)
		}
	}
}

// TestSameSecret: a secret that is set again changes nothing, but without an overlap it ends the
// rotation, whatever the person has seen.
func TestSameSecret(t *testing.T) {
	before := routed(nil)
	before.Endpoints[0].PreviousSecret, before.Endpoints[0].PreviousUntil = "s0", now+9
	for overlap, saved := range map[time.Duration]int{time.Hour: 0, 0: 1} {
		cmd := RotateSecret{Owner: "p/whe_1", Actor: byStaff, Secret: "s1", Overlap: overlap, Seen: now - 6}
		e, changes, err := decided(cmd, before, now)
		if err != nil || len(changes.Endpoints) != saved || saved == 1 && (e.PreviousSecret != "" || e.Secret != "s1") {
			t.Errorf("overlap %v: %+v, %v", overlap, changes, err)
		}
		cmd.Secret = "s2"
		if _, changes, err := decided(cmd, before, now); codeOf(err) != "changed_meanwhile" || !changes.Empty() {
			t.Errorf("another secret, overlap %v: %+v, %v", overlap, changes, err)
		}
	}
}

// TestPartnersThatStay: what a change of a partner leaves alone.
func TestPartnersThatStay(t *testing.T) {
	before := outbound(healthy)
	p := &before.Partners[0]
	p.Scopes, p.UpdatedOn, p.Routes = []commerce.Scope{commerce.ReadOrders, commerce.ReadOrders}, now-5, []commerce.Route{{ID: "whe_1"}}
	for name, cmd := range map[string]UpdatePartner{"the same name": {ID: "p", Name: new("P")}, "not suspended anyway": {ID: "p", Suspended: new(false)}} {
		if _, changes, err := decided(cmd, before, now); err != nil || !changes.Empty() {
			t.Errorf("%s: %+v, %v", name, changes, err)
		}
		cmd.RateLimit = new(int64(2))
		if _, changes, err := decided(cmd, before, now); err != nil || len(changes.Partners) != 1 || len(changes.NewJobs) > 0 {
			t.Errorf("%s, and a limit: %+v, %v", name, changes, err)
		}
	}
	before.Endpoints[0].PreviousSecret, before.Endpoints[0].PreviousUntil = "s0", now+9
	ends := UpdatePartner{ID: "p", CallbackSecret: new("s1"), Seen: now - 6} // the same secret
	if _, changes, err := decided(ends, before, now); err != nil || len(changes.Endpoints) != 1 || changes.Endpoints[0].PreviousSecret != "" {
		t.Errorf("the same secret: %+v, %v", changes, err)
	}
	p.Suspended = true
	_, changes, err := decided(UpdatePartner{ID: "p", Suspended: new(false)}, before, now)
	if err != nil || len(changes.NewJobs) != 2 || changes.NewJobs[0] != releaseParked("p", now) || changes.NewJobs[1] != releaseParked("p/whe_1", now) {
		t.Errorf("not suspended any more: %+v, %v", changes.NewJobs, err)
	}
}

// TestOwnersThatStay: an owner of all stores may change if another one stays, or if it stays one itself.
func TestOwnersThatStay(t *testing.T) {
	for _, c := range []struct {
		name      string
		was, next commerce.User
		owners    []string
		want      string
	}{
		{"the last owner stays one", boss, boss, []string{"boss"}, ""},
		{"a clerk stays one, and nobody owns all", clerk, clerk, nil, ""},
		{"the last owner", boss, suspended(boss), []string{"boss"}, "last_owner"},
		{"one of two", boss, suspended(boss), []string{"boss", "deputy"}, ""},
	} {
		rows := fill(commerce.Needs{Users: []string{"boss", "deputy"}}, staffOf(boss, deputy))
		if err := (Given{Owners: c.owners}).keepsOwner(rows, c.was, c.next); codeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLinksOfUsers: a link of a user that is gone opens nothing, an invitation leaves a first link
// that is used as it is, and a reset that drops the second factor drops its codes, too.
func TestLinksOfUsers(t *testing.T) {
	before := commerce.Changes{SignInLinks: []commerce.SignInLink{{UserID: "gone", Hash: commerce.HashKey("k"), ExpiresOn: now + 1}}}
	if _, changes, err := decided(AcceptLink{UserID: "gone", LinkHash: commerce.HashKey("k")}, before, now); codeOf(err) != "link_used" || !changes.Empty() {
		t.Errorf("%+v, %v", changes, err)
	}
	for _, links := range [][]commerce.SignInLink{nil, {{ExpiresOn: now + 1}}} {
		before = staffOf(boss)
		before.SignInLinks = links
		if _, changes, err := decided(InviteUser{Given: Given{By: "boss"}, User: clerk}, before, now); err != nil || len(changes.SignInLinks) != 1 || changes.SignInLinks[0].UserID != "clerk" {
			t.Errorf("%+v, %v", changes, err)
		}
	}
	user := clerk
	user.TOTPSecret, user.TOTPStep, user.RecoveryCodes = "S", 7, []string{"r"}
	u, _, err := decided(ResetUser{UserID: "clerk", DropSecondFactor: true}, staffOf(user), now)
	if err != nil || u.TOTPSecret != "" || u.TOTPStep != 0 || u.RecoveryCodes != nil {
		t.Errorf("%+v, %v", u, err)
	}
	before = staffOf(boss, clerk)
	before.Sessions = []commerce.Session{{ID: "x", UserID: "clerk"}}
	if _, changes, err := decided(SuspendUser{Given: Given{By: "boss", Owners: []string{"boss"}}, UserID: "clerk", Suspended: true, Sessions: []string{"x"}}, before, now); err != nil || len(changes.EndedSessions) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestOneAlarm: one alarm counts.
func TestOneAlarm(t *testing.T) {
	before := outbound(commerce.Endpoint{PartnerID: "p", URL: "u"}.Pause(commerce.PausedGone, now-1))
	raised, changes, err := decided(RaiseAlarms{PartnerID: "p", Endpoints: []string{"p", "p/whe_9"}, Owners: []string{"ann@s.example"}}, before, now)
	if err != nil || raised != 1 || len(changes.Mails) != 1 || len(changes.NewJobs) != 1 || len(changes.Endpoints) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestAttemptsOfEndpoints: attempts at an endpoint that was deleted leave no row of it. A resent one is marked.
func TestAttemptsOfEndpoints(t *testing.T) {
	run := job(commerce.JobWaiting)
	run.Owner, run.ID, run.Subject = "p/whe_9", commerce.NewID(commerce.PrefixJob, now-1, commerce.Entropy{}), commerce.NewID(commerce.PrefixEvent, now-9, commerce.Entropy{})
	before := outbound(healthy, run)
	attempt := commerce.WebhookAttempt{PartnerID: "p", Endpoint: "whe_9", EventID: "evt_1", Status: 500, Error: "no"}
	if _, changes, err := decided(RecordWebhookAttempts{Tries: []WebhookTry{{Job: run, Attempt: attempt}}}, before, now); err != nil || len(changes.Endpoints) != 0 || len(changes.Attempts) != 1 {
		t.Errorf("deleted: %+v, %v", changes, err)
	}
	before.Endpoints = append(before.Endpoints, commerce.Endpoint{PartnerID: "p", ID: "whe_9", URL: "https://x"})
	_, changes, err := decided(RecordWebhookAttempts{Tries: []WebhookTry{{Job: run, Attempt: attempt}}}, before, now)
	if err != nil || len(changes.Endpoints) != 1 || changes.Endpoints[0].Failures != 1 || !changes.Attempts[0].Manual {
		t.Errorf("there: %+v, %v", changes, err)
	}
}
