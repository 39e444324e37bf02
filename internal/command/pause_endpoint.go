package command

import "purveyor/internal/commerce"

// PauseEndpoint stops the webhooks of a partner at the request of an operator.
type PauseEndpoint struct{ PartnerID string }

// Needs names the partner and its endpoint.
func (c PauseEndpoint) Needs() commerce.Needs { return endpointNeeds(c.PartnerID) }

// Decide pauses the endpoint. If the endpoint is held because it fails, only an operator
// resumes it from now on.
func (c PauseEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.PartnerID)
	if err != nil || e.PausedFor == commerce.PausedOperator {
		return e, commerce.Changes{}, err
	}
	e = e.Pause(commerce.PausedOperator, now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}
