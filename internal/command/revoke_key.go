package command

import "purveyor/internal/commerce"

// RevokeKey ends a key of a partner.
type RevokeKey struct {
	KeyRing
	Actor commerce.Actor
	KeyID string
}

// Needs names the partner and its keys.
func (c RevokeKey) Needs() commerce.Needs { return c.KeyRing.needs() }

// Decide ends the key. One that has ended stays as it is. A key does not revoke itself
// (409 own_key), nor one with more rights than it has (403).
func (c RevokeKey) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.APIKey, commerce.Changes, error) {
	h, err := c.hold(rows, now)
	if err != nil {
		return commerce.APIKey{}, commerce.Changes{}, err
	}
	k, err := h.find(c.KeyID)
	if err != nil {
		return k, commerce.Changes{}, err
	}
	if c.Actor.Key != nil && c.Actor.Key.ID == k.ID {
		return k, commerce.Changes{}, commerce.Conflict("own_key", "A key cannot revoke itself; use another one")
	}
	acting, granted, err := h.acting(c.Actor)
	if err == nil {
		err = granted.MayGrant(acting, k.Mode, h.rightsOf(k), k.StoreIDs)
	}
	if err != nil || k.State(now) != commerce.KeyActive {
		return k, commerce.Changes{}, err
	}
	k.RevokedOn = now
	if err := h.put(k); err != nil {
		return k, commerce.Changes{}, err
	}
	return k, h.done(), nil
}
