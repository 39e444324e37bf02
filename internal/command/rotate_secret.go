package command

import "purveyor/internal/commerce"

// RotateSecret replaces the callback secret of a partner. For a day webhook-signature
// carries signatures of both secrets, and x-partner-signature is made with the old one.
type RotateSecret struct {
	PartnerID string
	Secret    string
	Now       bool            // the old secret may have leaked and signs nothing from now on
	Seen      commerce.Millis // UpdatedOn of the partner as the person saw it; 0: any
}

// Needs names the partner and its endpoint.
func (c RotateSecret) Needs() commerce.Needs {
	n := endpointNeeds(c.PartnerID)
	n.Lock = true
	return n
}

// Decide replaces the secret. A partner that has the new secret already keeps it, and its
// rotation. A partner that was changed since the person saw it is refused (409).
func (c RotateSecret) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil {
		return e, commerce.Changes{}, err
	}
	if c.Secret == "" {
		return e, commerce.Changes{}, commerce.Invalid("secret", "the new secret is empty")
	}
	p, _ := rows.Partners.Get(c.PartnerID)
	switch {
	case p.CallbackSecret == c.Secret && !c.Now:
		return e, commerce.Changes{}, nil
	case p.CallbackSecret != c.Secret && changedSince(c.Seen, p.UpdatedOn):
		return e, commerce.Changes{}, changedMeanwhile("partner")
	}
	if c.Now {
		e = e.EndRotation()
	} else {
		e = e.RotateSecret(p.CallbackSecret, now)
	}
	p.CallbackSecret, p.UpdatedOn = c.Secret, now
	return e, commerce.Changes{Partners: []commerce.Partner{p}, Endpoints: []commerce.Endpoint{e}}, nil
}
