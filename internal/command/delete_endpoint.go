package command

import "purveyor/internal/commerce"

// DeleteEndpoint takes an endpoint away from a partner.
type DeleteEndpoint struct {
	Owner string
	Actor commerce.Actor
}

// Needs names the endpoint and its partner.
func (c DeleteEndpoint) Needs() commerce.Needs { return grantNeeds(c.Owner, c.Actor) }

// Decide deletes the endpoint. What waits for it is released, finds no endpoint, and ends.
func (c DeleteEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	e, err := knownEndpoint(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil {
		return e, commerce.Changes{}, err
	}
	p, _ := partnerOf(rows, c.Owner)
	if _, known := p.RouteOf(e.ID); !known {
		return e, commerce.Changes{}, commerce.NotFound("endpoint")
	}
	p = p.WithoutRoute(e.ID)
	if e.ID == "" {
		p.CallbackURL, p.CallbackSecret = "", ""
	}
	p.UpdatedOn = now
	return e, commerce.Changes{Partners: []commerce.Partner{p}, GoneEndpoints: []string{c.Owner}, NewJobs: []commerce.Job{releaseParked(c.Owner, now)}}, nil
}
