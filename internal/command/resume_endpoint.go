package command

import "purveyor/internal/commerce"

// ResumeEndpoint makes a paused or held endpoint due for an attempt at once.
type ResumeEndpoint struct{ PartnerID string }

// Needs names the partner and its endpoint.
func (c ResumeEndpoint) Needs() commerce.Needs { return endpointNeeds(c.PartnerID) }

// Decide resumes the endpoint.
func (c ResumeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil || !e.Holds() {
		return e, commerce.Changes{}, err
	}
	e = e.Resume(now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}
