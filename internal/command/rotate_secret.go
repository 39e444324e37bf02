package command

import "purveyor/internal/commerce"

// RotateSecret replaces the callback secret of a partner. For a day webhook-signature
// carries signatures of both secrets, and x-partner-signature is made with the old one.
type RotateSecret struct {
	PartnerID string
	Secret    string
	Now       bool // the old secret may have leaked and signs nothing from now on
}

// Needs names the partner and its endpoint.
func (c RotateSecret) Needs() commerce.Needs {
	n := endpointNeeds(c.PartnerID)
	n.Lock = true
	return n
}

// Decide replaces the secret.
func (c RotateSecret) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil {
		return e, commerce.Changes{}, err
	}
	if c.Secret == "" {
		return e, commerce.Changes{}, commerce.Invalid("secret", "the new secret is empty")
	}
	p, _ := rows.Partners.Get(c.PartnerID)
	if c.Now {
		e = e.EndRotation()
	} else {
		e = e.RotateSecret(p.CallbackSecret, now)
	}
	p.CallbackSecret, p.UpdatedOn = c.Secret, now
	return e, commerce.Changes{Partners: []commerce.Partner{p}, Endpoints: []commerce.Endpoint{e}}, nil
}
