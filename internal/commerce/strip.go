package commerce

import "math"

// Stores are found by bands of latitude, which are numbered from the south
// pole, and by their longitude within a band.
const bandsPerDegree = 20

// NoBand is the band of stores whose place is not known.
const NoBand = -1

// Band is the band of latitude of the store.
func (s Store) Band() int64 {
	if p, known := s.Point(); known {
		return bandOf(p.Lat)
	}
	return NoBand
}

func bandOf(lat float64) int64 { return int64(math.Floor((lat + 90) * bandsPerDegree)) }

// Strip is a part of a band, in degrees of longitude. West is never greater than East; a
// part that crosses the date line is two strips.
type Strip struct {
	Band       int64
	West, East float64
}

// slack is added to all angles (a quarter of an inch), so that rounding never excludes a
// point that is within a circle.
const slack = 1e-9

// StripsAround returns strips that cover a circle closely. The circle must be smaller than a
// quarter of the globe.
func StripsAround(p Point, miles float64) (list []Strip) {
	reach, lat := miles/earthMiles+slack, p.Lat*radian
	south, north := max(lat-reach, -math.Pi/2), min(lat+reach, math.Pi/2)
	// Where the circle is widest, in degrees of longitude, lies nearer to the pole
	// than its middle; it is the pole if that is inside.
	widest := math.Asin(max(-1, min(1, math.Sin(lat)/math.Cos(reach))))
	for band := bandOf(south / radian); band <= bandOf(north/radian); band++ {
		bottom := max(south, (float64(band)/bandsPerDegree-90)*radian)
		top := min(north, (float64(band+1)/bandsPerDegree-90)*radian)
		half := halfWidth(lat, max(bottom, min(widest, top)), reach)
		list = appendStrips(list, band, p.Lng, half/radian)
	}
	return list
}

// halfWidth of a circle at a latitude, in radians of longitude: the haversine
// formula, solved for it.
func halfWidth(middle, at, reach float64) float64 {
	h, shrink := sq(math.Sin(reach/2))-sq(math.Sin((at-middle)/2)), math.Cos(middle)*math.Cos(at)
	if shrink < slack || h >= shrink {
		return math.Pi // the circle goes round a pole
	}
	return 2*math.Asin(math.Sqrt(max(0, h/shrink))) + slack
}

func appendStrips(list []Strip, band int64, lng, half float64) []Strip {
	west, east := lng-half, lng+half
	switch {
	case half >= 180:
		return append(list, Strip{band, -180, 180})
	case west < -180:
		return append(list, Strip{band, west + 360, 180}, Strip{band, -180, east})
	case east > 180:
		return append(list, Strip{band, west, 180}, Strip{band, -180, east - 360})
	}
	return append(list, Strip{band, west, east})
}
