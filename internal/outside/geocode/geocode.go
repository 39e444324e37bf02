// Package geocode is the port to geocoders, which find the place of an address.
// Offline knows ZIP codes, cities and states and makes no calls; Census and Nominatim
// know streets.
package geocode

import (
	"cmp"
	"context"
	"errors"

	"purveyor/internal/commerce"
)

// Geocoder finds places.
type Geocoder interface {
	// Find returns the place of an address. ErrNotFound is definite; after any other
	// error the geocoder could not be asked.
	Find(ctx context.Context, q Query) (Place, error)
}

// Query is an address: one text, or parts, of which some may be empty.
type Query struct {
	Text    string // free-form; empty: the parts count
	Address commerce.Address
}

// ErrNotFound means that the geocoder does not know the address.
var ErrNotFound = errors.New("the address cannot be placed")

// Precision says how exactly a place is known.
type Precision string

// The precisions, from the best to the worst.
const (
	Rooftop Precision = "rooftop"
	Range   Precision = "range" // between two house numbers of the street
	Street  Precision = "street"
	ZIP     Precision = "zip"  // centre of a ZIP code area
	City    Precision = "city" // centre of a city
	Area    Precision = "area" // centre of all ZIP codes that share the first digits
)

// Exact reports whether a courier may be sent to the coordinates.
func (p Precision) Exact() bool { return p == Rooftop || p == Range || p == Street }

// Place is the place of an address.
type Place struct {
	commerce.Point
	Precision Precision
	// AreaMiles is the radius of a ZIP code area or a city; 0: not known.
	AreaMiles float64
}

// ForReach returns the place in the form that commerce.Store.ReachOf takes. It is nil
// if only the first digits of the ZIP code are known: such an address counts as
// unknown.
func (p Place) ForReach() *commerce.Place {
	to := &commerce.Place{Point: p.Point}
	switch p.Precision {
	case Rooftop, Range:
	case Street:
		to.RadiusMiles = commerce.StreetMiles
	case ZIP, City:
		to.RadiusMiles = cmp.Or(p.AreaMiles, commerce.MaxAreaMiles)
	default:
		return nil
	}
	return to
}
