// Package gazetteer knows where the ZIP codes and cities of the United States
// are. Its tables are part of the program and are searched as they lie there:
// nothing is opened, read or allocated. NOTICE says where they are from.
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
var zips string // rows, in the order of their codes

//go:embed cities.bin
var cities string // Cities makes it

// row is an entry of a table: 19 bits of key, 22 of latitude, 23 of longitude,
// which is some 5 m. Rows lie big-endian, and are in order as they lie.
type row uint64

const (
	rowBytes           = 8
	latBits, lngBits   = 22, 23
	latSteps, lngSteps = 1<<latBits - 1, 1<<lngBits - 1
)

func newRow(key int, p commerce.Point) row {
	lat := uint64(math.Round((p.Lat + 90) / 180 * latSteps))
	lng := uint64(math.Round((p.Lng + 180) / 360 * lngSteps))
	return row(uint64(key)<<(latBits+lngBits) | lat<<lngBits | lng)
}

func rowAt(table string, i int) row {
	return row(binary.BigEndian.Uint64([]byte(table[i*rowBytes:][:rowBytes])))
}

func (r row) key() int { return int(r >> (latBits + lngBits)) }

func (r row) point() commerce.Point {
	return commerce.Point{
		Lat: float64(r>>lngBits&latSteps)/latSteps*180 - 90,
		Lng: float64(r&lngSteps)/lngSteps*360 - 180,
	}
}

// ZIP tells where the middle of a ZIP code area is.
func ZIP(code int) (commerce.Point, bool) {
	i := firstZIP(code)
	if i == len(zips)/rowBytes || rowAt(zips, i).key() != code {
		return commerce.Point{}, false
	}
	return rowAt(zips, i).point(), true
}

// Area is the middle of all ZIP codes that begin with the same three digits. A
// code that is not between two of them is not in use: 99999.
func Area(code int) (commerce.Point, bool) {
	var sum commerce.Point
	first, end := firstZIP(code/100*100), firstZIP(code/100*100+100)
	if at := firstZIP(code); at == end || rowAt(zips, first).key() > code {
		return sum, false
	}
	for i := first; i < end; i++ {
		p := rowAt(zips, i).point()
		sum.Lat, sum.Lng = sum.Lat+p.Lat, sum.Lng+p.Lng
	}
	n := float64(end - first)
	return commerce.Point{Lat: sum.Lat / n, Lng: sum.Lng / n}, true
}

func firstZIP(code int) int {
	return sort.Search(len(zips)/rowBytes, func(i int) bool { return rowAt(zips, i).key() >= code })
}

// ZIPs calls f for every ZIP code.
func ZIPs(f func(code int, p commerce.Point)) {
	for i := range len(zips) / rowBytes {
		f(rowAt(zips, i).key(), rowAt(zips, i).point())
	}
}

// City tells where the middle of a city is. The state is a code as State gives
// it, the name as Fold writes it.
func City(state, name string) (commerce.Point, bool) {
	var space [64]byte
	key := AppendKey(append(space[:0], state...), name)
	n := rowAt(cities, 0).key()
	i, found := sort.Find(n, func(i int) int { return compare(key, cityName(i)) })
	if !found {
		return commerce.Point{}, false
	}
	return rowAt(cities, 1+i).point(), true
}

// cityName is the key of a city. Rows hold where it begins among the names,
// which come after all rows.
func cityName(i int) string {
	n := rowAt(cities, 0).key()
	names := cities[(1+n)*rowBytes:]
	end := len(names)
	if i+1 < n {
		end = rowAt(cities, 2+i).key()
	}
	return names[rowAt(cities, 1+i).key():end]
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
