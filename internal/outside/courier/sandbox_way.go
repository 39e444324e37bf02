package courier

import (
	"math"

	"purveyor/internal/commerce"
)

// approachMiles is how far from the store its courier is when found.
const approachMiles = 0.8

const milesPerDegree = 69.0 // of latitude

// place is where the courier is at a stage.
func (x *delivery) place(at stage) commerce.Point {
	if at.toDoor {
		return along(streets(x.Way.From, x.Way.To), at.at)
	}
	return along(streets(x.start(), x.Way.From), at.at)
}

// start is where the courier is found: in a direction from the store that
// follows from the delivery's id.
func (x *delivery) start() commerce.Point {
	bearing := float64(drawn(x.ID[len(x.ID)-8:], 360)) * math.Pi / 180
	store := x.Way.From
	const steepest = 0.01 // next to a pole there is no east
	return onEarth(commerce.Point{
		Lat: store.Lat + approachMiles/milesPerDegree*math.Cos(bearing),
		Lng: store.Lng + approachMiles/milesPerDegree*math.Sin(bearing)/max(steepest, math.Cos(store.Lat*math.Pi/180)),
	})
}

// streets is a way around two corners, as in a town whose blocks lie north and
// south. Over the date line its longitudes go on beyond 180.
func streets(a, b commerce.Point) []commerce.Point {
	b.Lng = a.Lng + math.Remainder(b.Lng-a.Lng, 360)
	middle := (a.Lng + b.Lng) / 2
	return []commerce.Point{a, {Lat: a.Lat, Lng: middle}, {Lat: b.Lat, Lng: middle}, b}
}

// along is the point behind which some part of a way lies.
func along(way []commerce.Point, part float64) commerce.Point {
	var length float64
	for i, p := range way[1:] {
		length += way[i].MilesTo(p)
	}
	left := part * length
	for i, p := range way[1:] {
		miles := way[i].MilesTo(p)
		if left < miles {
			return onEarth(between(way[i], p, left/miles))
		}
		left -= miles
	}
	return onEarth(way[len(way)-1])
}

func between(a, b commerce.Point, part float64) commerce.Point {
	return commerce.Point{Lat: a.Lat + (b.Lat-a.Lat)*part, Lng: a.Lng + (b.Lng-a.Lng)*part}
}

// onEarth is a place next to one on earth, in the degrees of maps.
func onEarth(p commerce.Point) commerce.Point {
	return commerce.Point{Lat: min(90, max(-90, p.Lat)), Lng: math.Remainder(p.Lng, 360)}
}
