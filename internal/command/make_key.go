package command

import (
	"slices"
	"unicode/utf8"

	"purveyor/internal/commerce"
)

// MakeKey gives a partner another key.
type MakeKey struct {
	KeyRing
	Actor commerce.Actor
	Key   commerce.APIKey // id and hash drawn by the caller
	// Default asks for the scopes that the maker has, less those that change the catalog
	// for a test key.
	Default bool
}

// Needs names the partner, its keys, and the stores of the new key.
func (c MakeKey) Needs() commerce.Needs {
	n := c.KeyRing.needs(c.Key.ID)
	n.Stores = c.Key.StoreIDs
	return n
}

// Decide refuses a key with more rights than its maker has (403), and an eleventh active
// key of a mode (409). A partner that has the key already keeps it.
func (c MakeKey) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.APIKey, commerce.Changes, error) {
	h, err := c.hold(rows, now)
	if err != nil {
		return commerce.APIKey{}, commerce.Changes{}, err
	}
	for _, k := range h.keys {
		if k.Hash == c.Key.Hash {
			return k, commerce.Changes{}, nil
		}
	}
	k := c.Key
	k.PartnerID, k.CreatedOn = c.PartnerID, now
	if c.Default {
		acting, _, err := h.acting(c.Actor)
		if err != nil {
			return k, commerce.Changes{}, err
		}
		k.Scopes = commerce.DefaultScopes(k.Mode, h.partner, acting)
		if k.Mode == commerce.Test && len(k.Scopes) == 0 { // none would mean all of the partner's
			return k, commerce.Changes{}, commerce.Invalid("scopes", "A test key gets no scope by default here, since all that are left change the catalog; name its scopes")
		}
	}
	k.Scopes, k.StoreIDs, k.Addresses = eachOnce(k.Scopes), eachOnce(k.StoreIDs), eachOnce(k.Addresses)
	if err := c.check(h, k); err != nil {
		return k, commerce.Changes{}, err
	}
	if err := h.mayHold(c.Actor, k); err != nil {
		return k, commerce.Changes{}, err
	}
	if err := h.put(k); err != nil {
		return k, commerce.Changes{}, err
	}
	return k, h.done(), nil
}

// check refuses what no key of the partner can be (400).
func (c MakeKey) check(h *heldKeys, k commerce.APIKey) error {
	if n := utf8.RuneCountInString(k.Name); n < 1 || n > commerce.MaxKeyName {
		return commerce.Invalid("name", "name must have 1 to %d characters", commerce.MaxKeyName)
	}
	for i, s := range k.Scopes {
		if !slices.Contains(commerce.Scopes, s) {
			field := commerce.Index("scopes", i, "")
			return commerce.Invalid(field, "%s must be one of %v", field, commerce.Scopes)
		}
		if c.Actor.Key == nil && !h.partner.Has(s) {
			return commerce.Invalid("scope", "scope %s is none that the partner has", s)
		}
	}
	if k.ExpiresOn != 0 && (k.ExpiresOn <= h.now || k.ExpiresOn > h.now.Add(commerce.MaxKeyLife)) {
		return commerce.Invalid("expires_on", "expires_on must be in the future, and at most two years ahead")
	}
	for i, id := range k.StoreIDs {
		if _, ok := h.rows.Stores.Get(id); !ok {
			return commerce.Invalid(commerce.Index("store_ids", i, ""), "store %s is not known", id)
		}
	}
	if len(k.Addresses) > commerce.MaxAddresses {
		return commerce.Invalid("allowed_addresses", "allowed_addresses must be at most %d", commerce.MaxAddresses)
	}
	return commerce.CheckAddresses(k.Addresses)
}
