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

// PackCities makes the table of cities from their keys: the state's code and the
// result of AppendKey. Its first row holds the number of cities.
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
