package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// CreatePartner makes a partner with the hashes of its keys.
type CreatePartner struct {
	Partner commerce.Partner  // ID drawn by the caller
	Keys    []commerce.APIKey // id, mode, name, hash and scopes; they become keys of this partner
}

// Needs names the new rows and the stores that the partner is restricted to.
func (c CreatePartner) Needs() commerce.Needs {
	n := commerce.Needs{Partners: []string{c.Partner.ID}, Stores: c.Partner.StoreIDs}
	for _, k := range c.Keys {
		n.APIKeys = append(n.APIKeys, k.ID)
		n.FormerKeys = append(n.FormerKeys, commerce.FormerKeyRef{PartnerID: c.Partner.ID, Mode: k.Mode})
	}
	return n
}

// Access implements commit.Keyed: operators and staff are checked by their fronts.
func (c CreatePartner) Access(*commerce.Rows) error { return nil }

// Decide creates the partner. It refuses unknown scopes and stores.
func (c CreatePartner) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Partner, commerce.Changes, error) {
	if err := checkPartner(rows, c.Partner); err != nil {
		return c.Partner, commerce.Changes{}, err
	}
	p := c.Partner
	p.Scopes, p.StoreIDs, p.AlarmAddresses = eachOnce(p.Scopes), eachOnce(p.StoreIDs), eachOnce(p.AlarmAddresses)
	p.CreatedOn, p.UpdatedOn = now, now
	changes := commerce.Changes{Partners: []commerce.Partner{p}}
	for _, k := range c.Keys {
		k.PartnerID, k.CreatedOn = p.ID, now
		changes.APIKeys = append(changes.APIKeys, k)
		if former, ok := commerce.FormerKeyOf([]commerce.APIKey{k}, k.Mode, now); ok {
			changes.FormerKeys = append(changes.FormerKeys, former)
		}
		for _, s := range k.Scopes {
			if !p.Has(s) {
				return p, commerce.Changes{}, commerce.Invalid("test-scope", "the partner lacks the scope %s", s)
			}
		}
	}
	return p, changes, nil
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
	if len(p.AlarmAddresses) > commerce.MaxAlarmAddresses {
		return commerce.Invalid("alarm-address", "alarm-address must be at most %d", commerce.MaxAlarmAddresses)
	}
	for _, id := range p.StoreIDs {
		if _, ok := rows.Stores.Get(id); !ok {
			return commerce.Invalid("store", "store %q is not known; `purveyor import` makes stores", id)
		}
	}
	return nil
}

// eachOnce removes repetitions.
func eachOnce[T comparable](list []T) (kept []T) {
	for _, v := range list {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}
