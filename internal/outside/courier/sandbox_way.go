package courier

import (
	"math"

	"purveyor/internal/commerce"
)

// approachMiles is the distance between the store and the courier when one is found.
const approachMiles = 0.8

const milesPerDegree = 69.0 // of latitude

// place returns the courier's position at a stage.
func (x *delivery) place(at stage) commerce.Point {
	if at.toDoor {
		return along(streets(x.Way.From, x.Way.To), at.at)
	}
	return along(streets(x.start(), x.Way.From), at.at)
}

// start returns where the courier is found. Its direction from the store is derived
// from the delivery's id.
func (x *delivery) start() commerce.Point {
	bearing := float64(drawn(x.ID[len(x.ID)-8:], 360)) * math.Pi / 180
	store := x.Way.From
	const steepest = 0.01 // degrees of longitude shrink to nothing at a pole
	return onEarth(commerce.Point{
		Lat: store.Lat + approachMiles/milesPerDegree*math.Cos(bearing),
		Lng: store.Lng + approachMiles/milesPerDegree*math.Sin(bearing)/max(steepest, math.Cos(store.Lat*math.Pi/180)),
	})
}

// streets returns a way around two corners, as in a town with a rectangular grid.
// Across the date line its longitudes continue beyond 180.
func streets(a, b commerce.Point) []commerce.Point {
	b.Lng = a.Lng + math.Remainder(b.Lng-a.Lng, 360)
	middle := (a.Lng + b.Lng) / 2
	return []commerce.Point{a, {Lat: a.Lat, Lng: middle}, {Lat: b.Lat, Lng: middle}, b}
}

// along returns the point at this share of a way.
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

// onEarth returns p with latitude and longitude in their normal range.
func onEarth(p commerce.Point) commerce.Point {
	return commerce.Point{Lat: min(90, max(-90, p.Lat)), Lng: math.Remainder(p.Lng, 360)}
}
