// Package geocode is the port to geocoders, which tell where an address is.
// Offline knows the places of ZIP codes, cities and states and needs nobody;
// Census and Nominatim know streets.
package geocode

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
)

// Geocoder finds places.
type Geocoder interface {
	// Find tells where an address is. ErrNotFound is definite; any other error says
	// that the geocoder could not be asked.
	Find(ctx context.Context, q Query) (Place, error)
}

// Query is an address: as one text, or in parts, of which some may be empty.
type Query struct {
	Text    string // free-form; empty: see Address
	Address commerce.Address
}

// ErrNotFound says that the geocoder knows no such place.
var ErrNotFound = errors.New("the address cannot be placed")

// Precision is how well a place is known.
type Precision string

// The precisions, from the best to the worst.
const (
	Rooftop Precision = "rooftop"
	Range   Precision = "range" // between two house numbers of the street
	Street  Precision = "street"
	ZIP     Precision = "zip"  // the middle of a ZIP code area
	City    Precision = "city" // the middle of a city
	Area    Precision = "area" // the middle of ZIP codes that begin alike
)

// Exact tells whether a distance from the place means anything near the edge of
// a store's radius.
func (p Precision) Exact() bool { return p == Rooftop || p == Range || p == Street }

// SlackMiles is how far the address may be from its place: about as far as the
// edge of what the place is the middle of.
func (p Precision) SlackMiles() float64 {
	switch p {
	case Rooftop, Range:
		return 0
	case Street:
		return 1
	case ZIP:
		return 10
	case City:
		return 20
	}
	return 75
}

// Place is where an address is.
type Place struct {
	commerce.Point
	Precision Precision
}
