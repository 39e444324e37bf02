package courier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"purveyor/internal/commerce"
)

// Fleet is the set of configured providers.
type Fleet struct {
	// Providers by name. Deliveries store these names.
	Providers map[string]Provider
	// Modes lists the providers of each mode, in the order in which they are asked.
	Modes map[commerce.Mode][]string
}

// ErrNoProvider means that the mode has no configured provider.
var ErrNoProvider = errors.New("no courier provider is configured for these orders")

// Quote returns the offer of the first provider that makes one. If all fail, it
// returns the most promising error: an outage, after which a repeat may help; then a
// *commerce.CredentialsError, which the operator can fix; then a *Refusal, if all
// providers refused.
func (f Fleet) Quote(ctx context.Context, mode commerce.Mode, r QuoteRequest) (Quote, error) {
	var refusal, denied, other error
	for _, name := range f.Modes[mode] {
		q, err := f.Providers[name].Quote(ctx, r)
		if err == nil {
			return q, nil
		}
		if refused, ok := errors.AsType[*Refusal](err); ok {
			refusal = refused
			continue
		}
		if err = fmt.Errorf("%s: %w", name, err); errors.As(err, new(*commerce.CredentialsError)) {
			denied = errors.Join(denied, err)
		} else {
			other = errors.Join(other, err)
		}
	}
	switch {
	case other != nil:
		return Quote{}, other
	case denied != nil:
		return Quote{}, denied
	case refusal != nil:
		return Quote{}, refusal
	}
	return Quote{}, ErrNoProvider
}

// Get reads a delivery from its provider.
func (f Fleet) Get(ctx context.Context, d commerce.Delivery) (Delivery, error) {
	p, ok := f.Providers[d.Provider]
	if !ok {
		return Delivery{}, fmt.Errorf("the courier provider %q is not configured any more", d.Provider)
	}
	return p.Get(ctx, KeyOf(d))
}

// KeyOf returns the key of a delivery's current attempt.
func KeyOf(d commerce.Delivery) Key {
	return Key{ID: d.ProviderID, Ref: d.Ref(), AskedOn: d.AskedOn}
}

// InOrder returns the providers to ask for a delivery. The provider that may have it
// already comes first, and the one that gave it up comes last.
func (f Fleet) InOrder(mode commerce.Mode, d commerce.Delivery) []string {
	names := slices.Clone(f.Modes[mode])
	place := func(name string) int {
		switch name {
		case d.Provider:
			return 0
		case d.Avoid:
			return 2
		}
		return 1
	}
	if _, known := f.Providers[d.Provider]; known && !slices.Contains(names, d.Provider) {
		names = append(names, d.Provider)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}
