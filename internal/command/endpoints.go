package command

import "purveyor/internal/commerce"

// PauseEndpoint stops what goes to a partner, as an operator asks.
type PauseEndpoint struct{ PartnerID string }

// Needs names the partner and its endpoint.
func (c PauseEndpoint) Needs() commerce.Needs { return endpointNeeds(c.PartnerID) }

// Decide pauses. An endpoint that paused itself is from now on the operator's
// to resume.
func (c PauseEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil || e.PausedFor == commerce.PausedOperator {
		return e, commerce.Changes{}, err
	}
	e = e.Pause(commerce.PausedOperator, now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}

// ResumeEndpoint has an endpoint that is paused or held tried at once.
type ResumeEndpoint struct{ PartnerID string }

// Needs names the partner and its endpoint.
func (c ResumeEndpoint) Needs() commerce.Needs { return endpointNeeds(c.PartnerID) }

// Decide resumes.
func (c ResumeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil || !e.Holds() {
		return e, commerce.Changes{}, err
	}
	e = e.Resume(now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}

// RotateSecret replaces a partner's callback secret. For a day both sign
// webhook-signature, and x-partner-signature is made with the old one.
type RotateSecret struct {
	PartnerID string
	Secret    string
	Now       bool // the old secret, which may have leaked, signs nothing any more
}

// Needs names the partner and its endpoint.
func (c RotateSecret) Needs() commerce.Needs {
	n := endpointNeeds(c.PartnerID)
	n.Lock = true
	return n
}

// Decide rotates.
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

func endpointNeeds(partnerID string) commerce.Needs {
	return commerce.Needs{Partners: []string{partnerID}, Endpoints: []string{partnerID}}
}

func knownEndpoint(rows *commerce.Rows, partnerID string) (commerce.Endpoint, error) {
	if _, ok := rows.Partners.Get(partnerID); !ok {
		return commerce.Endpoint{}, commerce.NotFound("partner")
	}
	return endpointOf(rows, partnerID), nil
}
