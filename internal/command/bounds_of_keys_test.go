package command

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// keyShop is a partner with some keys; the first one acts.
func keyShop(active int) (commerce.Changes, KeyRing) {
	stored := commerce.Changes{Partners: []commerce.Partner{{ID: "p", KeysNo: 3, Scopes: []commerce.Scope{commerce.ReadOrders, commerce.WriteOrders, commerce.ManageSelf}, StoreIDs: []string{"s", "t"}}},
		Stores: []commerce.Store{{ID: "s"}, {ID: "t"}, {ID: "u"}}}
	ring := KeyRing{PartnerID: "p", No: 3}
	for i := range active {
		k := commerce.APIKey{ID: fmt.Sprint("key_", i), PartnerID: "p", Mode: commerce.Live, Name: "K", Hash: commerce.HashKey(fmt.Sprint(i)), CreatedOn: now - 100 + commerce.Millis(i)}
		stored.APIKeys, ring.IDs = append(stored.APIKeys, k), append(ring.IDs, k.ID)
	}
	return stored, ring
}

// TestKeysThatAreRefused: each bound of a new key.
func TestKeysThatAreRefused(t *testing.T) {
	many := slices.Repeat([]string{"192.0.2.1"}, 30)
	for i := range many {
		many[i] = fmt.Sprint("192.0.2.", i)
	}
	for _, c := range []struct {
		name  string
		by    string // the acting key; empty: an operator
		spoil func(stored *commerce.Changes, k *commerce.APIKey)
		want  string
	}{
		{"nothing", "", func(*commerce.Changes, *commerce.APIKey) {}, ""},
		{"by a key", "key_0", func(*commerce.Changes, *commerce.APIKey) {}, ""},
		{"no name", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Name = "" }, "name"},
		{"the shortest name", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Name = "n" }, ""},
		{"the longest name", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Name = strings.Repeat("é", commerce.MaxKeyName) }, ""},
		{"a longer name", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Name = strings.Repeat("é", commerce.MaxKeyName+1) }, "name"},
		{"a scope", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Scopes = []commerce.Scope{commerce.ReadOrders} }, ""},
		{"no scope", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Scopes = []commerce.Scope{commerce.ReadOrders, "fly"} }, "scopes[1]"},
		{"a scope that the partner lacks", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Scopes = []commerce.Scope{commerce.ReadProducts} }, "scope"},
		{"the same, by a key", "key_0", func(_ *commerce.Changes, k *commerce.APIKey) { k.Scopes = []commerce.Scope{commerce.ReadProducts} }, "scope_missing"},
		{"an end", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.ExpiresOn = now + 1 }, ""},
		{"an end in the past", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.ExpiresOn = now }, "expires_on"},
		{"the latest end", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.ExpiresOn = now.Add(commerce.MaxKeyLife) }, ""},
		{"a later one", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.ExpiresOn = now.Add(commerce.MaxKeyLife) + 1 }, "expires_on"},
		{"a store", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.StoreIDs = []string{"s"} }, ""},
		{"an unknown store", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.StoreIDs = []string{"s", "x"} }, "store_ids[1]"},
		{"a store of others", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.StoreIDs = []string{"u"} }, "store_not_allowed"},
		{"the most addresses", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Addresses = many[:commerce.MaxAddresses] }, ""},
		{"one more", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Addresses = many[:commerce.MaxAddresses+1] }, "allowed_addresses"},
		{"one of them twice", "", func(_ *commerce.Changes, k *commerce.APIKey) {
			k.Addresses = append(many[:commerce.MaxAddresses:commerce.MaxAddresses], many[0])
		}, ""},
		{"no address", "", func(_ *commerce.Changes, k *commerce.APIKey) { k.Addresses = []string{"x"} }, "allowed_addresses[0]"},
		{"a revoked key acts", "key_0", func(c *commerce.Changes, _ *commerce.APIKey) { c.APIKeys[0].RevokedOn = now }, "scope_missing"},
		{"a key of others acts", "key_0", func(c *commerce.Changes, _ *commerce.APIKey) { c.APIKeys[0].PartnerID = "q" }, "scope_missing"},
		{"a key that is gone acts", "key_9", func(*commerce.Changes, *commerce.APIKey) {}, "scope_missing"},
		{"later than its maker", "key_0", func(c *commerce.Changes, k *commerce.APIKey) { c.APIKeys[0].ExpiresOn, k.ExpiresOn = now+50, now+51 }, "expires_on"},
		{"without an end", "key_0", func(c *commerce.Changes, k *commerce.APIKey) { c.APIKeys[0].ExpiresOn = now + 50 }, "expires_on"},
		{"with its maker", "key_0", func(c *commerce.Changes, k *commerce.APIKey) { c.APIKeys[0].ExpiresOn, k.ExpiresOn = now+50, now+50 }, ""},
		{"from elsewhere", "key_0", func(c *commerce.Changes, k *commerce.APIKey) {
			c.APIKeys[0].Addresses, k.Addresses = many[:1], many[:2]
		}, "allowed_addresses"},
		{"the keys have changed", "", func(c *commerce.Changes, _ *commerce.APIKey) { c.Partners[0].KeysNo++ }, ErrKeysMoved.Error()},
		{"no partner", "", func(c *commerce.Changes, _ *commerce.APIKey) { c.Partners = nil }, "not_found"},
	} {
		stored, ring := keyShop(2)
		k := commerce.APIKey{ID: "key_new", Mode: commerce.Live, Name: "New", Hash: commerce.HashKey("new")}
		c.spoil(&stored, &k)
		by := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
		cmd := MakeKey{KeyRing: ring, Actor: by, Key: k}
		if c.by != "" {
			cmd.Actor = commerce.PartnerActor(&commerce.APIKey{ID: c.by, PartnerID: "p", Mode: commerce.Live}, commerce.Live, "")
			if !slices.Contains(ring.IDs, c.by) {
				cmd.IDs = append(cmd.IDs, c.by)
			}
		}
		made, changes, err := decided(cmd, stored, now)
		if got := refusedFor(err); got != c.want || err != nil && !changes.Empty() {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && (made.PartnerID != "p" || made.CreatedOn != now || !reflect.DeepEqual(changes.APIKeys, []commerce.APIKey{made}) || changes.Partners[0].KeysNo != 4) {
			t.Errorf("%s: %+v", c.name, changes)
		}
	}
}

