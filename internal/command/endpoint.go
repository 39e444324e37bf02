package command

import "purveyor/internal/commerce"

// endpointNeeds names an endpoint and its partner.
func endpointNeeds(owner string) commerce.Needs {
	return commerce.Needs{Partners: partnersOf(owner), Endpoints: []string{owner}}
}

func partnersOf(owner string) []string {
	partnerID, _ := commerce.SplitOwner(owner)
	return []string{partnerID}
}

func partnerOf(rows *commerce.Rows, owner string) (commerce.Partner, bool) {
	return rows.Partners.Get(partnersOf(owner)[0])
}

// knownEndpoint refuses an unknown partner, and an endpoint that the partner does not have;
// the health of a callback URL is there before the URL.
func knownEndpoint(rows *commerce.Rows, owner string) (commerce.Endpoint, error) {
	p, ok := partnerOf(rows, owner)
	if !ok {
		return commerce.Endpoint{}, commerce.NotFound("partner")
	}
	if _, id := commerce.SplitOwner(owner); id != "" {
		if _, ok := p.RouteOf(id); !ok {
			return commerce.Endpoint{}, commerce.NotFound("endpoint")
		}
	}
	return endpointOf(rows, owner), nil
}

// mayReceive refuses a partner, or one of its endpoints, to which no event can be sent.
func mayReceive(rows *commerce.Rows, owner string) error {
	p, ok := partnerOf(rows, owner)
	_, id := commerce.SplitOwner(owner)
	switch _, known := p.RouteOf(id); {
	case !ok:
		return commerce.NotFound("partner")
	case id != "" && !known:
		return commerce.NotFound("endpoint")
	case id == "" && p.CallbackURL == "":
		return commerce.Conflict("no_callback_url", "the partner has no callback URL; `purveyor partner update` sets it")
	}
	return nil
}

func endpointOf(rows *commerce.Rows, owner string) commerce.Endpoint {
	e, _ := rows.Endpoints.Get(owner)
	e.PartnerID, e.ID = commerce.SplitOwner(owner)
	return e
}

// changed returns the row to save: none if nothing changed.
func changed(before, after commerce.Endpoint) []commerce.Endpoint {
	if before == after {
		return nil
	}
	return []commerce.Endpoint{after}
}

// releaseParked returns the job that releases the parked webhooks of an endpoint. It is a
// job of its own because there may be any number of them.
func releaseParked(owner string, now commerce.Millis) commerce.Job {
	return commerce.Job{Kind: commerce.JobReleaseParked, Owner: owner, Subject: owner, RunAt: now}
}
