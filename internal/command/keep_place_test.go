package command

import (
	"testing"

	"purveyor/internal/commerce"
)

func TestKeepPlace(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	found := commerce.GeocodedAddress{Address: "00ff", At: commerce.Point{Lat: 37.75, Lng: -122.25}, Precision: "range", Source: "census"}
	elsewhere, better, by := found, found, found
	elsewhere.At.Lat, better.Precision, by.Source = 37.76, "rooftop", "nominatim"
	for _, c := range []struct {
		name   string
		stored []commerce.GeocodedAddress
		age    int64
		keeps  bool
	}{
		{"new", nil, 0, true},
		{"known", []commerce.GeocodedAddress{found}, 0, false},
		{"known for half a year", []commerce.GeocodedAddress{found}, 180 * day, false},
		{"known for longer", []commerce.GeocodedAddress{found}, 180*day + 1, true},
		{"found in the future, by a clock that was wrong", []commerce.GeocodedAddress{found}, -2 * day, true},
		{"another place", []commerce.GeocodedAddress{elsewhere}, 0, true},
		{"known better", []commerce.GeocodedAddress{better}, 0, true},
		{"found by another", []commerce.GeocodedAddress{by}, 0, true},
	} {
		cmd := KeepPlace{found}
		for i := range c.stored {
			c.stored[i].FoundOn = now - commerce.Millis(c.age)
		}
		rows := fill(cmd.Needs(), commerce.Changes{Places: c.stored})
		kept, changes, err := cmd.Decide(rows, now)
		want := found
		want.FoundOn = now
		if err != nil || kept != c.keeps || kept != (len(changes.Places) == 1) || kept && changes.Places[0] != want {
			t.Errorf("%s: %v, %+v, %v", c.name, kept, changes, err)
		}
	}
}
