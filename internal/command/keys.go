package command

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
)

// KeyRing is what a change of a partner's keys has seen of them. Every change gives the
// partner's keys the next number, so a change that has not seen the one before is refused
// with ErrKeysMoved.
type KeyRing struct {
	PartnerID string
	No        int64    // Partner.KeysNo, read before IDs
	IDs       []string // of all of the partner's keys
}

// ErrKeysMoved means that the keys of the partner have changed meanwhile. The caller reads
// them and tries again.
var ErrKeysMoved = errors.New("the partner's keys have changed meanwhile")

func (r KeyRing) needs(more ...string) commerce.Needs {
	return commerce.Needs{
		Lock:       true,
		Partners:   []string{r.PartnerID},
		APIKeys:    append(slices.Clone(r.IDs), more...),
		FormerKeys: []commerce.FormerKeyRef{{PartnerID: r.PartnerID, Mode: commerce.Live}, {PartnerID: r.PartnerID, Mode: commerce.Test}},
	}
}

// heldKeys are the keys of a partner as a command changes them.
type heldKeys struct {
	rows    *commerce.Rows
	now     commerce.Millis
	partner commerce.Partner
	keys    []commerce.APIKey
	changes commerce.Changes
}

func (r KeyRing) hold(rows *commerce.Rows, now commerce.Millis) (*heldKeys, error) {
	p, ok := rows.Partners.Get(r.PartnerID)
	switch {
	case !ok:
		return nil, commerce.NotFound("partner")
	case p.KeysNo != r.No:
		return nil, ErrKeysMoved
	}
	h := &heldKeys{rows: rows, now: now, partner: p}
	for _, id := range r.IDs {
		if k, _ := rows.APIKeys.Get(id); k.PartnerID == p.ID {
			h.keys = append(h.keys, k)
		}
	}
	return h, nil
}

// acting is the key with which the actor calls, and the partner with the rights that it
// has then. The key is read here, so that one that was revoked meanwhile grants nothing.
func (h *heldKeys) acting(by commerce.Actor) (*commerce.APIKey, commerce.Partner, error) {
	return actingKey(h.rows, h.partner, by, h.now)
}

func actingKey(rows *commerce.Rows, p commerce.Partner, by commerce.Actor, now commerce.Millis) (*commerce.APIKey, commerce.Partner, error) {
	if by.Key == nil {
		return nil, p, nil
	}
	k, _ := rows.APIKeys.Get(by.Key.ID)
	if k.PartnerID != p.ID || k.State(now) != commerce.KeyActive {
		return nil, p, &commerce.Error{Kind: commerce.KindForbidden, Code: "scope_missing", Message: "This key no longer works"}
	}
	return &k, p.Under(&k), nil
}

func (h *heldKeys) find(id string) (commerce.APIKey, error) {
	for _, k := range h.keys {
		if k.ID == id {
			return k, nil
		}
	}
	return commerce.APIKey{}, commerce.NotFound("key")
}

// put changes a key or adds one. It refuses an eleventh active key of a mode.
func (h *heldKeys) put(k commerce.APIKey) error {
	i := slices.IndexFunc(h.keys, func(other commerce.APIKey) bool { return other.ID == k.ID })
	if i < 0 {
		h.keys = append(h.keys, k)
	} else {
		h.keys[i] = k
	}
	active := 0
	for _, other := range h.keys {
		if other.Mode == k.Mode && other.State(h.now) == commerce.KeyActive {
			active++
		}
	}
	if i < 0 && active > commerce.MaxActiveKeys {
		return commerce.Conflict("limit_reached", "A partner has at most %d active keys of a mode; revoke one first", commerce.MaxActiveKeys)
	}
	h.changes.APIKeys = append(h.changes.APIKeys, k)
	return nil
}

// done returns the changes, with the keys for programs that know one of each mode.
func (h *heldKeys) done() commerce.Changes {
	h.partner.KeysNo++
	h.changes.Partners = []commerce.Partner{h.partner}
	for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
		ref := commerce.FormerKeyRef{PartnerID: h.partner.ID, Mode: mode}
		stored, there := h.rows.FormerKeys.Get(ref)
		switch former, ok := commerce.FormerKeyOf(h.keys, mode, h.now); {
		case ok && former != stored:
			h.changes.FormerKeys = append(h.changes.FormerKeys, former)
		case !ok && there:
			h.changes.GoneFormerKeys = append(h.changes.GoneFormerKeys, ref)
		}
	}
	return h.changes
}

// mayHold refuses a key that is wider than what its maker has.
func (h *heldKeys) mayHold(by commerce.Actor, k commerce.APIKey) error {
	acting, granted, err := h.acting(by)
	if err != nil {
		return err
	}
	if err := granted.MayGrant(acting, k.Mode, h.rightsOf(k), k.StoreIDs); err != nil {
		return err
	}
	if acting == nil {
		return nil
	}
	if acting.ExpiresOn != 0 && (k.ExpiresOn == 0 || k.ExpiresOn > acting.ExpiresOn) {
		return commerce.Invalid("expires_on", "expires_on must not be later than the end of the key that makes it, %d", acting.ExpiresOn)
	}
	if !commerce.AddressesWithin(k.Addresses, acting.Addresses) {
		return commerce.Invalid("allowed_addresses", "allowed_addresses must be addresses of the key that makes it")
	}
	return nil
}

// rightsOf are the scopes of a key as it works now.
func (h *heldKeys) rightsOf(k commerce.APIKey) []commerce.Scope {
	if len(k.Scopes) > 0 {
		return k.Scopes
	}
	return h.partner.Scopes
}
