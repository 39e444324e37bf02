package command

import (
	"errors"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// TestScopesOfNewKeys: a key that is given no scopes never gets more than its maker has, nor
// a test key what changes the catalog. No scopes would mean all of the partner.
func TestScopesOfNewKeys(t *testing.T) {
	all := []commerce.Scope{commerce.AllScopes, commerce.ManageSelf}
	catalog := []commerce.Scope{commerce.WriteProducts, commerce.WriteInventory}
	for _, c := range []struct {
		name    string
		partner []commerce.Scope
		maker   []commerce.Scope // of the key that makes it; nil: an operator makes it
		mode    commerce.Mode
		want    []commerce.Scope
		field   string // that is refused
	}{
		{"live, by an operator", all, nil, commerce.Live, nil, ""},
		{"test, by an operator", append(slices.Clone(catalog), commerce.ReadOrders), nil, commerce.Test, []commerce.Scope{commerce.ReadOrders}, ""},
		{"test, of which nothing is left", catalog, nil, commerce.Test, nil, "scopes"},
		{"live, by a key", all, []commerce.Scope{commerce.ManageSelf, commerce.WriteProducts}, commerce.Live, []commerce.Scope{commerce.ManageSelf, commerce.WriteProducts}, ""},
		{"test, by a key", all, []commerce.Scope{commerce.ManageSelf, commerce.WriteProducts}, commerce.Test, []commerce.Scope{commerce.ManageSelf}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ring := KeyRing{PartnerID: "p", IDs: []string{"key_maker"}}
			by := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
			maker := commerce.APIKey{ID: "key_maker", PartnerID: "p", Mode: commerce.Live, Hash: commerce.HashKey("maker"), Scopes: c.maker}
			if c.maker != nil {
				by = commerce.PartnerActor(&maker, commerce.Live, "")
			}
			cmd := MakeKey{KeyRing: ring, Actor: by, Default: true,
				Key: commerce.APIKey{ID: "key_new", Mode: c.mode, Name: "New", Hash: commerce.HashKey("new")}}
			made, changes, err := decided(cmd, commerce.Changes{Partners: []commerce.Partner{{ID: "p", Scopes: c.partner}}, APIKeys: []commerce.APIKey{maker}}, now)
			if c.field != "" {
				if refused, ok := errors.AsType[*commerce.Error](err); !ok || refused.Field != c.field || len(changes.APIKeys) != 0 {
					t.Errorf("%v, %+v", err, changes)
				}
				return
			}
			if err != nil || !slices.Equal(made.Scopes, c.want) {
				t.Errorf("%v, %v", made.Scopes, err)
			}
		})
	}
}
