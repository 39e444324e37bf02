package command

import "purveyor/internal/commerce"

// ResumeEndpoint makes a paused or held endpoint due for an attempt at once.
type ResumeEndpoint struct {
	Owner string
	Actor commerce.Actor
}

// Needs names the partner and its endpoint.
func (c ResumeEndpoint) Needs() commerce.Needs { return actNeeds(c.Owner, c.Actor) }

// Decide resumes the endpoint.
func (c ResumeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil || !e.Holds() {
		return e, commerce.Changes{}, err
	}
	if e.PausedFor == commerce.PausedOperator && c.Actor.Kind != commerce.ActorOperator && c.Actor.Kind != commerce.ActorStaff && c.Actor.Kind != "" {
		return e, commerce.Changes{}, commerce.Conflict("endpoint_paused", "The merchant has paused this endpoint, and resumes it")
	}
	e = e.Resume(now)
	return e, commerce.Changes{Endpoints: []commerce.Endpoint{e}}, nil
}
