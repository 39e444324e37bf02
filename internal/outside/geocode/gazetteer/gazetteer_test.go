package gazetteer

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"purveyor/internal/commerce"
)

func TestTables(t *testing.T) {
	if size := len(zips) + len(cities); size > 1<<20 {
		t.Errorf("the tables take %d bytes of the program", size)
	}
	valid := func(p commerce.Place) bool {
		return p.Valid() && p.RadiusMiles >= commerce.MinAreaMiles && p.RadiusMiles <= commerce.MaxAreaMiles
	}
	codes := 0
	previous := -1
	ZIPs(func(code int, p commerce.Place) {
		if code <= previous || code > 99_999 || !valid(p) {
			t.Errorf("%05d after %05d: %+v", code, previous, p)
		}
		previous = code
		codes++
		if at, ok := ZIP(code); !ok || at != p {
			t.Errorf("%05d is not found", code)
		}
	})
	named := cities.rows()
	if codes < 41_000 || named < 34_000 {
		t.Errorf("%d codes, %d cities", codes, named)
	}
	perState := map[string]int{}
	for i := range named {
		key := cities.name(i)
		if len(key) < 3 || i > 0 && key <= cities.name(i-1) || !valid(cities.at(i).place()) {
			t.Errorf("city %d is %q: %+v", i, key, cities.at(i).place())
		}
		if at, ok := City(key[:2], key[2:]); !ok || at != cities.at(i).place() {
			t.Errorf("%q is not found", key)
		}
		perState[key[:2]]++
	}
	all := slices.Compact(slices.Sorted(maps.Values(states)))
	if known := slices.Sorted(maps.Keys(perState)); !slices.Equal(known, all) || len(all) != 50+1+5 {
		t.Errorf("cities are of %v", known)
	}
}

// Most of the United States lies between these parallels and meridians, which a table
// with swapped columns would not.
func TestTablesAreOfTheStates(t *testing.T) {
	outside := 0
	ZIPs(func(_ int, p commerce.Place) {
		if p.Lat < 24 || p.Lat > 50 || p.Lng < -125 || p.Lng > -66 {
			outside++
		}
	})
	if outside < 400 || outside > 700 { // Alaska, Hawaii and the islands
		t.Errorf("%d codes are elsewhere", outside)
	}
}

func TestArea(t *testing.T) {
	for code, known := range map[int]bool{10220: true, 94165: true, 94102: true, 0: false, 99999: false, 100_000: false, -1: false, 12: false} {
		p, ok := Area(code)
		if ok != known || !p.Valid() {
			t.Errorf("%05d: %+v, %v", code, p, ok)
		}
		if at, found := ZIP(code); found && at.MilesTo(p) > 20 {
			t.Errorf("%05d is %.1f miles from its area", code, at.MilesTo(p))
		}
	}
}

func TestFold(t *testing.T) {
	for text, folded := range map[string]string{
		"350 5th Ave, New York,\tNY 10118\r\n": "350 5th ave,new york,ny 10118",
		" , St. Louis ,, MO. ":                 "st louis,mo",
		"Coeur d'Alene; D.C.":                  "coeur dalene,dc",
		"1.5 Main – #4/B":                      "1 5 main 4 b",
		"Łódź Ærø İzmir Œuvre ŒŸſ":             "lodz aro izmir ouvre oys",
		"Hagåtña ‘Ewa Lāʻie Ke\u0301a’au":      "hagatna ewa laie keaau",
		"½ ạ ９":                                "? ? ?",
		"\xff\x00a":                            "a",
		"":                                     "",
	} {
		if b, ok := Fold(nil, text); string(b) != folded || !ok {
			t.Errorf("%q is %q, %v", text, b, ok)
		}
	}
	for _, text := range []string{"Москва", "東京", "Oakland CA ב", "ไทย"} {
		if b, ok := Fold(nil, text); ok {
			t.Errorf("%q is %q", text, b)
		}
	}
	if b, _ := Fold([]byte("1 main st"), "Oakland"); string(b) != "1 main st,oakland" {
		t.Errorf("a part is appended as %q", b)
	}
	if len([]rune(latin)) != 0x180-0xC0 {
		t.Errorf("%d base letters", len(latin))
	}
}

