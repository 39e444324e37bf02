package courier

import (
	"fmt"
	"math"
	"strings"

	"purveyor/internal/commerce"
)

// townMap is a small map around a delivery, as SVG. It shows no names and no real
// coordinates.
type townMap struct {
	Width, Height int
	Approach, Way string // points of polylines
	Store, Door   string // one point each

	centre     commerce.Point
	x, y, zoom float64 // the centre on the map; map units per degree of latitude
}

const (
	mapWidth, mapHeight = 360, 240
	mapMargin           = 36 // on each side
	// The label of the door is above the door; nothing is below.
	mapTop, mapBottom = 52, 24
)

// drawMap draws the whole way of the courier.
func (x *delivery) drawMap() townMap {
	approach, way := streets(x.start(), x.Way.From), streets(x.Way.From, x.Way.To)
	m := townMap{Width: mapWidth, Height: mapHeight, centre: x.Way.From, zoom: 1}
	left, top, right, bottom := 0.0, 0.0, 0.0, 0.0
	for _, p := range append(approach, way...) {
		e, s := m.from(p)
		left, right, top, bottom = min(left, e), max(right, e), min(top, s), max(bottom, s)
	}
	const least = 1e-6 // keeps the scale finite for a way of no length, and near a pole
	m.zoom = min((mapWidth-2*mapMargin)/max(least, right-left), (mapHeight-mapTop-mapBottom)/max(least, bottom-top))
	m.x, m.y = mapWidth/2-m.zoom*(left+right)/2, (mapHeight+mapTop-mapBottom)/2-m.zoom*(top+bottom)/2
	m.Approach, m.Way = m.points(approach...), m.points(way...)
	m.Store, m.Door = m.points(x.Way.From), m.points(x.Way.To)
	return m
}

// from returns how far east and south of the centre p is, in degrees of latitude.
func (m *townMap) from(p commerce.Point) (east, south float64) {
	east = math.Remainder(p.Lng-m.centre.Lng, 360) * math.Cos(m.centre.Lat*math.Pi/180)
	return east, m.centre.Lat - p.Lat
}

// at returns the position of p on the map.
func (m *townMap) at(p commerce.Point) (x, y float64) {
	east, south := m.from(p)
	return tenths(m.x + m.zoom*east), tenths(m.y + m.zoom*south)
}

func tenths(v float64) float64 { return math.Round(v*10) / 10 }

func (m *townMap) points(way ...commerce.Point) string {
	points := make([]string, len(way))
	for i, p := range way {
		x, y := m.at(p)
		points[i] = fmt.Sprintf("%.1f,%.1f", x, y)
	}
	return strings.Join(points, " ")
}
