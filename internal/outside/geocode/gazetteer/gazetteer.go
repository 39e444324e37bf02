// Package gazetteer holds the places of the ZIP codes and cities of the United
// States. Its tables are part of the program and are searched in place: a lookup
// opens, reads and allocates nothing. NOTICE names the sources.
package gazetteer

import (
	_ "embed" // the tables
	"encoding/binary"
	"math"
	"sort"

	"purveyor/internal/commerce"
)

//go:generate go run ../gen

//go:embed zips.bin
var zipBytes string

//go:embed cities.bin
var cityBytes string

// zipTable is the output of PackZIPs: rows sorted by code.
type zipTable string

// cityTable is the output of PackCities.
type cityTable string

var (
	zips   = zipTable(zipBytes)
	cities = cityTable(cityBytes)
)

// A row is an entry of a table: 19 bits of key, 22 of latitude and 23 of longitude
// (about 5 m), big-endian, and a byte for the radius. Sorting rows as bytes sorts
// them by key.
type row struct {
	packed uint64
	radius byte // in tenths of a mile
}

const (
	rowBytes           = 9
	latBits, lngBits   = 22, 23
	latSteps, lngSteps = 1<<latBits - 1, 1<<lngBits - 1
	radiusSteps        = 10 // per mile
)

func newRow(key int, p commerce.Place) row {
	lat := uint64(math.Round((p.Lat + 90) / 180 * latSteps))
	lng := uint64(math.Round((p.Lng + 180) / 360 * lngSteps))
	return row{uint64(key)<<(latBits+lngBits) | lat<<lngBits | lng, byte(math.Round(p.RadiusMiles * radiusSteps))}
}

func rowAt(table string, i int) row {
	b := []byte(table[i*rowBytes:][:rowBytes])
	return row{binary.BigEndian.Uint64(b), b[rowBytes-1]}
}

func (r row) key() int { return int(r.packed >> (latBits + lngBits)) }

func (r row) place() commerce.Place {
	at := commerce.Point{
		Lat: float64(r.packed>>lngBits&latSteps)/latSteps*180 - 90,
		Lng: float64(r.packed&lngSteps)/lngSteps*360 - 180,
	}
	return commerce.Place{Point: at, RadiusMiles: float64(r.radius) / radiusSteps}
}

// ZIP returns the centre of a ZIP code area, and its radius.
func ZIP(code int) (commerce.Place, bool) { return zips.find(code) }

func (t zipTable) rows() int { return len(t) / rowBytes }

func (t zipTable) at(i int) row { return rowAt(string(t), i) }

// first returns the index of the first row whose code is not below this one.
func (t zipTable) first(code int) int {
	return sort.Search(t.rows(), func(i int) bool { return t.at(i).key() >= code })
}

func (t zipTable) find(code int) (commerce.Place, bool) {
	i := t.first(code)
	if i == t.rows() || t.at(i).key() != code {
		return commerce.Place{}, false
	}
	return t.at(i).place(), true
}

// Area returns the centre of all ZIP codes that share the first three digits. A code
// outside of the range of these codes is not in use: 99999.
func Area(code int) (commerce.Point, bool) {
	var sum commerce.Point
	first, end := zips.first(code/100*100), zips.first(code/100*100+100)
	if at := zips.first(code); at == end || zips.at(first).key() > code {
		return sum, false
	}
	for i := first; i < end; i++ {
		p := zips.at(i).place()
		sum.Lat, sum.Lng = sum.Lat+p.Lat, sum.Lng+p.Lng
	}
	n := float64(end - first)
	return commerce.Point{Lat: sum.Lat / n, Lng: sum.Lng / n}, true
}

// ZIPs calls f for each ZIP code.
func ZIPs(f func(code int, p commerce.Place)) {
	for i := range zips.rows() {
		f(zips.at(i).key(), zips.at(i).place())
	}
}

// City returns the centre of a city, and its radius. The state is a code as State
// returns it, and the name has to be folded by Fold.
func City(state, name string) (commerce.Place, bool) {
	var space [64]byte
	return cities.find(AppendKey(append(space[:0], state...), name))
}

// rows returns the number of cities, which is the key of the first row. That row is
// no city.
func (t cityTable) rows() int { return rowAt(string(t), 0).key() }

func (t cityTable) at(i int) row { return rowAt(string(t), 1+i) }

func (t cityTable) find(key []byte) (commerce.Place, bool) {
	i, found := sort.Find(t.rows(), func(i int) int { return compare(key, t.name(i)) })
	if !found {
		return commerce.Place{}, false
	}
	return t.at(i).place(), true
}

// name returns the key of a city. All names follow the rows, and each row holds the
// offset of its name.
func (t cityTable) name(i int) string {
	n := t.rows()
	names := string(t[(1+n)*rowBytes:])
	end := len(names)
	if i+1 < n {
		end = t.at(i + 1).key()
	}
	return names[t.at(i).key():end]
}

func compare(a []byte, b string) int {
	switch {
	case string(a) < b:
		return -1
	case string(a) > b:
		return 1
	}
	return 0
}