// The radius of every five hundredth ZIP code is 0.6 times the mean distance to the
// four nearest centres, from 1 to 10 miles. The table rounds points to about 5 m, and
// radii to a tenth of a mile.
func TestRadiusOfZIPs(t *testing.T) {
	type entry struct {
		code int
		commerce.Place
	}
	var all []entry
	ZIPs(func(code int, p commerce.Place) { all = append(all, entry{code, p}) })
	for i := 0; i < len(all); i += 500 {
		distances := make([]float64, 0, len(all))
		for k, other := range all {
			if k != i {
				distances = append(distances, all[i].MilesTo(other.Point))
			}
		}
		slices.Sort(distances)
		mean := (distances[0] + distances[1] + distances[2] + distances[3]) / 4
		if want := min(max(0.6*mean, 1), 10); math.Abs(all[i].RadiusMiles-want) > 0.06 {
			t.Errorf("%05d reaches %.1f miles, want %.2f", all[i].code, all[i].RadiusMiles, want)
		}
	}
}

// A city reaches to the farthest centre of its ZIP codes. Austin exceeds the largest
// radius.
func TestRadiusOfCities(t *testing.T) {
	for city, want := range map[string]float64{"TXaustin": 10, "NYtroy": 6, "NYalbany": 5.7, "CAalameda": 2.5, "TXpflugerville": 1.5} {
		if p, ok := City(city[:2], city[2:]); !ok || math.Abs(p.RadiusMiles-want) > 0.01 {
			t.Errorf("%s reaches %v miles, want %v", city, p.RadiusMiles, want)
		}
	}
}

// Packed places are found again.
func TestPack(t *testing.T) {
	place := rapid.Custom(func(t *rapid.T) commerce.Place {
		return commerce.Place{Point: commerce.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")},
			RadiusMiles: rapid.Float64Range(commerce.MinAreaMiles, commerce.MaxAreaMiles).Draw(t, "radius")}
	})
	same := func(a, b commerce.Place) bool {
		return a.Valid() && math.Abs(a.Lat-b.Lat) < 5e-5 && math.Abs(a.Lng-b.Lng) < 5e-5 && math.Abs(a.RadiusMiles-b.RadiusMiles) < 0.0501
	}
	rapid.Check(t, func(t *rapid.T) {
		codes := rapid.MapOfN(rapid.IntRange(0, 99_999), place, 0, 20).Draw(t, "zips")
		packed := zipTable(PackZIPs(codes))
		for code, p := range codes {
			if got, ok := packed.find(code); !ok || !same(got, p) {
				t.Fatalf("%05d at %+v came back as %+v, %v", code, p, got, ok)
			}
			if _, other := codes[code+1]; !other {
				if got, ok := packed.find(code + 1); ok {
					t.Fatalf("%05d was never packed and is at %+v", code+1, got)
				}
			}
		}
		names := rapid.MapOfN(rapid.StringMatching(`[A-Z]{2}[a-z0-9]{1,12}`), place, 0, 20).Draw(t, "cities")
		towns := cityTable(PackCities(names))
		if towns.rows() != len(names) {
			t.Fatalf("%d cities became %d", len(names), towns.rows())
		}
		for name, p := range names {
			if got, ok := towns.find([]byte(name)); !ok || !same(got, p) {
				t.Fatalf("%s at %+v came back as %+v, %v", name, p, got, ok)
			}
			if _, other := names[name+"x"]; !other {
				if got, ok := towns.find([]byte(name + "x")); ok {
					t.Fatalf("%sx was never packed and is at %+v", name, got)
				}
			}
		}
	})
}
