package geocode

import (
	"context"
	"errors"
	"log/slog"

	"purveyor/internal/env"
)

// Chain asks the online geocoder for addresses that have a street. It asks Offline
// for all others, and when the online geocoder does not know the address or cannot be
// reached. Answers of Offline are not cached: only the online geocoder has a Cache.
type Chain struct {
	env             env.Env
	online, offline Geocoder
}

// Options configure New.
type Options struct {
	Env    env.Env
	Online Geocoder // nil: Offline answers everything
	Source string   // name of the online geocoder, stored with its places
	Memory Memory   // of the places that it found; nil: process memory only
	Log    *slog.Logger
}

// New is the geocoder of a service: the online one, with a guard and a cache, and
// Offline behind it.
func New(o Options) Geocoder {
	if o.Online == nil {
		return Offline{}
	}
	return Chain{o.Env, NewCache(o.Env, NewGuard(o.Env, o.Online, o.Log), o.Source, o.Memory, o.Log), Offline{}}
}

// Find returns the place of an address. After an error other than ErrNotFound, the
// online geocoder might know it.
func (c Chain) Find(ctx context.Context, q Query) (Place, error) {
	if !q.HasStreet() {
		return c.offline.Find(ctx, q)
	}
	limited, cancel := c.env.WithTimeout(ctx, callLimit)
	defer cancel()
	place, err := c.online.Find(limited, q)
	if err == nil && place.Precision.Exact() {
		return place, nil
	}
	rough, roughErr := c.offline.Find(ctx, q)
	if errors.Is(roughErr, ErrNotFound) || err == nil && rough.Precision == Area {
		return place, err // a city that the online geocoder knows is more precise
	}
	return rough, roughErr
}
