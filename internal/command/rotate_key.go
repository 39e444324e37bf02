package command

import "purveyor/internal/commerce"

// RotateKey replaces the key of a partner in one mode. The old key is deleted.
type RotateKey struct{ Key commerce.APIKey }

// Needs names the partner and its key.
func (c RotateKey) Needs() commerce.Needs {
	return commerce.Needs{
		Lock:     true,
		Partners: []string{c.Key.PartnerID},
		APIKeys:  []commerce.APIKeyRef{{PartnerID: c.Key.PartnerID, Mode: c.Key.Mode}},
	}
}

// Decide replaces the key.
func (c RotateKey) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	p, ok := rows.Partners.Get(c.Key.PartnerID)
	if !ok {
		return p, commerce.Changes{}, commerce.NotFound("partner")
	}
	key := c.Key
	key.CreatedOn = now
	return p, commerce.Changes{APIKeys: []commerce.APIKey{key}}, nil
}
