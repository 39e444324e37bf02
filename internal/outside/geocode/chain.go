package geocode

import (
	"context"
	"errors"
	"log/slog"
)

// Chain asks an online geocoder for addresses that have a street, and Offline
// for the others and for what the first does not know or cannot be asked for.
// What it then finds is not remembered: the Cache is before the online one only.
type Chain struct {
	online, offline Geocoder
}

// Options are what New joins.
type Options struct {
	Online Geocoder // nil: Offline answers everything
	Source string   // the name of the online one, kept with its places
	Memory Memory   // of the places that it found; nil: none but the process's own
	Log    *slog.Logger
}

// New is the geocoder of a service: the online one, guarded and remembered, and
// Offline behind it.
func New(o Options) Geocoder {
	if o.Online == nil {
		return Offline{}
	}
	return Chain{NewCache(NewGuard(o.Online, o.Log), o.Source, o.Memory, o.Log), Offline{}}
}

// Find tells where an address is. An error that is not ErrNotFound says that the
// online geocoder might know it.
func (c Chain) Find(ctx context.Context, q Query) (Place, error) {
	if !q.HasStreet() {
		return c.offline.Find(ctx, q)
	}
	limited, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	place, err := c.online.Find(limited, q)
	if err == nil && place.Precision.Exact() {
		return place, nil
	}
	rough, roughErr := c.offline.Find(ctx, q)
	if errors.Is(roughErr, ErrNotFound) || err == nil && rough.Precision == Area {
		return place, err // a city that the online one knows is better
	}
	return rough, roughErr
}
