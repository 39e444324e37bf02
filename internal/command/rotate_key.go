package command

import "purveyor/internal/commerce"

// RotateKey replaces the key of a partner in one mode. The old key is deleted.
type RotateKey struct {
	Key  commerce.APIKey
	Seen commerce.Millis // CreatedOn of the old key as the person saw it; 0: any
}

// Needs names the partner and its key.
func (c RotateKey) Needs() commerce.Needs {
	return commerce.Needs{
		Lock:     true,
		Partners: []string{c.Key.PartnerID},
		APIKeys:  []commerce.APIKeyRef{{PartnerID: c.Key.PartnerID, Mode: c.Key.Mode}},
	}
}

// Decide replaces the key. A partner that has the new key already keeps it. A key that was
// replaced since the person saw it is refused (409).
func (c RotateKey) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	p, ok := rows.Partners.Get(c.Key.PartnerID)
	if !ok {
		return p, commerce.Changes{}, commerce.NotFound("partner")
	}
	stored, _ := rows.APIKeys.Get(commerce.APIKeyRef{PartnerID: c.Key.PartnerID, Mode: c.Key.Mode})
	switch {
	case stored.Hash == c.Key.Hash:
		return p, commerce.Changes{}, nil
	case changedSince(c.Seen, stored.CreatedOn):
		return p, commerce.Changes{}, changedMeanwhile("key")
	}
	key := c.Key
	key.CreatedOn = now
	return p, commerce.Changes{APIKeys: []commerce.APIKey{key}}, nil
}
