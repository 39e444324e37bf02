package command

import (
	"time"

	"purveyor/internal/commerce"
)

// RotateSecret replaces the secret of an endpoint. During the overlap webhook-signature
// carries signatures of both secrets, and x-partner-signature is made with the old one.
type RotateSecret struct {
	Owner   string
	Actor   commerce.Actor
	Secret  string
	Overlap time.Duration   // 0: the old secret may have leaked and signs nothing from now on
	Seen    commerce.Millis // UpdatedOn of the partner as the person saw it; 0: any
}

// Needs names the partner and the endpoint.
func (c RotateSecret) Needs() commerce.Needs { return grantNeeds(c.Owner, c.Actor) }

// Decide replaces the secret. An endpoint that has the new secret already keeps it, and its
// rotation. A partner that was changed since the person saw it is refused (409).
func (c RotateSecret) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil {
		return e, commerce.Changes{}, err
	}
	if c.Secret == "" {
		return e, commerce.Changes{}, commerce.Invalid("secret", "the new secret is empty")
	}
	p, _ := partnerOf(rows, c.Owner)
	stored := e.Of(p).Secret
	switch {
	case stored == c.Secret && c.Overlap > 0:
		return e, commerce.Changes{}, nil
	case stored != c.Secret && changedSince(c.Seen, p.UpdatedOn):
		return e, commerce.Changes{}, changedMeanwhile("partner")
	}
	if c.Overlap == 0 {
		e = e.EndRotation()
	} else {
		e = e.RotateSecret(stored, c.Overlap, now)
	}
	e.UpdatedOn = now
	if e.ID != "" {
		e.Secret = c.Secret
		return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
	}
	p.CallbackSecret, p.UpdatedOn = c.Secret, now
	return e, commerce.Changes{Partners: []commerce.Partner{p}, Endpoints: []commerce.Endpoint{e}}, nil
}
