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