// TestMostKeys: a partner has at most so many active keys of a mode.
func TestMostKeys(t *testing.T) {
	add := func(stored commerce.Changes, ring KeyRing, mode commerce.Mode, name string) error {
		_, _, err := decided(MakeKey{KeyRing: ring, Key: commerce.APIKey{ID: "key_new", Mode: mode, Name: "New", Hash: commerce.HashKey(name), Scopes: []commerce.Scope{commerce.ReadOrders}}}, stored, now)
		return err
	}
	stored, ring := keyShop(commerce.MaxActiveKeys - 1)
	if err := add(stored, ring, commerce.Live, "new"); err != nil {
		t.Error(err)
	}
	stored, ring = keyShop(commerce.MaxActiveKeys)
	if err := add(stored, ring, commerce.Live, "new"); codeOf(err) != "limit_reached" {
		t.Error(err)
	}
	if err := add(stored, ring, commerce.Test, "new"); err != nil {
		t.Errorf("of the other mode: %v", err)
	}
	if err := add(stored, ring, commerce.Live, "3"); err != nil {
		t.Errorf("the same key once more: %v", err)
	}
	_, changes, err := decided(RevokeKey{KeyRing: ring, KeyID: "key_0"}, stored, now)
	if err != nil || len(changes.APIKeys) != 1 || changes.APIKeys[0].ID != "key_0" || changes.APIKeys[0].RevokedOn != now {
		t.Errorf("%+v, %v", changes, err)
	}
	stored.APIKeys[0] = changes.APIKeys[0]
	if err := add(stored, ring, commerce.Live, "new"); err != nil {
		t.Errorf("after one was revoked: %v", err)
	}
}

