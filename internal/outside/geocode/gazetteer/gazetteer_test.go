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
	codes := 0
	previous := -1
	ZIPs(func(code int, p commerce.Point) {
		if code <= previous || code > 99_999 || !p.Valid() {
			t.Errorf("%05d after %05d: %+v", code, previous, p)
		}
		previous = code
		codes++
		if at, ok := ZIP(code); !ok || at != p {
			t.Errorf("%05d is not found", code)
		}
	})
	named := rowAt(cities, 0).key()
	if codes < 41_000 || named < 34_000 {
		t.Errorf("%d codes, %d cities", codes, named)
	}
	perState := map[string]int{}
	for i := range named {
		key := cityName(i)
		if len(key) < 3 || i > 0 && key <= cityName(i-1) || !rowAt(cities, 1+i).point().Valid() {
			t.Errorf("city %d is %q", i, key)
		}
		if at, ok := City(key[:2], key[2:]); !ok || at != rowAt(cities, 1+i).point() {
			t.Errorf("%q is not found", key)
		}
		perState[key[:2]]++
	}
	all := slices.Compact(slices.Sorted(maps.Values(states)))
	if known := slices.Sorted(maps.Keys(perState)); !slices.Equal(known, all) || len(all) != 50+1+5 {
		t.Errorf("cities are of %v", known)
	}
}

// Most of the United States is between these parallels and meridians: a table
// that was made of swapped columns is not.
func TestTablesAreOfTheStates(t *testing.T) {
	outside := 0
	ZIPs(func(_ int, p commerce.Point) {
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

// What is packed is found again, at its place.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := commerce.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		key := rapid.IntRange(0, 1<<19-1).Draw(t, "key")
		r := rowAt(string(appendRow(nil, newRow(key, p))), 0)
		if at := r.point(); r.key() != key || math.Abs(at.Lat-p.Lat) > 5e-5 || math.Abs(at.Lng-p.Lng) > 5e-5 || !at.Valid() {
			t.Fatalf("%d %+v became %d %+v", key, p, r.key(), at)
		}
	})
}
