package command

import (
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// MakeEndpoint gives a partner another endpoint.
type MakeEndpoint struct {
	PartnerID string
	Actor     commerce.Actor
	Route     commerce.Route // with an id that the caller drew
	URL       string
	Secret    string
	Text      string // the description
}

// Needs names the partner, the new endpoint and its stores.
func (c MakeEndpoint) Needs() commerce.Needs {
	n := grantNeeds(commerce.EndpointOwner(c.PartnerID, c.Route.ID), c.Actor)
	n.Stores = c.Route.StoreIDs
	return n
}

// Access implements commit.Keyed. The portal alone gives a key, and checks the rights of the member.
func (c MakeEndpoint) Access(*commerce.Rows) error { return nil }

// Decide refuses an endpoint that gets more than its maker may read (403), and a
// seventeenth (409).
func (c MakeEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Endpoint, commerce.Changes, error) {
	owner := commerce.EndpointOwner(c.PartnerID, c.Route.ID)
	p, ok := rows.Partners.Get(c.PartnerID)
	if !ok {
		return commerce.Endpoint{}, commerce.Changes{}, commerce.NotFound("partner")
	}
	route, err := checkRoute(rows, p, c.Actor, c.Route, now)
	if err != nil {
		return commerce.Endpoint{}, commerce.Changes{}, err
	}
	if len(p.Owners()) >= commerce.MaxEndpoints {
		return commerce.Endpoint{}, commerce.Changes{}, commerce.Conflict("limit_reached", "A partner has at most %d endpoints; delete one first", commerce.MaxEndpoints)
	}
	e := endpointOf(rows, owner)
	e.URL, e.Secret, e.Description, e.CreatedOn, e.UpdatedOn = c.URL, c.Secret, c.Text, now, now
	return e, commerce.Changes{Partners: []commerce.Partner{p.WithRoute(route)}, Endpoints: []commerce.Endpoint{e}}, nil
}

// grantNeeds names an endpoint, its partner to be changed, and the key of the actor.
func grantNeeds(owner string, by commerce.Actor) commerce.Needs {
	n := actNeeds(owner, by)
	n.Lock = true
	return n
}

// actNeeds names an endpoint, its partner, and the key of the actor.
func actNeeds(owner string, by commerce.Actor) commerce.Needs {
	n := endpointNeeds(owner)
	if by.Key != nil {
		n.APIKeys = []string{by.Key.ID}
	}
	return n
}

// checkRoute refuses a route of which no such endpoint can be (400), or that gives more than
// the actor may read (403).
func checkRoute(rows *commerce.Rows, p commerce.Partner, by commerce.Actor, r commerce.Route, now commerce.Millis) (commerce.Route, error) {
	r.Events, r.StoreIDs = eachOnce(r.Events), eachOnce(r.StoreIDs)
	if slices.Equal(r.Events, []string{commerce.EveryEvent}) {
		r.Events = nil
	}
	for i, text := range r.Events {
		if !commerce.IsEventPattern(text) {
			field := commerce.Index("events", i, "")
			return r, commerce.Invalid(field, "%s must be a kind of event, order.*, delivery.*, product.* or *", field)
		}
	}
	for i, id := range r.StoreIDs {
		if _, ok := rows.Stores.Get(id); !ok {
			field := commerce.Index("store_ids", i, "")
			return r, commerce.Invalid(field, "%s is not known", field)
		}
	}
	return r, mayRoute(rows, p, by, r, now)
}

// mayRoute refuses to an actor that calls with a key a route whose events the key may not
// read.
func mayRoute(rows *commerce.Rows, p commerce.Partner, by commerce.Actor, r commerce.Route, now commerce.Millis) error {
	if by.Key == nil {
		return nil
	}
	acting, granted, err := actingKey(rows, p, by, now)
	if err != nil {
		return err
	}
	scopes := []commerce.Scope{commerce.ReadOrders}
	if slices.ContainsFunc(r.Events, func(text string) bool { return strings.HasPrefix(text, "product.") }) {
		scopes = append(scopes, commerce.ReadProducts)
	}
	return granted.MayGrant(acting, r.Mode, scopes, r.StoreIDs)
}

// mayChange refuses to an actor that calls with a key an endpoint with more rights than the
// key has.
func mayChange(rows *commerce.Rows, by commerce.Actor, owner string, now commerce.Millis) error {
	p, _ := partnerOf(rows, owner)
	_, id := commerce.SplitOwner(owner)
	r, _ := p.RouteOf(id)
	return mayRoute(rows, p, by, r, now)
}
