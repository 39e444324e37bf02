package geocode

import (
	"context"

	"purveyor/internal/outside/geocode/gazetteer"
)

// Offline knows the ZIP codes, cities and states of the United States and its
// territories, from tables in the program. It makes no calls.
type Offline struct{}

var _ Geocoder = Offline{}

// Find returns the place of the ZIP code, or else of the city. If it knows neither,
// it returns the centre of the ZIP codes that share the first three digits.
func (Offline) Find(_ context.Context, q Query) (Place, error) {
	w, ok := read(q)
	if !ok {
		return Place{}, ErrNotFound
	}
	if w.zip != noZIP {
		if p, ok := gazetteer.ZIP(w.zip); ok {
			return Place{p.Point, ZIP, p.RadiusMiles}, nil
		}
	}
	if w.inCity {
		return Place{w.city.Point, City, w.city.RadiusMiles}, nil
	}
	if w.zip != noZIP {
		if p, ok := gazetteer.Area(w.zip); ok {
			return Place{Point: p, Precision: Area}, nil
		}
	}
	return Place{}, ErrNotFound
}
