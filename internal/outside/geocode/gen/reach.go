package main

import (
	"cmp"
	"slices"

	"purveyor/internal/commerce"
)

// A ZIP code's radius is this share of the mean distance to this number of
// neighbours.
const (
	neighbourPart = 0.6
	neighbours    = 4
)

// area returns a place with its radius limited to the bounds of areas.
func area(p commerce.Point, miles float64) commerce.Place {
	return commerce.Place{Point: p, RadiusMiles: min(max(miles, commerce.MinAreaMiles), commerce.MaxAreaMiles)}
}

// zipAreas returns the radius of each ZIP code: 0.6 times the mean distance to the
// four nearest centres of ZIP codes.
func zipAreas(points map[int]commerce.Point) map[int]commerce.Place {
	near := newField(points)
	areas := make(map[int]commerce.Place, len(points))
	for code, p := range points {
		distances := near.nearest(p, neighbours+1)[1:] // the first one is the ZIP code itself
		sum := 0.0
		for _, miles := range distances {
			sum += miles
		}
		areas[code] = area(p, neighbourPart*sum/float64(len(distances)))
	}
	return areas
}

// cityAreas returns the radius of each city: the distance from its centre to the
// farthest centre of its ZIP codes. A town without a ZIP code of its own gets its
// mail from the nearest one.
func cityAreas(middles map[string]commerce.Point, zipsOf map[string][]commerce.Point, zips map[int]commerce.Point) map[string]commerce.Place {
	near := newField(zips)
	areas := make(map[string]commerce.Place, len(middles))
	for city, p := range middles {
		farthest := 0.0
		for _, zip := range zipsOf[city] {
			farthest = max(farthest, p.MilesTo(zip))
		}
		if len(zipsOf[city]) == 0 {
			farthest = near.nearest(p, 1)[0]
		}
		areas[city] = area(p, farthest)
	}
	return areas
}

// field is a list of points, sorted by latitude.
type field []commerce.Point

func newField(points map[int]commerce.Point) field {
	f := make(field, 0, len(points))
	for _, p := range points {
		f = append(f, p)
	}
	slices.SortFunc(f, func(a, b commerce.Point) int { return cmp.Or(cmp.Compare(a.Lat, b.Lat), cmp.Compare(a.Lng, b.Lng)) })
	return f
}

// nearest returns the distances to the n nearest points, in miles, ascending. It
// searches north and south until the difference of latitude alone exceeds the largest
// of them.
func (f field) nearest(to commerce.Point, n int) []float64 {
	distances := make([]float64, 0, n+1)
	look := func(p commerce.Point) (more bool) {
		northward := to.MilesTo(commerce.Point{Lat: p.Lat, Lng: to.Lng})
		if len(distances) == n && northward > distances[n-1] {
			return false
		}
		miles := to.MilesTo(p)
		at, _ := slices.BinarySearch(distances, miles)
		distances = slices.Insert(distances, at, miles)
		distances = distances[:min(len(distances), n)]
		return true
	}
	middle, _ := slices.BinarySearchFunc(f, to, func(a, b commerce.Point) int { return cmp.Compare(a.Lat, b.Lat) })
	for i := middle; i < len(f) && look(f[i]); i++ {
	}
	for i := middle - 1; i >= 0 && look(f[i]); i-- {
	}
	return distances
}
