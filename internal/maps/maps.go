// Package maps draws where a store, the door of an order and its courier are, as SVG and
// without the tiles of a map service: how far and in which direction is what staff ask.
package maps

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// Map is what is drawn. Parts that are not known are nil.
type Map struct {
	Title       string // "Where the order goes"
	Store       *commerce.Point
	RadiusMiles *float64 // how far the store delivers
	Door        *commerce.Place
	Courier     *commerce.Point
	// Sketch leaves out all that gives a distance. A store's place is public, so from a distance
	// and the direction the address could be worked out.
	Sketch bool
}

const (
	wide, high = 360.0, 240.0
	edge       = 36.0 // pixels around all that is drawn
)

// SVG draws the map; empty if no place is known.
func (m Map) SVG() template.HTML {
	view, known := m.view()
	if !known {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="map"><svg role="img" viewBox="0 0 %v %v"><title>%s</title><rect class="ground" width="%[1]v" height="%[2]v" rx="6"/>`, wide, high, escape(m.Title))
	if m.Store != nil && m.RadiusMiles != nil && !m.Sketch {
		x, y := view.at(*m.Store)
		fmt.Fprintf(&b, `<circle class="radius" cx="%s" cy="%s" r="%s"><title>The store delivers %s</title></circle>`, px(x), px(y), px(*m.RadiusMiles*view.scale), miles(*m.RadiusMiles))
	}
	m.paths(&b, view)
	if m.Door != nil {
		x, y := view.at(m.Door.Point)
		if r := m.Door.RadiusMiles * view.scale; r > 6 && !m.Sketch {
			fmt.Fprintf(&b, `<circle class="about" cx="%s" cy="%s" r="%s"><title>The address is somewhere in here</title></circle>`, px(x), px(y), px(r))
		}
		fmt.Fprintf(&b, `<circle class="door" cx="%s" cy="%s" r="7"/>`, px(x), px(y))
	}
	if m.Store != nil {
		x, y := view.at(*m.Store)
		fmt.Fprintf(&b, `<rect class="store" x="%s" y="%s" width="14" height="14" rx="2"/>`, px(x-7), px(y-7))
	}
	if m.Courier != nil {
		x, y := view.at(*m.Courier)
		fmt.Fprintf(&b, `<path class="courier" d="M%s %sl9 16h-18z"/>`, px(x), px(y-10))
	}
	m.names(&b, view)
	if !m.Sketch {
		bar(&b, view.scale)
	}
	b.WriteString(`</svg>`)
	if !m.Sketch {
		m.figures(&b)
	}
	b.WriteString(`</figure>`)
	return template.HTML(b.String())
}

// place is a place with its name.
type place struct {
	name string
	commerce.Point
}

// places are those that are known.
func (m Map) places() (list []place) {
	if m.Store != nil && m.Store.Valid() {
		list = append(list, place{"Store", *m.Store})
	}
	if m.Door != nil && m.Door.Valid() {
		list = append(list, place{"Address", m.Door.Point})
	}
	if m.Courier != nil && m.Courier.Valid() {
		list = append(list, place{"Courier", *m.Courier})
	}
	return list
}

// view maps places to pixels: flat around its origin, which is exact enough for a town.
type view struct {
	origin      commerce.Point
	east, north float64 // miles from the origin to the middle of the map
	scale       float64 // pixels of a mile
}

const milesOfDegree = 69.093 // of latitude

func (v view) at(p commerce.Point) (x, y float64) {
	return wide/2 + (east(v.origin, p)-v.east)*v.scale, high/2 - (north(v.origin, p)-v.north)*v.scale
}

// east is how many miles a place is east of another. It is right across the date line.
func east(from, to commerce.Point) float64 {
	return math.Remainder(to.Lng-from.Lng, 360) * milesOfDegree * math.Cos(from.Lat*math.Pi/180)
}

// north is how many miles a place is north of another.
func north(from, to commerce.Point) float64 { return (to.Lat - from.Lat) * milesOfDegree }

// view has all places in it, and the circles around them.
func (m Map) view() (view, bool) {
	places := m.places()
	if len(places) == 0 || m.Store != nil && !m.Store.Valid() || m.Door != nil && !m.Door.Valid() || m.Courier != nil && !m.Courier.Valid() {
		return view{}, false
	}
	origin := places[0].Point
	left, right, low, top := 0.0, 0.0, 0.0, 0.0
	grow := func(p commerce.Point, r float64) {
		x, y := east(origin, p), north(origin, p)
		left, right, low, top = min(left, x-r), max(right, x+r), min(low, y-r), max(top, y+r)
	}
	for _, p := range places {
		grow(p.Point, 0)
	}
	if m.Store != nil && m.RadiusMiles != nil {
		grow(*m.Store, *m.RadiusMiles)
	}
	if m.Door != nil {
		grow(m.Door.Point, m.Door.RadiusMiles)
	}
	const least = 0.2 // miles, so that a single place has surroundings
	return view{origin, (left + right) / 2, (low + top) / 2,
		min((wide-2*edge)/max(least, right-left), (high-2*edge)/max(least, top-low))}, true
}

// paths joins the courier, or without one the store, with the address.
func (m Map) paths(b *strings.Builder, v view) {
	join := func(from, to commerce.Point) {
		x1, y1 := v.at(from)
		x2, y2 := v.at(to)
		fmt.Fprintf(b, `<line class="way" x1="%s" y1="%s" x2="%s" y2="%s"/>`, px(x1), px(y1), px(x2), px(y2))
	}
	switch {
	case m.Courier != nil && m.Door != nil:
		join(*m.Courier, m.Door.Point)
	case m.Store != nil && m.Door != nil:
		join(*m.Store, m.Door.Point)
	}
}

// names writes the name of each place beside it: above the northernmost, below the
// southernmost, and at the side of one between them, so that no name covers another.
func (m Map) names(b *strings.Builder, v view) {
	places := m.places()
	slices.SortStableFunc(places, func(p, q place) int { return cmp.Compare(q.Lat, p.Lat) })
	for i, p := range places {
		x, y := v.at(p.Point)
		anchor := "middle"
		switch {
		case i > 0 && i < len(places)-1 && x < wide-80:
			x, y, anchor = x+14, y+4, "start"
		case i > 0 && i < len(places)-1:
			x, y, anchor = x-14, y+4, "end"
		case i == 0:
			y -= 14
		default:
			y += 24
		}
		fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, px(x), px(y), anchor, p.name)
	}
}

// bar draws the scale.
func bar(b *strings.Builder, scale float64) {
	length := 0.01
	for _, m := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if m*scale <= wide/3 {
			length = m
		}
	}
	fmt.Fprintf(b, `<path class="scale" d="M10 %v v6 h%s v-6"/><text x="14" y="%v">%s</text>`, high-16, px(length*scale), high-16, miles(length))
}

// figures are the distances as a table.
func (m Map) figures(b *strings.Builder) {
	places := m.places()
	if len(places) < 2 && m.RadiusMiles == nil {
		return
	}
	b.WriteString(`<details class="figures"><summary>Distances</summary><table><tbody>`)
	for i, p := range places {
		for _, q := range places[i+1:] {
			fmt.Fprintf(b, `<tr><td>%s to %s</td><td class="num">%s</td></tr>`, p.name, strings.ToLower(q.name), miles(p.MilesTo(q.Point)))
		}
	}
	if m.RadiusMiles != nil {
		fmt.Fprintf(b, `<tr><td>The store delivers</td><td class="num">%s</td></tr>`, miles(*m.RadiusMiles))
	}
	b.WriteString(`</tbody></table></details>`)
}

// miles is a distance in words.
func miles(v float64) string {
	places := 1
	if v < 1 && v != 0.5 && v != 0.2 && v != 0.1 {
		places = 2
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "1" {
		return "1 mile"
	}
	return text + " miles"
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func escape(text string) string { return template.HTMLEscapeString(text) }
