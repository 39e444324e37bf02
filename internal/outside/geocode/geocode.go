// Package geocode is the port to geocoders, which tell where an address is.
// Offline knows the places of ZIP codes, cities and states and needs nobody;
// Census and Nominatim know streets.
package geocode

import (
	"cmp"
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

// Exact tells whether a courier may be sent to the coordinates themselves.
func (p Precision) Exact() bool { return p == Rooftop || p == Range || p == Street }

// Place is where an address is.
type Place struct {
	commerce.Point
	Precision Precision
	// AreaMiles is how far a ZIP code or a city reaches from the point; 0: not known.
	AreaMiles float64
}

// ForReach is the place as commerce.Store.ReachOf takes it. It is nil where only
// the first digits of the ZIP code are known: such an address counts as not placed.
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
