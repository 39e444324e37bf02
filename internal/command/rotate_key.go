package command

import (
	"time"

	"purveyor/internal/commerce"
)

// RotateKey replaces a key of a partner. The new key has the name, the rights and the end
// of the old one.
type RotateKey struct {
	KeyRing
	Actor   commerce.Actor
	KeyID   string          // of the old key
	New     commerce.APIKey // id, hash and last characters, drawn by the caller
	Overlap time.Duration   // how long the old key goes on working; 0: it is revoked
}

// RotatedKey is the outcome: the new key, and the old one as it is now.
type RotatedKey struct{ Key, Previous commerce.APIKey }

// Needs names the partner and its keys.
func (c RotateKey) Needs() commerce.Needs { return c.KeyRing.needs(c.New.ID) }

// Decide replaces the key. A partner that has the new key already keeps it. A key that no
// longer works, or was replaced already, is refused (409), so a person that acts on an old
// page ends nothing.
func (c RotateKey) Decide(rows *commerce.Rows, now commerce.Millis) (done RotatedKey, _ commerce.Changes, err error) {
	h, err := c.hold(rows, now)
	if err != nil {
		return done, commerce.Changes{}, err
	}
	old, err := h.find(c.KeyID)
	if err != nil {
		return done, commerce.Changes{}, err
	}
	for _, k := range h.keys {
		if k.Hash == c.New.Hash {
			return RotatedKey{k, old}, commerce.Changes{}, nil
		}
		if k.Replaces == old.ID {
			return done, commerce.Changes{}, commerce.Conflict("wrong_status", "The key has been replaced already, by %s", k.ID)
		}
	}
	if old.State(now) != commerce.KeyActive {
		return done, commerce.Changes{}, commerce.Conflict("wrong_status", "The key is %s and cannot be replaced; make another one", old.State(now))
	}
	made := old
	made.ID, made.Hash, made.Last4, made.Replaces, made.CreatedOn, made.UsedOn = c.New.ID, c.New.Hash, c.New.Last4, old.ID, now, 0
	if c.Actor.Key != nil { // the rights of the new key are not new
		if err := h.mayHold(c.Actor, made); err != nil {
			return done, commerce.Changes{}, err
		}
	}
	if until := now.Add(c.Overlap); c.Overlap == 0 {
		old.RevokedOn = now
	} else if old.ExpiresOn == 0 || old.ExpiresOn > until {
		old.ExpiresOn = until
	}
	if err := h.put(old); err != nil {
		return done, commerce.Changes{}, err
	}
	if err := h.put(made); err != nil {
		return done, commerce.Changes{}, err
	}
	return RotatedKey{made, old}, h.done(), nil
}
