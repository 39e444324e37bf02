package command

import "purveyor/internal/commerce"

// ChangeEndpoint changes an endpoint of a partner. Fields that are nil stay as they are.
type ChangeEndpoint struct {
	Owner    string
	Actor    commerce.Actor
	URL      *string
	Events   *[]string
	Mode     *commerce.Mode // empty: both
	StoreIDs *[]string
	Text     *string // the description
}

// Needs names the endpoint, its partner and its stores.
func (c ChangeEndpoint) Needs() commerce.Needs {
	n := grantNeeds(c.Owner, c.Actor)
	set(&n.Stores, c.StoreIDs)
	return n
}

// Decide changes the endpoint. Another URL is a fresh start. It refuses what MakeEndpoint
// refuses, and also an endpoint that has more rights than the actor.
func (c ChangeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	before, err := knownEndpoint(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil {
		return before, commerce.Changes{}, err
	}
	p, _ := partnerOf(rows, c.Owner)
	route, known := p.RouteOf(before.ID)
	if !known {
		return before, commerce.Changes{}, commerce.NotFound("endpoint")
	}
	stores := route.StoreIDs
	set(&route.Events, c.Events)
	set(&route.Mode, c.Mode)
	if route.StoreIDs = nil; c.StoreIDs != nil {
		route.StoreIDs = *c.StoreIDs
	}
	if route, err = checkRoute(rows, p, c.Actor, route, now); err != nil {
		return before, commerce.Changes{}, err
	}
	if c.StoreIDs == nil {
		route.StoreIDs = stores // which were checked when they were given
	}
	e := before
	if c.URL != nil && *c.URL != before.Of(p).URL {
		e = e.Moved(now)
		if e.ID == "" {
			p.CallbackURL = *c.URL
		} else {
			e.URL = *c.URL
		}
	}
	set(&e.Description, c.Text)
	e.UpdatedOn, p.UpdatedOn = now, now
	return e, commerce.Changes{Partners: []commerce.Partner{p.WithRoute(route)}, Endpoints: []commerce.Endpoint{e}}, nil
}
