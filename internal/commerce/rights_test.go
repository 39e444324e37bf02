package commerce

import (
	"errors"
	"slices"
	"testing"
)

func codeOf(err error) string {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.Code
	}
	return ""
}

func TestActors(t *testing.T) {
	key := &APIKey{ID: "key_1", PartnerID: "prt_1", Mode: Live}
	a := PartnerActor(key, Test, "trace")
	if a.Name() != "partner:prt_1/key_1" || a.PartnerID() != "prt_1" || a.Mode != Test || a.TraceID != "trace" || a.Key != key {
		t.Errorf("%+v", a)
	}
	if s := SystemActor("trace"); s.Name() != "system" || s.TraceID != "trace" || s.PartnerID() != "" {
		t.Errorf("%+v", s)
	}
}

// TestMayUse: the refusal of a store is part of the contract (SPEC, Authentication 3).
func TestMayUse(t *testing.T) {
	some := Partner{StoreIDs: []string{"s1", "s2"}}
	for _, id := range []string{"s1", "s2"} {
		if err := some.MayUse(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := (Partner{}).MayUse("s3"); err != nil {
		t.Error(err)
	}
	refusal, ok := errors.AsType[*Error](some.MayUse("s3"))
	if !ok || refusal.Kind != KindForbidden || refusal.Code != "store_not_allowed" || refusal.Message != "Access denied to this store" {
		t.Errorf("%+v", refusal)
	}
}

// TestMayGrant: what a key may give to another key or an endpoint.
func TestMayGrant(t *testing.T) {
	all, some := Partner{Scopes: []Scope{AllScopes}}, Partner{Scopes: []Scope{ReadOrders, ManageSelf}, StoreIDs: []string{"s1", "s2"}}
	live, test, narrow := &APIKey{Mode: Live}, &APIKey{Mode: Test}, &APIKey{Mode: Live, StoreIDs: []string{"s1"}}
	for _, c := range []struct {
		name   string
		of     Partner
		acting *APIKey
		mode   Mode
		scopes []Scope
		stores []string
		want   string
	}{
		{"the merchant gives anything", all, nil, Live, []Scope{AllScopes}, []string{"s9"}, ""},
		{"a live key makes both", all, live, Test, nil, nil, ""},
		{"a test key makes a test key", all, test, Test, nil, nil, ""},
		{"a test key makes no live key", all, test, Live, nil, nil, "mode_not_allowed"},
		{"all scopes have each", all, live, Live, []Scope{ReadStores, WriteOrders}, nil, ""},
		{"all scopes do not have manage_self", all, live, Live, []Scope{ManageSelf}, nil, "scope_missing"},
		{"some scopes", some, live, Live, []Scope{ReadOrders, ManageSelf}, []string{"s1"}, ""},
		{"a scope that is missing", some, live, Live, []Scope{ReadOrders, WriteOrders}, nil, "scope_missing"},
		{"not all scopes without having them", some, live, Live, []Scope{AllScopes}, nil, "scope_missing"},
		{"each scope is not all scopes", Partner{Scopes: Scopes[1:]}, live, Live, []Scope{AllScopes}, nil, "scope_missing"},
		{"another store", some, live, Live, nil, []string{"s1", "s3"}, "store_not_allowed"},
		{"no stores stand for those of the partner", some, live, Live, nil, nil, ""},
		{"but a key with fewer names its stores", some, narrow, Live, nil, nil, "store_not_allowed"},
		{"a key with fewer gives what it has", some.Under(narrow), narrow, Live, nil, []string{"s1"}, ""},
		{"and no more", some.Under(narrow), narrow, Live, nil, []string{"s2"}, "store_not_allowed"},
		{"a partner with all stores under a key with none of its own", all, live, Live, nil, []string{"s3"}, ""},
		{"a key with stores of a partner with all", all.Under(narrow), narrow, Live, nil, nil, "store_not_allowed"},
		{"the merchant needs no list", some, nil, Live, nil, nil, ""},
		{"a partner with one store, by a key with none of its own", Partner{Scopes: []Scope{AllScopes}, StoreIDs: []string{"s1"}}, live, Live, nil, nil, ""},
		{"a partner with one store, by a key with it", Partner{Scopes: []Scope{AllScopes}, StoreIDs: []string{"s1"}}, narrow, Live, nil, nil, "store_not_allowed"},
		{"one store for one store", Partner{Scopes: []Scope{AllScopes}, StoreIDs: []string{"s1"}}, narrow, Live, nil, []string{"s1"}, ""},
		{"a key of no partner's stores", Partner{Scopes: []Scope{AllScopes}}, narrow, Live, nil, nil, ""},
	} {
		err := c.of.MayGrant(c.acting, c.mode, c.scopes, c.stores)
		if got := codeOf(err); got != c.want || err == nil != (c.want == "") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if refusal, ok := errors.AsType[*Error](err); ok && (refusal.Kind != KindForbidden || refusal.Message == "") {
			t.Errorf("%s: %+v is no refusal of a right", c.name, refusal)
		}
	}
}

func TestScopesUnderAKey(t *testing.T) {
	all := Partner{Scopes: []Scope{AllScopes, ManageSelf}}
	under := all.Under(&APIKey{Scopes: []Scope{AllScopes}})
	if slices.Contains(under.Scopes, AllScopes) || under.Has(ManageSelf) || !under.Has(WriteOrders) {
		t.Errorf("* of a key is more than it was given: %v", under.Scopes)
	}
	made := DefaultScopes(Test, all, nil)
	for _, s := range Scopes {
		changesCatalog := s == WriteProducts || s == WriteInventory
		if got := slices.Contains(made, s); got != (s != AllScopes && !changesCatalog) {
			t.Errorf("a test key that is given no scopes has %s: %v", s, got)
		}
	}
	if made := DefaultScopes(Live, all, &APIKey{Scopes: []Scope{ReadOrders}}); !slices.Equal(made, []Scope{ReadOrders}) {
		t.Errorf("a live key has %v of its maker", made)
	}
}

func TestAddressesOfKeys(t *testing.T) {
	for _, c := range []struct {
		list    []string
		address string
		want    bool
	}{
		{nil, "192.0.2.1", true}, {nil, "", true}, {[]string{"192.0.2.1"}, "192.0.2.1", true}, {[]string{"192.0.2.1"}, "192.0.2.2", false},
		{[]string{"10.0.0.0/8", "192.0.2.0/24"}, "192.0.2.77", true}, {[]string{"192.0.2.9/24"}, "192.0.2.77", true},
		{[]string{"192.0.2.0/24"}, "::ffff:192.0.2.77", true}, {[]string{"::ffff:192.0.2.77"}, "192.0.2.77", true},
		{[]string{"2001:db8::/32"}, "2001:db8::1", true}, {[]string{"0.0.0.0/0"}, "", false}, {[]string{"0.0.0.0/0"}, "x", false}, {[]string{"::/0"}, "192.0.2.1", false},
	} {
		if got := (APIKey{Addresses: c.list}).Admits(c.address); got != c.want {
			t.Errorf("%q from %v: %v", c.address, c.list, got)
		}
	}
	for text, want := range map[string]string{"192.0.2.1": "", "::1": "", "192.0.2.0/24": "", "": "invalid_body", "x": "invalid_body", "192.0.2.0/33": "invalid_body", "192.0.2.300": "invalid_body"} {
		if err := CheckAddresses([]string{"192.0.2.1", text}); codeOf(err) != want {
			t.Errorf("%q: %v", text, err)
		} else if refusal, ok := errors.AsType[*Error](err); ok && refusal.Field != "allowed_addresses[1]" {
			t.Errorf("%q: %+v", text, refusal)
		}
	}
	for _, c := range []struct {
		inner, outer []string
		want         bool
	}{
		{nil, nil, true}, {[]string{"192.0.2.1"}, nil, true}, {nil, []string{"192.0.2.1"}, false},
		{[]string{"192.0.2.1"}, []string{"192.0.2.1"}, true}, {[]string{"192.0.2.1"}, []string{"10.0.0.0/8", "192.0.2.0/24"}, true},
		{[]string{"192.0.2.0/24"}, []string{"192.0.2.0/24"}, true}, {[]string{"192.0.2.0/23"}, []string{"192.0.2.0/24"}, false},
		{[]string{"192.0.2.1", "10.0.0.1"}, []string{"192.0.2.0/24"}, false}, {[]string{"x"}, []string{"0.0.0.0/0"}, false}, {[]string{"192.0.2.1"}, []string{"x"}, false},
	} {
		if got := AddressesWithin(c.inner, c.outer); got != c.want {
			t.Errorf("%v within %v: %v", c.inner, c.outer, got)
		}
	}
}

// TestFormerKey: of whole keys the newest is written for programs of before.
func TestFormerKey(t *testing.T) {
	a, b := APIKey{PartnerID: "p", Mode: Live, Hash: HashKey("a"), CreatedOn: 5}, APIKey{PartnerID: "p", Mode: Live, Hash: HashKey("b"), CreatedOn: 5}
	if got, ok := FormerKeyOf([]APIKey{a, b}, Live, 9); !ok || got != (FormerKey{"p", Live, b.Hash, 5}) {
		t.Errorf("%+v, %v", got, ok)
	}
}

// TestRoles: each role has all that those before it may do, and a grant for one store gives
// nothing elsewhere, and nothing that is about no single store.
func TestRoles(t *testing.T) {
	for _, row := range Permissions {
		for i, r := range Roles {
			may := i >= slices.Index(Roles, row.Least)
			if r.Has(row.Permission) != may || row.Permission.Least() != row.Least {
				t.Errorf("%s has %s: %v, want %v", r, row.Permission, !may, may)
			}
			for _, c := range []struct {
				user  User
				store string
				want  bool
			}{
				{User{Grants: []Grant{{r, "s1"}}}, "s1", may && !row.Everywhere},
				{User{Grants: []Grant{{r, "s1"}}}, "s2", false},
				{User{Grants: []Grant{{r, "s1"}}}, AllStores, false},
				{User{Grants: []Grant{{r, AllStores}}}, "s1", may},
				{User{Grants: []Grant{{r, AllStores}}}, AllStores, may},
				{User{Grants: []Grant{{r, AllStores}}, Suspended: true}, "s1", false},
			} {
				if got := c.user.May(row.Permission, c.store); got != c.want {
					t.Errorf("%+v may %s in %s: %v", c.user.Grants, row.Permission, c.store, got)
				}
			}
		}
	}
	if Owner.Has("fly") || Permission("fly").Least() != "" || (User{Grants: []Grant{{Owner, "s1"}}}).May("fly", "s1") || Role("guest").Has(MayReadOrders) {
		t.Error("an unknown role or permission has rights")
	}
}

func TestSignInLink(t *testing.T) {
	link := SignInLink{Hash: HashKey("token"), ExpiresOn: 10}
	if !link.Opens(HashKey("token"), 9) || link.Opens(HashKey("token"), 10) || link.Opens(HashKey("other"), 9) {
		t.Errorf("%+v", link)
	}
	if used := (SignInLink{ExpiresOn: 10}); used.Opens(KeyHash{}, 9) {
		t.Error("a link that was used opens")
	}
}

// TestRefusals: each kind, code and text of a refusal reaches the caller.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ got, want Error }{
		{*Invalid("a[1]", "%s is %d", "it", 7), Error{Kind: KindInvalid, Code: "invalid_body", Field: "a[1]", Message: "it is 7"}},
		{*NotFound("order"), Error{Kind: KindNotFound, Code: "not_found", Message: "order not found"}},
		{*Conflict("wrong_status", "it is %s", Paid), Error{Kind: KindConflict, Code: "wrong_status", Message: "it is paid"}},
		{*invalidAmount("lines", "too much"), Error{Kind: KindInvalid, Code: "invalid_amount", Field: "lines", Message: "too much"}},
	} {
		if c.got != c.want {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
}