// TestFormerKeys: programs of before know the newest key, while there is one.
func TestFormerKeys(t *testing.T) {
	stored, ring := keyShop(2)
	former := func(k commerce.APIKey) commerce.FormerKey {
		return commerce.FormerKey{PartnerID: "p", Mode: commerce.Live, Hash: k.Hash, CreatedOn: k.CreatedOn}
	}
	stored.FormerKeys = []commerce.FormerKey{former(stored.APIKeys[1])}
	for _, c := range []struct {
		revoked string
		want    []commerce.FormerKey
		gone    int
	}{{"key_0", nil, 0}, {"key_1", []commerce.FormerKey{former(stored.APIKeys[0])}, 0}} {
		_, changes, err := decided(RevokeKey{KeyRing: ring, KeyID: c.revoked}, stored, now)
		if err != nil || !slices.Equal(changes.FormerKeys, c.want) || len(changes.GoneFormerKeys) != c.gone {
			t.Errorf("%s: %+v, %+v, %v", c.revoked, changes.FormerKeys, changes.GoneFormerKeys, err)
		}
	}
	last := stored
	last.APIKeys = stored.APIKeys[1:]
	_, changes, err := decided(RevokeKey{KeyRing: KeyRing{PartnerID: "p", No: 3, IDs: []string{"key_1"}}, KeyID: "key_1"}, last, now)
	if err != nil || len(changes.FormerKeys) != 0 || !slices.Equal(changes.GoneFormerKeys, []commerce.FormerKeyRef{{PartnerID: "p", Mode: commerce.Live}}) {
		t.Errorf("the last: %+v, %v", changes, err)
	}
	_, changes, err = decided(RevokeKey{KeyRing: KeyRing{PartnerID: "p", No: 3, IDs: []string{"key_1"}}, KeyID: "key_9"}, last, now)
	if codeOf(err) != "not_found" || !changes.Empty() {
		t.Error(err)
	}
}

// TestRotation: the new key takes the place of the old one, which works on for a while.
func TestRotation(t *testing.T) {
	stored, ring := keyShop(2)
	stored.APIKeys[0].Scopes, stored.APIKeys[0].UsedOn = []commerce.Scope{commerce.ReadOrders}, now-1
	for _, c := range []struct {
		overlap        time.Duration
		expires        commerce.Millis
		revoked, until commerce.Millis
	}{{0, 0, now, 0}, {time.Hour, 0, 0, now.Add(time.Hour)}, {time.Hour, now.Add(time.Minute), 0, now.Add(time.Minute)}, {time.Hour, now.Add(2 * time.Hour), 0, now.Add(time.Hour)}} {
		stored.APIKeys[0].ExpiresOn = c.expires
		cmd := RotateKey{KeyRing: ring, KeyID: "key_0", Overlap: c.overlap, New: commerce.APIKey{ID: "key_new", Hash: commerce.HashKey("new"), Last4: "abcd"}}
		done, changes, err := decided(cmd, stored, now)
		want := stored.APIKeys[0]
		want.ID, want.Hash, want.Last4, want.Replaces, want.CreatedOn, want.UsedOn = "key_new", cmd.New.Hash, "abcd", "key_0", now, 0
		old := stored.APIKeys[0]
		old.RevokedOn, old.ExpiresOn = c.revoked, c.until
		if c.overlap == 0 {
			old.ExpiresOn = c.expires
		}
		if err != nil || !reflect.DeepEqual(done, RotatedKey{want, old}) || !reflect.DeepEqual(changes.APIKeys, []commerce.APIKey{old, want}) {
			t.Errorf("%+v: %+v, %+v, %v", c, done, changes.APIKeys, err)
		}
	}
	stored.APIKeys[0].ExpiresOn = 0
	full, all := keyShop(commerce.MaxActiveKeys)
	if _, _, err := decided(RotateKey{KeyRing: all, KeyID: "key_0", Overlap: time.Hour, New: commerce.APIKey{ID: "key_new", Hash: commerce.HashKey("new")}}, full, now); codeOf(err) != "limit_reached" {
		t.Errorf("both keys would be active: %v", err)
	}
	narrow := commerce.PartnerActor(&commerce.APIKey{ID: "key_0", PartnerID: "p"}, commerce.Live, "")
	if _, _, err := decided(RotateKey{KeyRing: ring, Actor: narrow, KeyID: "key_1", New: commerce.APIKey{ID: "key_new", Hash: commerce.HashKey("new")}}, stored, now); codeOf(err) != "scope_missing" {
		t.Errorf("a key with more rights was replaced: %v", err)
	}
}

