package commerce

import "math"

// Point is a place on earth, in degrees.
type Point struct{ Lat, Lng float64 }

// Valid reports whether the coordinates are those of a place on earth.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lng >= -180 && p.Lng <= 180 // false for NaN
}

const (
	earthMiles = 3958.7613 // mean radius
	radian     = math.Pi / 180
)

// MilesTo is the great-circle distance between two places, by the haversine formula. It is
// right at the poles and across the date line.
func (p Point) MilesTo(q Point) float64 {
	lat, lng := (q.Lat-p.Lat)*radian, (q.Lng-p.Lng)*radian
	a := sq(math.Sin(lat/2)) + math.Cos(p.Lat*radian)*math.Cos(q.Lat*radian)*sq(math.Sin(lng/2))
	return 2 * earthMiles * math.Asin(math.Sqrt(min(1, a)))
}

func sq(x float64) float64 { return x * x }

// Point is the place of the store; false if it is not known.
func (s Store) Point() (Point, bool) {
	if s.Lat == nil || s.Lng == nil {
		return Point{}, false
	}
	p := Point{*s.Lat, *s.Lng}
	return p, p.Valid()
}

// How far an address may be from the point that stands for it, in miles. A house number has
// no such distance.
const (
	StreetMiles  = 1.0
	MinAreaMiles = 1.0  // of a ZIP code or a city
	MaxAreaMiles = 10.0 // the same; also used where the size is not known
)

// Place is where an address is, as precisely as that is known.
type Place struct {
	Point
	RadiusMiles float64 // the address lies within so many miles of the point
}

// Reach is how far an address is from a store.
type Reach struct {
	Miles  *float64 // nil: the address or the store cannot be placed
	Beyond bool     // the store does not deliver so far
}

// ReachOf applies the one rule of reach: an address is out of reach if its distance is larger
// than the sum of the store's radius and the place's own radius. If to is nil, the address
// has no place; it is never out of reach, and the courier decides.
func (s Store) ReachOf(to *Place) Reach {
	at, known := s.Point()
	if !known || to == nil {
		return Reach{}
	}
	miles := at.MilesTo(to.Point)
	return Reach{Miles: &miles, Beyond: s.RadiusMiles != nil && miles > *s.RadiusMiles+to.RadiusMiles}
}

// OutOfRadius is the refusal to sell or quote a delivery that is out of reach.
func OutOfRadius() *Error {
	return &Error{Kind: KindInvalid, Code: "out_of_radius", Field: "delivery_address",
		Message: "The address lies outside of the area that the store delivers to"}
}
