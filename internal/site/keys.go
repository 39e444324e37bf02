package site

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// ScopeWord is a scope with what it allows.
type ScopeWord struct {
	Scope commerce.Scope
	Text  string
}

// ScopeWords are the scopes as forms offer them.
var ScopeWords = []ScopeWord{{commerce.AllScopes, "Everything below"}, {commerce.ReadStores, "Read stores"}, {commerce.ReadCategories, "Read categories"},
	{commerce.ReadProducts, "Read products"}, {commerce.WriteProducts, "Make and change products"}, {commerce.ReadOrders, "Read its orders and events"},
	{commerce.WriteOrders, "Make orders and change them"}, {commerce.ReadDelivery, "Quote and follow deliveries"}, {commerce.WriteInventory, "Change stock"},
	{commerce.ManageSelf, "Manage itself: keys, endpoints, requests"}}

// ScopesOf are the scopes of a partner that a key may have, one by one.
func ScopesOf(p commerce.Partner) (list []ScopeWord) {
	for _, s := range ScopeWords {
		if s.Scope != commerce.AllScopes && p.Has(s.Scope) {
			list = append(list, s)
		}
	}
	return list
}

// Lines are the values of a text each on a line of its own.
func Lines[T ~string](text string) (list []T) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, T(line))
		}
	}
	return list
}

// Key is a key as pages list it.
type Key struct {
	commerce.APIKey
	State commerce.KeyState
}

// Begins is what is known of the key's text.
func (k Key) Begins() string { return k.Mode.KeyPrefix() + "…" + k.Last4 }

// Works reports whether the key can be replaced and revoked.
func (k Key) Works() bool { return k.State == commerce.KeyActive }

// KeysOf are keys as pages list them, those that work first.
func KeysOf(keys []commerce.APIKey, now commerce.Millis) (list []Key) {
	for _, k := range keys {
		list = append(list, Key{k, k.State(now)})
	}
	slices.SortStableFunc(list, func(a, b Key) int {
		switch {
		case a.Works() == b.Works():
			return 0
		case a.Works():
			return -1
		}
		return 1
	})
	return list
}

// NewKeyOf is the key that a form describes, by the values of its fields: several values of one field
// each on a line of its own.
func NewKeyOf(typed map[string]string, p commerce.Partner, now commerce.Millis) (in service.NewKey, err error) {
	in = service.NewKey{PartnerID: p.ID, Name: typed["name"], Mode: commerce.Mode(typed["mode"]), Addresses: Lines[string](typed["allowed_addresses"]), StoreIDs: Lines[string](typed["store"])}
	if in.Mode != commerce.Live && in.Mode != commerce.Test {
		return in, commerce.Invalid("mode", "mode must be live or test")
	}
	if days := typed["days"]; days != "" {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 {
			return in, commerce.Invalid("days", "days must be a whole number, or empty")
		}
		in.ExpiresOn = now.Add(time.Duration(min(n, 10_000)) * 24 * time.Hour)
	}
	if typed["rights"] == "some" {
		if in.Scopes = Lines[commerce.Scope](typed["scope"]); len(in.Scopes) == 0 {
			return in, commerce.Invalid("scope", "scope must be at least one")
		}
	}
	return in, nil
}

// Overlap is how long something that was replaced goes on working, as forms offer it.
type Overlap struct{ Hours, Word string }

// Overlaps are the choices.
var Overlaps = []Overlap{{"0", "At once: within 5 seconds"}, {"24", "A day"}, {"168", "A week"}}

// OverlapOf is the choice of a form.
func OverlapOf(hours string) (time.Duration, error) {
	n, err := strconv.Atoi(hours)
	if err != nil || !slices.ContainsFunc(Overlaps, func(o Overlap) bool { return o.Hours == hours }) {
		return 0, commerce.Invalid("hours", "Choose how long the old one goes on working")
	}
	return time.Duration(n) * time.Hour, nil
}
