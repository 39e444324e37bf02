package command

import (
	"errors"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// TestKeysHaveAPartner: no key is stored without its partner. No constraint of the
// database stands behind that.
func TestKeysHaveAPartner(t *testing.T) {
	create := CreatePartner{
		Partner: commerce.Partner{ID: "p", Name: "P", RateLimit: 1},
		Keys:    []commerce.APIKey{{ID: "key_a", PartnerID: "another", Mode: commerce.Live, Hash: commerce.HashKey("a")}, {ID: "key_b", Mode: commerce.Test, Hash: commerce.HashKey("b")}},
	}
	rows := fill(create.Needs(), commerce.Changes{})
	_, made, err := create.Decide(rows, now)
	if err != nil || len(made.Partners) != 1 || len(made.APIKeys) != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	schema.Apply(rows, &made) // panics if a key was not in the needs
	for _, k := range made.APIKeys {
		if k.PartnerID != "p" || k.CreatedOn != now {
			t.Errorf("%+v is not a key of the partner", k)
		}
	}

	rotate := RotateKey{KeyRing: KeyRing{PartnerID: "p", IDs: []string{"key_a", "key_b"}}, KeyID: "key_a", New: commerce.APIKey{ID: "key_c", Hash: commerce.HashKey("c")}}
	_, made, err = decided(rotate, made, now)
	if err != nil || len(made.APIKeys) != 2 || made.APIKeys[1].Hash != commerce.HashKey("c") || made.APIKeys[1].PartnerID != "p" || made.APIKeys[1].Mode != commerce.Live || made.APIKeys[0].RevokedOn != now {
		t.Errorf("%+v, %v", made, err)
	}
	var refusal *commerce.Error
	_, made, err = decided(rotate, commerce.Changes{}, now)
	if !errors.As(err, &refusal) || refusal.Kind != commerce.KindNotFound || len(made.APIKeys) != 0 {
		t.Errorf("of an unknown partner: %+v, %v", made, err)
	}
}