// TestPartnersTakeAllThatIsGiven: each value of a change is stored, and what is not given stays.
func TestPartnersTakeAllThatIsGiven(t *testing.T) {
	stored := commerce.Changes{Partners: []commerce.Partner{{ID: "p", Name: "Old", RateLimit: 60, StoreIDs: []string{"s"}, UpdatedOn: 5}}, Stores: []commerce.Store{{ID: "s"}, {ID: "t"}}}
	cmd := UpdatePartner{ID: "p", Name: new("New"), Scopes: &[]commerce.Scope{commerce.ReadOrders, commerce.ReadOrders}, StoreIDs: &[]string{"t", "t"}, RateLimit: new(int64(9)), CallbackURL: new("https://x"),
		CallbackSecret: new("sec"), AlarmAddresses: &[]string{"a@x", "a@x"}, Suspended: new(true)}
	p, changes, err := decided(cmd, stored, now)
	want := commerce.Partner{ID: "p", Name: "New", Scopes: []commerce.Scope{commerce.ReadOrders}, StoreIDs: []string{"t"}, RateLimit: 9, CallbackURL: "https://x", CallbackSecret: "sec", AlarmAddresses: []string{"a@x"}, Suspended: true, UpdatedOn: now}
	if err != nil || !reflect.DeepEqual(p, want) || !reflect.DeepEqual(changes.Partners, []commerce.Partner{want}) {
		t.Errorf("%+v, %v", p, err)
	}
	stored.Partners[0] = want
	for _, same := range []UpdatePartner{{ID: "p"}, cmd, {ID: "p", Name: new("New"), Seen: 3}} {
		if _, changes, err := decided(same, stored, now+1); err != nil || !changes.Empty() {
			t.Errorf("%+v changes %+v, %v", same, changes, err)
		}
	}
	if _, changes, err := decided(UpdatePartner{ID: "p", Name: new("Newer")}, stored, now+1); err != nil || changes.Partners[0].RateLimit != 9 || changes.Partners[0].UpdatedOn != now+1 || len(changes.NewJobs) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	if _, changes, err := decided(UpdatePartner{ID: "p", Suspended: new(false)}, stored, now); err != nil || len(changes.NewJobs) != 1 || changes.NewJobs[0].Kind != commerce.JobReleaseParked || changes.Partners[0].Suspended {
		t.Errorf("lifted: %+v, %v", changes, err)
	}
	if _, changes, err := decided(UpdatePartner{ID: "p", Suspended: new(true), Name: new("N")}, stored, now); err != nil || len(changes.NewJobs) != 0 {
		t.Errorf("still suspended: %+v, %v", changes, err)
	}
	stored.Partners[0].CallbackSecret = ""
	if p, _, err := decided(UpdatePartner{ID: "p", CallbackURL: new("https://y"), FirstSecret: "first"}, stored, now); err != nil || p.CallbackSecret != "first" {
		t.Errorf("%+v, %v", p, err)
	}
	stored.Partners[0].CallbackURL = ""
	if p, _, err := decided(UpdatePartner{ID: "p", Name: new("N"), FirstSecret: "first"}, stored, now); err != nil || p.CallbackSecret != "" {
		t.Errorf("a secret for no URL: %+v, %v", p, err)
	}
	for want, wrong := range map[string]UpdatePartner{"not_found": {ID: "q"}, "name": {ID: "p", Name: new("")}, "rate-limit": {ID: "p", RateLimit: new(int64(0))}, "scope": {ID: "p", Scopes: &[]commerce.Scope{"fly"}},
		"store": {ID: "p", StoreIDs: &[]string{"x"}}, "alarm-address": {ID: "p", AlarmAddresses: &[]string{"1", "2", "3", "4", "5", "6"}}, "changed_meanwhile": {ID: "p", Name: new("N"), Seen: 3}} {
		if _, changes, err := decided(wrong, stored, now); refusedFor(err) != want || !changes.Empty() {
			t.Errorf("%+v: %v, want %s", wrong, err, want)
		}
	}
	if _, _, err := decided(UpdatePartner{ID: "p", AlarmAddresses: &[]string{"1", "2", "3", "4", "5"}, Seen: now}, stored, now); err != nil {
		t.Error(err)
	}
	stored.Stores = nil // it was there when the partner was restricted to it
	if _, _, err := decided(UpdatePartner{ID: "p", Name: new("N")}, stored, now); err != nil {
		t.Error(err)
	}
}

