package gazetteer

import (
	"encoding/binary"
	"maps"
	"slices"

	"purveyor/internal/commerce"
)

// PackZIPs makes the table of ZIP codes.
func PackZIPs(places map[int]commerce.Place) []byte {
	var table []byte
	for _, code := range slices.Sorted(maps.Keys(places)) {
		table = appendRow(table, newRow(code, places[code]))
	}
	return table
}

// PackCities makes the table of cities, by their keys: the state's code and
// what AppendKey makes of the name. Its first row holds how many there are.
func PackCities(places map[string]commerce.Place) []byte {
	table := appendRow(nil, newRow(len(places), commerce.Place{}))
	var names []byte
	for _, key := range slices.Sorted(maps.Keys(places)) {
		table = appendRow(table, newRow(len(names), places[key]))
		names = append(names, key...)
	}
	return append(table, names...)
}

func appendRow(table []byte, r row) []byte {
	return append(binary.BigEndian.AppendUint64(table, r.packed), r.radius)
}
