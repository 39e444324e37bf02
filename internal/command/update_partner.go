package command

import (
	"reflect"
	"slices"

	"purveyor/internal/commerce"
)

// UpdatePartner changes a partner. Fields that are nil stay as they are.
type UpdatePartner struct {
	ID             string
	Seen           commerce.Millis // UpdatedOn of the partner as the person saw it; 0: any
	Name           *string
	Scopes         *[]commerce.Scope
	ManageSelf     bool // adds the scope
	StoreIDs       *[]string
	RateLimit      *int64
	CallbackURL    *string
	CallbackSecret *string
	FirstSecret    string // for a callback URL, while there is no secret; empty: its events are not signed
	AlarmAddresses *[]string
	Suspended      *bool
}

// Needs names the partner, the stores that it is to be restricted to, and its endpoint.
func (c UpdatePartner) Needs() commerce.Needs {
	n := endpointNeeds(c.ID)
	n.Lock = true
	set(&n.Stores, c.StoreIDs)
	return n
}

// Decide refuses what CreatePartner refuses, and an unknown partner. When a suspension
// ends, parked webhooks become due, unless the endpoint holds them. A new callback URL is
// a fresh start for the endpoint. A callback secret that is set here ends a rotation: from
// now on only this secret signs. A partner that has the values already stays as it is; one
// that was changed since the person saw it is refused (409).
func (c UpdatePartner) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	p, ok := rows.Partners.Get(c.ID)
	if !ok {
		return p, commerce.Changes{}, commerce.NotFound("partner")
	}
	stored, before := p, endpointOf(rows, c.ID)
	endpoint := before
	if c.CallbackURL != nil && *c.CallbackURL != p.CallbackURL {
		endpoint = endpoint.Moved(now)
	}
	if c.CallbackSecret != nil {
		endpoint = endpoint.EndRotation()
	}
	changes := commerce.Changes{Endpoints: changed(before, endpoint)}
	set(&p.Name, c.Name)
	set(&p.Scopes, c.Scopes)
	if c.ManageSelf {
		p.Scopes = append(slices.Clone(p.Scopes), commerce.ManageSelf)
	}
	set(&p.RateLimit, c.RateLimit)
	set(&p.CallbackURL, c.CallbackURL)
	set(&p.CallbackSecret, c.CallbackSecret)
	if p.CallbackURL != "" && p.CallbackSecret == "" {
		p.CallbackSecret = c.FirstSecret
	}
	if c.AlarmAddresses != nil {
		p.AlarmAddresses = eachOnce(*c.AlarmAddresses)
	}
	if p.Suspended && c.Suspended != nil && !*c.Suspended {
		if !endpoint.Holds() {
			changes.NewJobs = []commerce.Job{releaseParked(c.ID, now)}
		}
		for _, r := range p.Routes {
			if r.ID != "" { // a release looks whether the endpoint holds
				changes.NewJobs = append(changes.NewJobs, releaseParked(commerce.EndpointOwner(c.ID, r.ID), now))
			}
		}
	}
	set(&p.Suspended, c.Suspended)
	check := p
	check.StoreIDs = nil // its present stores were checked when they were given
	if c.StoreIDs != nil {
		p.StoreIDs = *c.StoreIDs
		check.StoreIDs = p.StoreIDs
	}
	if err := checkPartner(rows, check); err != nil {
		return p, commerce.Changes{}, err
	}
	p.Scopes, p.StoreIDs = eachOnce(p.Scopes), eachOnce(p.StoreIDs)
	stored.Scopes, stored.StoreIDs = eachOnce(stored.Scopes), eachOnce(stored.StoreIDs)
	switch same := reflect.DeepEqual(p, stored); {
	case same && before == endpoint:
		return stored, commerce.Changes{}, nil
	case !same && changedSince(c.Seen, stored.UpdatedOn):
		return stored, commerce.Changes{}, changedMeanwhile("partner")
	}
	p.UpdatedOn = now
	changes.Partners = []commerce.Partner{p}
	return p, changes, nil
}