func TestCreatedPartners(t *testing.T) {
	cmd := CreatePartner{Partner: commerce.Partner{ID: "p", Name: "P", RateLimit: 1, Scopes: []commerce.Scope{commerce.ReadOrders, commerce.ReadOrders}, StoreIDs: []string{"s", "s"}, AlarmAddresses: []string{"a", "a"}},
		Keys: []commerce.APIKey{{ID: "key_1", Mode: commerce.Live, Hash: commerce.HashKey("1")}, {ID: "key_2", Mode: commerce.Test, Hash: commerce.HashKey("2"), Scopes: []commerce.Scope{commerce.ReadOrders}}}}
	p, changes, err := decided(cmd, commerce.Changes{Stores: []commerce.Store{{ID: "s"}}}, now)
	want := commerce.Partner{ID: "p", Name: "P", RateLimit: 1, Scopes: []commerce.Scope{commerce.ReadOrders}, StoreIDs: []string{"s"}, AlarmAddresses: []string{"a"}, CreatedOn: now, UpdatedOn: now}
	if err != nil || !reflect.DeepEqual(p, want) || len(changes.APIKeys) != 2 || changes.APIKeys[0].PartnerID != "p" || changes.APIKeys[0].CreatedOn != now {
		t.Errorf("%+v, %+v, %v", p, changes, err)
	}
	if want := []commerce.FormerKey{{PartnerID: "p", Mode: commerce.Live, Hash: commerce.HashKey("1"), CreatedOn: now}}; !slices.Equal(changes.FormerKeys, want) {
		t.Errorf("%+v", changes.FormerKeys)
	}
	if _, changes, err := decided(cmd, commerce.Changes{}, now); refusedFor(err) != "store" || !changes.Empty() {
		t.Error(err)
	}
}

