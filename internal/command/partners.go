package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// CreatePartner makes a partner with the hashes of its keys.
type CreatePartner struct {
	Partner commerce.Partner  // ID drawn by the caller
	Keys    []commerce.APIKey // mode and hash; they become keys of this partner
}

// Needs names the new rows and the stores that the partner is restricted to.
func (c CreatePartner) Needs() commerce.Needs {
	n := commerce.Needs{Partners: []string{c.Partner.ID}, Stores: c.Partner.StoreIDs}
	for _, k := range c.Keys {
		n.APIKeys = append(n.APIKeys, commerce.APIKeyRef{PartnerID: c.Partner.ID, Mode: k.Mode})
	}
	return n
}

// Decide refuses scopes and stores that are not known.
func (c CreatePartner) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	if err := checkPartner(rows, c.Partner); err != nil {
		return c.Partner, commerce.Changes{}, err
	}
	p := c.Partner
	p.Scopes, p.StoreIDs = eachOnce(p.Scopes), eachOnce(p.StoreIDs)
	p.CreatedOn, p.UpdatedOn = now, now
	changes := commerce.Changes{Partners: []commerce.Partner{p}}
	for _, k := range c.Keys {
		k.PartnerID, k.CreatedOn = p.ID, now
		changes.APIKeys = append(changes.APIKeys, k)
	}
	return p, changes, nil
}

// eachOnce keeps the first mention of each.
func eachOnce[T comparable](list []T) (kept []T) {
	for _, v := range list {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

func checkPartner(rows *commerce.Rows, p commerce.Partner) error {
	if p.Name == "" {
		return commerce.Invalid("name", "a partner needs a name")
	}
	if p.RateLimit < 1 {
		return commerce.Invalid("rate-limit", "the rate limit is requests per minute, 1 or more")
	}
	for _, s := range p.Scopes {
		if !slices.Contains(commerce.Scopes, s) {
			return commerce.Invalid("scope", "scope %q is not known; choose from %v", s, commerce.Scopes)
		}
	}
	for _, id := range p.StoreIDs {
		if _, ok := rows.Stores.Get(id); !ok {
			return commerce.Invalid("store", "store %q is not known; `purveyor import` makes stores", id)
		}
	}
	return nil
}

// UpdatePartner changes what is not nil.
type UpdatePartner struct {
	ID             string
	Name           *string
	Scopes         *[]commerce.Scope
	StoreIDs       *[]string
	RateLimit      *int64
	CallbackURL    *string
	CallbackSecret *string
	Suspended      *bool
}

// Needs names the partner and the stores it is to be restricted to.
func (c UpdatePartner) Needs() commerce.Needs {
	n := commerce.Needs{Lock: true, Partners: []string{c.ID}}
	if c.StoreIDs != nil {
		n.Stores = *c.StoreIDs
	}
	if c.asksEndpoint() {
		n.Endpoints = []string{c.ID}
	}
	return n
}

func (c UpdatePartner) asksEndpoint() bool {
	return c.CallbackURL != nil || c.CallbackSecret != nil || c.Suspended != nil
}

// Decide refuses as CreatePartner does, and a partner that is not known. When a
// suspension ends, the deliveries that were parked meanwhile wait again, unless
// the endpoint itself holds them. Another callback URL is a fresh start for the endpoint. A callback secret that is set
// outright ends a rotation: from then on it alone signs.
func (c UpdatePartner) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	p, ok := rows.Partners.Get(c.ID)
	if !ok {
		return p, commerce.Changes{}, commerce.NotFound("partner")
	}
	var before commerce.Endpoint
	if c.asksEndpoint() {
		before = endpointOf(rows, c.ID)
	}
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
	set(&p.RateLimit, c.RateLimit)
	set(&p.CallbackURL, c.CallbackURL)
	set(&p.CallbackSecret, c.CallbackSecret)
	if p.Suspended && c.Suspended != nil && !*c.Suspended && !endpoint.Holds() {
		changes.NewJobs = []commerce.Job{releaseParked(c.ID, now)}
	}
	set(&p.Suspended, c.Suspended)
	check := p
	check.StoreIDs = nil // those it has were checked when they were given
	if c.StoreIDs != nil {
		p.StoreIDs = *c.StoreIDs
		check.StoreIDs = p.StoreIDs
	}
	if err := checkPartner(rows, check); err != nil {
		return p, commerce.Changes{}, err
	}
	p.Scopes, p.StoreIDs = eachOnce(p.Scopes), eachOnce(p.StoreIDs)
	p.UpdatedOn = now
	changes.Partners = []commerce.Partner{p}
	return p, changes, nil
}

// RotateKey replaces the key of a partner in one mode; the old one is gone.
type RotateKey struct{ Key commerce.APIKey }

// Needs names the partner and its key.
func (c RotateKey) Needs() commerce.Needs {
	return commerce.Needs{
		Lock:     true,
		Partners: []string{c.Key.PartnerID},
		APIKeys:  []commerce.APIKeyRef{{PartnerID: c.Key.PartnerID, Mode: c.Key.Mode}},
	}
}

// Decide replaces it.
func (c RotateKey) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	p, ok := rows.Partners.Get(c.Key.PartnerID)
	if !ok {
		return p, commerce.Changes{}, commerce.NotFound("partner")
	}
	key := c.Key
	key.CreatedOn = now
	return p, commerce.Changes{APIKeys: []commerce.APIKey{key}}, nil
}
