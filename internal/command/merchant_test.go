package command

import (
	"reflect"
	"testing"

	"purveyor/internal/commerce"
)

const seenOn = commerce.Millis(now - 5)

// TestStores: a store is made once, with the next number; a change takes the store as the person
// saw it, unless nothing is left to change.
func TestStores(t *testing.T) {
	create := CreateStore{Store: commerce.Store{ID: "s", No: 99, Name: "S", LateMinutes: 15}}
	made, changes, err := decided(create, commerce.Changes{}, now)
	if want := (commerce.Store{ID: "s", No: 7, Name: "S", LateMinutes: 15, UpdatedOn: now}); err != nil || made != want || !reflect.DeepEqual(changes.Stores, []commerce.Store{want}) {
		t.Fatalf("%+v, %v", changes, err)
	}
	made.UpdatedOn = seenOn
	before := commerce.Changes{Stores: []commerce.Store{made}}
	if _, changes, err := decided(create, before, now); codeOf(err) != "store_exists" || len(changes.Stores) > 0 {
		t.Errorf("a second store with the id: %+v, %v", changes, err)
	}
	lat, lng := 1.5, 2.5
	moved := commerce.Store{ID: "s", Name: "T", Lat: &lat, Lng: &lng}
	for _, c := range []struct {
		name   string
		wanted commerce.Store
		seen   commerce.Millis
		before commerce.Changes
		code   string
		same   bool
	}{
		{"as it was seen", moved, seenOn, before, "", false},
		{"not seen", moved, 0, before, "", false},
		{"changed meanwhile", moved, seenOn - 1, before, "changed_meanwhile", false},
		{"nothing to change", commerce.Store{ID: "s", Name: "S", LateMinutes: 15}, seenOn - 1, before, "", true},
		{"unknown", moved, seenOn, commerce.Changes{}, "not_found", false},
	} {
		update := UpdateStore{Store: c.wanted, Seen: c.seen}
		got, changes, err := decided(update, c.before, now)
		want := c.wanted
		want.No, want.UpdatedOn = 7, now
		switch {
		case codeOf(err) != c.code || (c.same || c.code != "") != (len(changes.Stores) == 0):
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		case c.same && got != made, c.code == "" && !c.same && (got != want || !reflect.DeepEqual(changes.Stores, []commerce.Store{want})):
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestPartnersAsSeen: changes of a partner and its secret are refused if the row has
// moved since the person saw it, and are harmless if they were done already.
func TestPartnersAsSeen(t *testing.T) {
	p := commerce.Partner{ID: "p", Name: "P", RateLimit: 5, Scopes: []commerce.Scope{commerce.ReadOrders}, CallbackURL: "u", CallbackSecret: "old", UpdatedOn: seenOn}
	before := commerce.Changes{Partners: []commerce.Partner{p}}
	renamed, rotated := p, p
	renamed.Name, rotated.CallbackSecret = "Q", "new"
	for _, act := range []struct {
		name string
		done commerce.Changes
		run  func(seen commerce.Millis, before commerce.Changes) (commerce.Changes, error)
	}{
		{"update", commerce.Changes{Partners: []commerce.Partner{renamed}}, func(seen commerce.Millis, before commerce.Changes) (commerce.Changes, error) {
			c := UpdatePartner{ID: "p", Seen: seen, Name: new("Q"), Scopes: &[]commerce.Scope{commerce.ReadOrders, commerce.ReadOrders}, StoreIDs: &[]string{}}
			_, changes, err := decided(c, before, now)
			return changes, err
		}},
		{"secret", commerce.Changes{Partners: []commerce.Partner{rotated}}, func(seen commerce.Millis, before commerce.Changes) (commerce.Changes, error) {
			c := RotateSecret{Overlap: commerce.SecretOverlap, Owner: "p", Seen: seen, Secret: "new"}
			_, changes, err := decided(c, before, now)
			return changes, err
		}},
	} {
		for _, c := range []struct {
			seen   commerce.Millis
			before commerce.Changes
			code   string
			none   bool
		}{
			{seenOn, before, "", false}, {0, before, "", false}, {seenOn - 1, before, "changed_meanwhile", true},
			{seenOn, act.done, "", true}, {seenOn - 1, act.done, "", true}, {seenOn, commerce.Changes{}, "not_found", true},
		} {
			changes, err := act.run(c.seen, c.before)
			if none := reflect.DeepEqual(changes, commerce.Changes{}); codeOf(err) != c.code || none != c.none {
				t.Errorf("%s as of %d: %+v, %v", act.name, c.seen, changes, err)
			}
		}
	}
}