// TestMarks: when an order was ready, and picked up, is as it was told, and only for pickup.
func TestMarks(t *testing.T) {
	marks := map[commerce.OrderStatus]func(o commerce.Order, by commerce.Actor, at commerce.Millis) (Advanced, commerce.Changes, error){
		commerce.ReadyForPickup: func(o commerce.Order, by commerce.Actor, at commerce.Millis) (Advanced, commerce.Changes, error) {
			return decided(MarkReady{Facts: FactsOf(o), Actor: by, ReadyAt: at}, stored(o, 5), now)
		},
		commerce.PickedUp: func(o commerce.Order, by commerce.Actor, at commerce.Millis) (Advanced, commerce.Changes, error) {
			return decided(MarkPickedUp{Facts: FactsOf(o), Actor: by, PickedUpAt: at}, stored(o, 5), now)
		},
	}
	for to, mark := range marks {
		stamp := func(o commerce.Order) commerce.Millis {
			if to == commerce.PickedUp {
				return o.PickedUpAt
			}
			return o.ReadyForPickupAt
		}
		for at, want := range map[commerce.Millis]commerce.Millis{0: now, now - 5000: now - 5000} {
			o := orderIn(commerce.Processed, commerce.ByPickup, true)
			if to == commerce.PickedUp {
				o.Status = commerce.ReadyForPickup
			}
			got, changes, err := mark(o, byPartner, at)
			if err != nil || got.Order.Status != to || stamp(got.Order) != want || len(changes.Orders) != 1 || stamp(changes.Orders[0]) != want {
				t.Errorf("%s at %d: %+v, %v", to, at, got, err)
			}
			if again, second, err := mark(changes.Orders[0], byPartner, now-9000); err != nil || !second.Empty() || stamp(again.Order) != want || again.Order.Status != to {
				t.Errorf("%s again: %+v, %+v, %v", to, again, second, err)
			}
		}
		for want, o := range map[string]commerce.Order{"wrong_status": orderIn(commerce.Cancelled, commerce.ByPickup, false), "fulfillment": orderIn(commerce.Shipped, commerce.ByDelivery, true)} {
			_, changes, err := mark(o, byPartner, 0)
			if err == nil || !changes.Empty() {
				t.Errorf("%s, %s: %v", to, want, err)
			}
		}
		if _, _, err := mark(orderIn(commerce.Processed, commerce.ByPickup, true), byPartner, now.Add(40*24*time.Hour)); err == nil {
			t.Errorf("%s in a month", to)
		}
	}
}

