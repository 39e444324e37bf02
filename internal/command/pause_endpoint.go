package command

import "purveyor/internal/commerce"

// PauseEndpoint stops the webhooks to an endpoint at the request of an operator or of its
// partner.
type PauseEndpoint struct {
	Owner string
	Actor commerce.Actor
	By    commerce.PauseReason // PausedOperator or PausedPartner
}

// Needs names the partner and its endpoint.
func (c PauseEndpoint) Needs() commerce.Needs { return actNeeds(c.Owner, c.Actor) }

// Decide pauses the endpoint. If the endpoint is held because it fails, only a person
// resumes it from now on. A partner's pause leaves that of an operator.
func (c PauseEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil || e.PausedFor == commerce.PausedOperator || e.PausedFor == c.By {
		return e, commerce.Changes{}, err
	}
	e = e.Pause(c.By, now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}
