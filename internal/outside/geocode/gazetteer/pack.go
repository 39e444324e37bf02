package gazetteer

import (
	"encoding/binary"
	"maps"
	"slices"

	"purveyor/internal/commerce"
)

// PackZIPs makes the table of ZIP codes.
func PackZIPs(points map[int]commerce.Point) []byte {
	var table []byte
	for _, code := range slices.Sorted(maps.Keys(points)) {
		table = appendRow(table, newRow(code, points[code]))
	}
	return table
}

// PackCities makes the table of cities, by their keys: the state's code and
// what AppendKey makes of the name. Its first row holds how many there are.
func PackCities(points map[string]commerce.Point) []byte {
	table := appendRow(nil, newRow(len(points), commerce.Point{}))
	var names []byte
	for _, key := range slices.Sorted(maps.Keys(points)) {
		table = appendRow(table, newRow(len(names), points[key]))
		names = append(names, key...)
	}
	return append(table, names...)
}

func appendRow(table []byte, r row) []byte { return binary.BigEndian.AppendUint64(table, uint64(r)) }