// TestPausesOfEndpoints: a partner cannot end the pause of the merchant, and a key pauses and resumes
// only endpoints that get what it may read.
func TestPausesOfEndpoints(t *testing.T) {
	operator, staff := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1"}
	narrow := commerce.PartnerActor(&commerce.APIKey{ID: "key_1", PartnerID: "p"}, commerce.Live, "")
	stored := func(e commerce.Endpoint) commerce.Changes {
		e.PartnerID = "p"
		return commerce.Changes{Partners: []commerce.Partner{{ID: "p", CallbackURL: "https://x", Scopes: []commerce.Scope{commerce.AllScopes}}}, Endpoints: []commerce.Endpoint{e},
			APIKeys: []commerce.APIKey{{ID: "key_1", PartnerID: "p", Mode: commerce.Live, Scopes: []commerce.Scope{commerce.ReadStores}}}}
	}
	paused := func(by commerce.PauseReason) commerce.Endpoint { return commerce.Endpoint{PausedOn: 5, PausedFor: by} }
	for _, c := range []struct {
		name   string
		before commerce.Endpoint
		by     commerce.Actor
		want   string // of resume
		same   bool
	}{
		{"nothing to resume", commerce.Endpoint{}, operator, "", true}, {"held", commerce.Endpoint{HeldUntil: now + 5, HeldSince: 5}, byPartner, "", false},
		{"its own pause", paused(commerce.PausedPartner), byPartner, "", false}, {"the merchant's", paused(commerce.PausedOperator), byPartner, "endpoint_paused", true},
		{"the merchant's, by an operator", paused(commerce.PausedOperator), operator, "", false}, {"the merchant's, by staff", paused(commerce.PausedOperator), staff, "", false},
		{"the merchant's, by this program", paused(commerce.PausedOperator), commerce.Actor{}, "", false}, {"of a failing one", paused(commerce.PausedFailing), byPartner, "", false},
		{"of a key that may not read", paused(commerce.PausedPartner), narrow, "scope_missing", true}, {"nothing, by a key that may not read", commerce.Endpoint{}, narrow, "scope_missing", true},
	} {
		by := c.by
		if by.Key == byPartner.Key {
			by.Key = nil
		}
		e, changes, err := decided(ResumeEndpoint{Owner: "p", Actor: by}, stored(c.before), now)
		if codeOf(err) != c.want || changes.Empty() != c.same || !c.same && (e.PausedOn != 0 || e.HeldUntil != now) {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
	for _, c := range []struct {
		name   string
		before commerce.Endpoint
		by     commerce.Actor
		reason commerce.PauseReason
		want   string
		same   bool
	}{
		{"by an operator", commerce.Endpoint{}, operator, commerce.PausedOperator, "", false}, {"by its partner", commerce.Endpoint{}, byPartner, commerce.PausedPartner, "", false},
		{"twice", paused(commerce.PausedPartner), byPartner, commerce.PausedPartner, "", true}, {"the merchant's stays", paused(commerce.PausedOperator), byPartner, commerce.PausedPartner, "", true},
		{"the merchant takes it over", paused(commerce.PausedPartner), operator, commerce.PausedOperator, "", false}, {"a failing one", paused(commerce.PausedFailing), byPartner, commerce.PausedPartner, "", false},
		{"by a key that may not read", commerce.Endpoint{}, narrow, commerce.PausedPartner, "scope_missing", true},
	} {
		by := c.by
		if by.Key == byPartner.Key {
			by.Key = nil
		}
		e, changes, err := decided(PauseEndpoint{Owner: "p", Actor: by, By: c.reason}, stored(c.before), now)
		if codeOf(err) != c.want || changes.Empty() != c.same || !c.same && (e.PausedOn != now || e.PausedFor != c.reason) {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
	for _, owner := range []string{"q", "p/whe_9"} {
		_, _, resume := decided(ResumeEndpoint{Owner: owner, Actor: operator}, stored(commerce.Endpoint{}), now)
		_, _, pause := decided(PauseEndpoint{Owner: owner, Actor: operator, By: commerce.PausedOperator}, stored(commerce.Endpoint{}), now)
		if codeOf(resume) != "not_found" || codeOf(pause) != "not_found" {
			t.Errorf("%s: %v, %v", owner, resume, pause)
		}
	}
}

// TestSessionsBegin: a session begins now, the one before ends, and what was used works no more.
func TestSessionsBegin(t *testing.T) {
	hash := commerce.HashKey("link")
	stored := commerce.Changes{Users: []commerce.User{{ID: "usr_1", RightsOn: 5}}, Members: []commerce.Member{{ID: "mem_1", PartnerID: "p"}}, Sessions: []commerce.Session{{ID: "old"}},
		SignInLinks: []commerce.SignInLink{{UserID: "usr_1", Hash: hash, ExpiresOn: now + 9}, {UserID: "mem_1", Hash: hash, ExpiresOn: now + 9}}, SignInCounts: []commerce.SignInCount{{ID: "try", Since: now, Failures: 2}}}
	of := func(keep ...string) commerce.Changes { // the rows of these people
		c := stored
		c.SignInLinks = slices.DeleteFunc(slices.Clone(stored.SignInLinks), func(l commerce.SignInLink) bool { return !slices.Contains(keep, l.UserID) })
		return c
	}
	session, changes, err := decided(SignIn{Session: commerce.Session{ID: "new", UserID: "usr_1"}, Old: "old", UserID: "usr_1", RightsOn: 5, LinkHash: hash, Tries: []commerce.SignInTry{{ID: "try", Most: 5}}, Forget: true}, of("usr_1"), now)
	if err != nil || session.CreatedOn != now || session.SeenOn != now || !reflect.DeepEqual(changes.Sessions, []commerce.Session{session}) || !slices.Equal(changes.EndedSessions, []string{"old"}) ||
		len(changes.SignInLinks) != 1 || changes.SignInLinks[0].Hash != (commerce.KeyHash{}) || len(changes.SignInCounts) != 1 || changes.SignInCounts[0].Failures != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	_, changes, err = decided(SignIn{Session: commerce.Session{ID: "new", UserID: "usr_1"}, UserID: "usr_1", RightsOn: 5, Tries: []commerce.SignInTry{{ID: "try", Most: 5}}}, of(), now)
	if err != nil || len(changes.EndedSessions)+len(changes.SignInCounts)+len(changes.SignInLinks)+len(changes.Users) != 0 || len(changes.Sessions) != 1 {
		t.Errorf("with a password: %+v, %v", changes, err)
	}
	for name, change := range map[string]func(*commerce.User){"suspended": func(u *commerce.User) { u.Suspended = true }, "changed": func(u *commerce.User) { u.RightsOn++ }, "gone": func(u *commerce.User) { u.ID = "usr_2" }} {
		c := of()
		c.Users = slices.Clone(c.Users)
		if change(&c.Users[0]); c.Users[0].ID != "usr_1" {
			c.Users = nil
		}
		if _, changes, err := decided(SignIn{Session: commerce.Session{ID: "new"}, UserID: "usr_1", RightsOn: 5}, c, now); codeOf(err) != "not_signed_in" || !changes.Empty() {
			t.Errorf("%s: %v", name, err)
		}
	}
	entered, changes, err := decided(EnterPortal{Session: commerce.Session{ID: "new", UserID: "mem_1"}, Old: "old", LinkHash: hash}, of("mem_1"), now)
	if err != nil || entered.CreatedOn != now || entered.SeenOn != now || !slices.Equal(changes.EndedSessions, []string{"old"}) || changes.SignInLinks[0].Hash != (commerce.KeyHash{}) || !reflect.DeepEqual(changes.Sessions, []commerce.Session{entered}) {
		t.Errorf("%+v, %v", changes, err)
	}
	gone := of("mem_1")
	gone.Members = nil
	if _, changes, err := decided(EnterPortal{Session: commerce.Session{ID: "new", UserID: "mem_1"}, LinkHash: hash}, gone, now); codeOf(err) != "link_used" || !changes.Empty() {
		t.Error(err)
	}
	user, changes, err := decided(AcceptLink{UserID: "usr_1", LinkHash: hash, Password: "argon", Sessions: []string{"old"}}, of("usr_1"), now)
	if err != nil || user.Password != "argon" || !reflect.DeepEqual(changes.Users, []commerce.User{user}) || !slices.Equal(changes.EndedSessions, []string{"old"}) || user.RightsOn != now {
		t.Errorf("%+v, %v", changes, err)
	}
	reset, changes, err := decided(ResetUser{UserID: "usr_1", LinkHash: commerce.HashKey("next"), ExpiresOn: now + 50, Sessions: []string{"old"}}, of("usr_1"), now)
	if want := []commerce.SignInLink{{UserID: "usr_1", Hash: commerce.HashKey("next"), ExpiresOn: now + 50}}; err != nil || !slices.Equal(changes.SignInLinks, want) || reset.RightsOn != now || !reflect.DeepEqual(changes.Users, []commerce.User{reset}) {
		t.Errorf("%+v, %v", changes, err)
	}
	if _, changes, err := decided(ResetUser{Given: Given{By: "usr_9"}, UserID: "usr_1"}, of("usr_1"), now); codeOf(err) != "permission_missing" || !changes.Empty() {
		t.Error(err)
	} else if refusal, _ := errors.AsType[*commerce.Error](err); refusal.Kind != commerce.KindForbidden || refusal.Message == "" {
		t.Errorf("%+v", refusal)
	}
}
