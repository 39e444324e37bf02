package command

import "purveyor/internal/commerce"

func endpointNeeds(partnerID string) commerce.Needs {
	return commerce.Needs{Partners: []string{partnerID}, Endpoints: []string{partnerID}}
}

func knownEndpoint(rows *commerce.Rows, partnerID string) (commerce.Endpoint, error) {
	if _, ok := rows.Partners.Get(partnerID); !ok {
		return commerce.Endpoint{}, commerce.NotFound("partner")
	}
	return endpointOf(rows, partnerID), nil
}

func hasCallback(rows *commerce.Rows, partnerID string) error {
	p, ok := rows.Partners.Get(partnerID)
	switch {
	case !ok:
		return commerce.NotFound("partner")
	case p.CallbackURL == "":
		return commerce.Conflict("no_callback_url", "the partner has no callback URL; `purveyor partner update` sets it")
	}
	return nil
}

func endpointOf(rows *commerce.Rows, partnerID string) commerce.Endpoint {
	e, _ := rows.Endpoints.Get(partnerID)
	e.PartnerID = partnerID
	return e
}

// changed returns the row to save: none if nothing changed.
func changed(before, after commerce.Endpoint) []commerce.Endpoint {
	if before == after {
		return nil
	}
	return []commerce.Endpoint{after}
}

// releaseParked returns the job that releases the parked webhooks of a partner. It is a
// job of its own because there may be any number of them.
func releaseParked(partnerID string, now commerce.Millis) commerce.Job {
	return commerce.Job{Kind: commerce.JobReleaseParked, Owner: partnerID, Subject: partnerID, RunAt: now}
}
