package commerce

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRouteTakes(t *testing.T) {
	const both = Mode("")
	for _, c := range []struct {
		name  string
		route Route
		kind  WebhookKind
		mode  Mode
		store string
		want  bool
	}{
		{"all", Route{}, WebhookAccepted, Live, "s", true},
		{"all, but products", Route{}, "product.updated", Live, "s", false},
		{"* is all, but products", Route{Events: []string{"*"}}, "product.updated", Live, "s", false},
		{"products by name", Route{Events: []string{"product.updated"}}, "product.updated", Live, "s", true},
		{"products by group", Route{Events: []string{"*", "product.*"}}, "product.updated", Live, "s", true},
		{"the kind", Route{Events: []string{"order.paid", string(WebhookAccepted)}}, WebhookAccepted, Live, "s", true},
		{"another kind", Route{Events: []string{"order.paid"}}, WebhookAccepted, Live, "s", false},
		{"another group", Route{Events: []string{"delivery.*"}}, WebhookAccepted, Live, "s", false},
		{"the mode", Route{Mode: Test}, WebhookAccepted, Test, "s", true},
		{"another mode", Route{Mode: Test}, WebhookAccepted, Live, "s", false},
		{"the store", Route{StoreIDs: []string{"r", "s"}}, WebhookAccepted, both, "s", true},
		{"another store", Route{StoreIDs: []string{"r"}}, WebhookAccepted, both, "s", false},
		{"of no store", Route{StoreIDs: []string{"r"}}, WebhookTest, Live, "", true},
	} {
		if got := c.route.Takes(c.kind, c.mode, c.store); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRecipients(t *testing.T) {
	p := Partner{ID: "p", Routes: []Route{{ID: "a", Mode: Test}, {ID: "b", StoreIDs: []string{"s"}}}}
	primary := p
	primary.CallbackURL = "https://x.example"
	limited := primary.WithRoute(Route{Events: []string{"delivery.*"}})
	for _, c := range []struct {
		name  string
		of    Partner
		mode  Mode
		store string
		want  []string
	}{
		{"without a callback URL", p, Live, "s", []string{"p/b"}},
		{"with one", primary, Live, "s", []string{"p", "p/b"}},
		{"with one that gets other kinds", limited, Live, "s", []string{"p/b"}},
		{"test", primary, Test, "r", []string{"p", "p/a"}},
		{"deleted", primary.WithoutRoute("a"), Test, "r", []string{"p"}},
		{"no endpoint", Partner{ID: "p"}, Live, "s", nil},
	} {
		if got := c.of.Recipients(WebhookAccepted, c.mode, c.store); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPartnerUnder(t *testing.T) {
	all := Partner{Scopes: []Scope{AllScopes, ManageSelf}}
	some := Partner{Scopes: []Scope{ReadOrders, ReadProducts}, StoreIDs: []string{"a", "b"}}
	for _, c := range []struct {
		name   string
		of     Partner
		key    *APIKey
		scopes []Scope
		stores []string
	}{
		{"no key", some, nil, some.Scopes, some.StoreIDs},
		{"a key that takes nothing away", some, &APIKey{}, some.Scopes, some.StoreIDs},
		{"fewer scopes", all, &APIKey{Scopes: []Scope{ReadOrders}}, []Scope{ReadOrders}, nil},
		{"a scope that the partner lost", some, &APIKey{Scopes: []Scope{WriteOrders}}, nil, some.StoreIDs},
		{"* of the key is not more than the partner has", some, &APIKey{Scopes: []Scope{AllScopes}}, []Scope{ReadProducts, ReadOrders}, some.StoreIDs},
		{"a store of all", all, &APIKey{StoreIDs: []string{"a"}}, all.Scopes, []string{"a"}},
		{"a store of some", some, &APIKey{StoreIDs: []string{"b", "c"}}, some.Scopes, []string{"b"}},
		{"a store that the partner lost", some, &APIKey{StoreIDs: []string{"c"}}, some.Scopes, []string{noStore}},
	} {
		got := c.of.Under(c.key)
		slices.Sort(got.Scopes)
		slices.Sort(c.scopes)
		if !slices.Equal(got.Scopes, c.scopes) || !slices.Equal(got.StoreIDs, c.stores) {
			t.Errorf("%s: %v %q", c.name, got.Scopes, got.StoreIDs)
		}
	}
}

// A key never has a right that its partner lacks, and none that the key itself lacks.
func TestKeysOnlyTakeAway(t *testing.T) {
	scopes := rapid.SliceOfDistinct(rapid.SampledFrom(append(slices.Clone(Scopes), AllScopes, ManageSelf)), func(s Scope) Scope { return s })
	stores := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), func(s string) string { return s })
	rapid.Check(t, func(t *rapid.T) {
		p := Partner{Scopes: scopes.Draw(t, "partner"), StoreIDs: stores.Draw(t, "stores of the partner")}
		k := &APIKey{Scopes: scopes.Draw(t, "key"), StoreIDs: stores.Draw(t, "stores of the key")}
		under := p.Under(k)
		for _, s := range Scopes {
			if under.Has(s) && (!p.Has(s) || len(k.Scopes) > 0 && !(Partner{Scopes: k.Scopes}).Has(s)) {
				t.Fatalf("%s of %v under %v", s, p.Scopes, k.Scopes)
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			if under.MayUse(id) == nil && (p.MayUse(id) != nil || (Partner{StoreIDs: k.StoreIDs}).MayUse(id) != nil) {
				t.Fatalf("%s of %v under %v", id, p.StoreIDs, k.StoreIDs)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		allowed []string
		from    string
		want    bool
	}{
		{nil, "203.0.113.9", true},
		{[]string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"203.0.113.9"}, "::ffff:203.0.113.9", true},
		{[]string{"203.0.113.0/24"}, "203.0.113.255", true},
		{[]string{"203.0.113.0/24"}, "203.0.114.0", false},
		{[]string{"2001:db8::/32"}, "2001:db8:1::1", true},
		{[]string{"2001:db8::/32"}, "203.0.113.9", false},
		{[]string{"203.0.113.9"}, "", false},
	} {
		if got := (APIKey{Addresses: c.allowed}).Admits(c.from); got != c.want {
			t.Errorf("%v admits %q: %v", c.allowed, c.from, got)
		}
	}
	for _, c := range []struct {
		inner, outer []string
		want         bool
	}{
		{nil, nil, true},
		{[]string{"10.0.0.1"}, nil, true},
		{nil, []string{"10.0.0.1"}, false}, // all addresses are not within one
		{[]string{"10.0.0.1"}, []string{"10.0.0.0/8"}, true},
		{[]string{"10.0.0.0/7"}, []string{"10.0.0.0/8"}, false},
		{[]string{"10.0.0.1", "11.0.0.1"}, []string{"10.0.0.0/8"}, false},
		{[]string{"10.0.0.1", "11.0.0.1"}, []string{"10.0.0.0/8", "11.0.0.1"}, true},
		{[]string{"no address"}, []string{"10.0.0.0/8"}, false},
	} {
		if got := AddressesWithin(c.inner, c.outer); got != c.want {
			t.Errorf("%v within %v: %v", c.inner, c.outer, got)
		}
	}
}

func TestDefaultScopes(t *testing.T) {
	partner := Partner{Scopes: []Scope{ReadOrders, WriteProducts, WriteInventory}}
	for _, c := range []struct {
		name   string
		mode   Mode
		acting *APIKey
		want   []Scope
	}{
		{"live: those of the partner", Live, nil, nil},
		{"live: those of the caller", Live, &APIKey{Scopes: []Scope{WriteProducts}}, []Scope{WriteProducts}},
		{"test: none that changes the catalog", Test, nil, []Scope{ReadOrders}},
		{"test: none is left", Test, &APIKey{Scopes: []Scope{WriteProducts}}, nil},
		{"test: none that the partner lacks", Test, &APIKey{Scopes: []Scope{ReadOrders, ReadProducts}}, []Scope{ReadOrders}},
	} {
		if got := DefaultScopes(c.mode, partner, c.acting); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestFormerKeyOf(t *testing.T) {
	const now = 100
	key := func(created Millis, change func(*APIKey)) APIKey {
		k := APIKey{PartnerID: "p", Mode: Live, CreatedOn: created, Hash: KeyHash{byte(created)}}
		change(&k)
		return k
	}
	whole := func(*APIKey) {}
	for _, c := range []struct {
		name string
		keys []APIKey
		want Millis // CreatedOn; 0: none
	}{
		{"none", nil, 0},
		{"the newest", []APIKey{key(1, whole), key(3, whole), key(2, whole)}, 3},
		{"not one of the other mode", []APIKey{key(1, whole), key(2, func(k *APIKey) { k.Mode = Test })}, 1},
		{"not a revoked one", []APIKey{key(1, whole), key(2, func(k *APIKey) { k.RevokedOn = 50 })}, 1},
		{"not one with an end", []APIKey{key(1, func(k *APIKey) { k.ExpiresOn = 200 })}, 0},
		{"not one with fewer rights", []APIKey{key(1, func(k *APIKey) { k.Scopes = []Scope{ReadOrders} }), key(2, func(k *APIKey) { k.StoreIDs = []string{"s"} }),
			key(3, func(k *APIKey) { k.Addresses = []string{"10.0.0.1"} })}, 0},
	} {
		if got, ok := FormerKeyOf(c.keys, Live, now); ok != (c.want != 0) || got.CreatedOn != c.want {
			t.Errorf("%s: %+v %v", c.name, got, ok)
		}
	}
}

func TestResends(t *testing.T) {
	event := NewID(PrefixEvent, 1000, Entropy{9})
	for _, c := range []struct {
		job  string
		want bool
	}{{NewID(PrefixJob, 1000, Entropy{1}), false}, {NewID(PrefixJob, 1001, Entropy{9}), true}} {
		if got := (Job{ID: c.job, Subject: event}).Resends(); got != c.want {
			t.Errorf("%s: %v", c.job, got)
		}
	}
}
