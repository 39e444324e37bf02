package geocode

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode/gazetteer"
)

func TestOfflineText(t *testing.T) {
	sanFrancisco, newYork, oakland := commerce.Point{Lat: 37.78, Lng: -122.42}, commerce.Point{Lat: 40.75, Lng: -73.99}, commerce.Point{Lat: 37.80, Lng: -122.25}
	for _, c := range []struct {
		text      string
		precision Precision
		near      commerce.Point
		miles     float64
	}{
		{"94102", ZIP, sanFrancisco, 1},
		{" 94102-1234 ", ZIP, sanFrancisco, 1},
		{"941021234", ZIP, sanFrancisco, 1},
		{"94102 1234, USA", ZIP, sanFrancisco, 1},
		{"99503", ZIP, commerce.Point{Lat: 61.19, Lng: -149.89}, 2}, // Anchorage, which the Census places in the wilderness
		{"CA 94102", ZIP, sanFrancisco, 1},
		{"94102 CA", ZIP, sanFrancisco, 1},
		{"350 5th Ave, New York, NY 10118", ZIP, newYork, 1},
		{"350 5th Ave, New York, NY 10118, USA", ZIP, newYork, 1},
		{"350 5th Ave\nNew York, NY 10118\nUnited States", ZIP, newYork, 1},
		{"350 5th Ave, New York, NY, 10118, U.S.A.", ZIP, newYork, 1},
		{"350 5th Ave, New York, NY", City, newYork, 5},
		{"350 5th Ave New York NY", City, newYork, 5},
		{"350 5th Ave, New York, New York", City, newYork, 5},
		{"new york ny", City, newYork, 5},
		{"new york ny 10220", City, newYork, 5}, // no such ZIP code
		{"NEW YORK, N.Y.", City, newYork, 5},
		{"10220", Area, newYork, 8},
		{"Brooklyn, NY", City, commerce.Point{Lat: 40.65, Lng: -73.95}, 3},
		{"Oakland, CA", City, oakland, 4},
		{"Oakland, California", City, oakland, 4},
		{"Oakland, California, United States of America", City, oakland, 4},
		{"oakland ca usa", City, oakland, 4},
		{"94612 Oakland, CA", City, oakland, 4},
		{"Oakland, MD", City, commerce.Point{Lat: 39.41, Lng: -79.41}, 3},
		{"St. Louis, MO", City, commerce.Point{Lat: 38.63, Lng: -90.2}, 5},
		{"Saint Louis, Missouri", City, commerce.Point{Lat: 38.63, Lng: -90.2}, 5},
		{"St.Louis MO", City, commerce.Point{Lat: 38.63, Lng: -90.2}, 5},
		{"O'Fallon, IL", City, commerce.Point{Lat: 38.59, Lng: -89.91}, 5},
		{"O Fallon IL", City, commerce.Point{Lat: 38.59, Lng: -89.91}, 5},
		{"Winston-Salem, NC", City, commerce.Point{Lat: 36.1, Lng: -80.25}, 5},
		{"Ft. Worth, Texas", City, commerce.Point{Lat: 32.75, Lng: -97.33}, 5},
		{"N. Hollywood, CA", City, commerce.Point{Lat: 34.17, Lng: -118.38}, 4},
		{"Cañon City, CO", City, commerce.Point{Lat: 38.44, Lng: -105.23}, 5},
		{"Can\u0303on City, CO", City, commerce.Point{Lat: 38.44, Lng: -105.23}, 5},
		{"Canon City, CO", City, commerce.Point{Lat: 38.44, Lng: -105.23}, 5},
		{"Charleston, West Virginia", City, commerce.Point{Lat: 38.35, Lng: -81.63}, 5},
		{"Charleston West Virginia", City, commerce.Point{Lat: 38.35, Lng: -81.63}, 5},
		{"Washington DC", City, commerce.Point{Lat: 38.9, Lng: -77.03}, 3},
		{"1600 Pennsylvania Ave NW, Washington, D.C. 20500", ZIP, commerce.Point{Lat: 38.9, Lng: -77.03}, 3},
		{"Washington, District of Columbia", City, commerce.Point{Lat: 38.9, Lng: -77.03}, 3},
		{"Mayagüez, Puerto Rico", City, commerce.Point{Lat: 18.2, Lng: -67.14}, 3},
		{"San Juan, PR 00901", ZIP, commerce.Point{Lat: 18.466, Lng: -66.1}, 3},
		{"San Juan, PR 00901, Puerto Rico", ZIP, commerce.Point{Lat: 18.466, Lng: -66.1}, 3},
		{"Hagåtña, Guam", City, commerce.Point{Lat: 13.475, Lng: 144.749}, 3},
		{"Charlotte Amalie, U.S. Virgin Islands", City, commerce.Point{Lat: 18.34, Lng: -64.93}, 3},
		{"Pago Pago, AS 96799", ZIP, commerce.Point{Lat: -14.28, Lng: -170.7}, 12},
		{"Saipan, MP 96950", ZIP, commerce.Point{Lat: 15.19, Lng: 145.75}, 6},
	} {
		p, err := Offline{}.Find(t.Context(), Text(c.text))
		if err != nil || p.Precision != c.precision || p.MilesTo(c.near) > c.miles {
			t.Errorf("%q: %+v, %v; %.1f miles off", c.text, p, err, p.MilesTo(c.near))
		}
	}
}

func TestOfflineKnowsNoSuchText(t *testing.T) {
	for _, text := range []string{
		"", " ", ",", ", , ,", "-", "0", "?", "00000", "99999", "123456", "1234", "94102x", "941021234 1234", "94 102", "1234 1234",
		"Oakland", "350 5th Ave", "CA", "California", "USA", "NY, USA", "Nowhere At All, CA", "Oakland, NY 00000",
		"Middle of the Atlantic Ocean", "0, 0", "Null Island",
		"10115 Berlin, Germany", "75001 Paris, France", "28013 Madrid, España", "Toronto, ON M5V 2T6, Canada", "Toronto, ON, Canada",
		"Av. Reforma 1, 06600 Ciudad de México, Mexico", "London SW1A 1AA, United Kingdom", "94102 Canada", "Tbilisi, Georgia",
		"東京都千代田区 10118", "ул. Ленина 1, Москва 94102", "서울특별시 04524", "קליפורניה 94102", "Oakland, كاليفورنيا",
		"９４１０２", "PSC 1, APO, AE 09001", "\x00", "\xff\xfe", "94102\xff1234\xff5",
		strings.Repeat("a", 10_000), strings.Repeat(" ", 10_000) + "94102", strings.Repeat("Oakland, CA ", 1000), strings.Repeat(",", 10_000),
	} {
		if p, err := (Offline{}).Find(t.Context(), Text(text)); !errors.Is(err, ErrNotFound) || p != (Place{}) {
			t.Errorf("%.60q: %+v, %v", text, p, err)
		}
	}
}

func TestOfflineParts(t *testing.T) {
	sanFrancisco, sanJuan := commerce.Point{Lat: 37.78, Lng: -122.42}, commerce.Point{Lat: 18.45, Lng: -66.07}
	for _, c := range []struct {
		address   commerce.Address
		precision Precision
		near      commerce.Point
	}{
		{commerce.Address{PostalCode: "94102"}, ZIP, sanFrancisco},
		{commerce.Address{PostalCode: "94102-1234", Country: "US"}, ZIP, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", Line2: "Apt 10118", City: "San Francisco", State: "CA", PostalCode: "94102", Country: "usa"}, ZIP, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "San Francisco", State: "California", Country: "United States"}, City, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "San Francisco", State: "ca", PostalCode: "94099", Country: "U.S."}, City, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "San Francisco", State: "ca", PostalCode: "unknown", Country: "United States of America"}, City, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "San Francisco, CA"}, City, sanFrancisco},
		{commerce.Address{Line1: "1 Main St, San Francisco, CA 94102"}, ZIP, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "San Francisco", PostalCode: "94102"}, ZIP, sanFrancisco},
		{commerce.Address{Line1: "1 Main St", City: "Nowhere At All", State: "CA", PostalCode: "94165"}, Area, sanFrancisco},
		{commerce.Address{City: "San Juan", Country: "Puerto Rico"}, City, sanJuan},
		{commerce.Address{City: "San Juan", Country: "PR"}, City, sanJuan},
		{commerce.Address{City: "San Juan", State: "PR", PostalCode: "00901", Country: "PR"}, ZIP, sanJuan},
		{commerce.Address{City: "San Juan", State: "Puerto Rico", Country: "US"}, City, sanJuan},
	} {
		p, err := Offline{}.Find(t.Context(), Parts(c.address))
		if err != nil || p.Precision != c.precision || p.MilesTo(c.near) > 6 {
			t.Errorf("%+v: %+v, %v; %.1f miles off", c.address, p, err, p.MilesTo(c.near))
		}
	}
	for _, a := range []commerce.Address{
		{},
		{Country: "US"},
		{Line1: "1 Main St"},
		{State: "CA"},
		{City: "Oakland"},
		{City: "Ontario", State: "ON", PostalCode: "94102", Country: "CA"},
		{City: "Ontario", Country: "CA"}, // Canada
		{City: "Berlin", PostalCode: "10118", Country: "DE"},
		{City: "Berlin", PostalCode: "10118", Country: "Germany"},
		{PostalCode: "94102", Country: "Georgia"},
		{PostalCode: "94102", Country: "New York"},
		{PostalCode: "94102", Country: "日本"},
		{City: "東京", PostalCode: "94102"},
		{PostalCode: "９４１０２"},
		{PostalCode: "SW1A 1AA"},
		{Line1: strings.Repeat("x", 10_000), PostalCode: "94102"},
	} {
		if p, err := (Offline{}).Find(t.Context(), Parts(a)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%.200v: %+v, %v", a, p, err)
		}
	}
}

// A name of one state is never found in another.
func TestOfflineKeepsStatesApart(t *testing.T) {
	for text, state := range map[string]string{
		"Honolulu": "HI", "Anchorage": "AK", "Chicago": "IL", "Las Vegas": "NV", "Boston": "MA",
	} {
		found := 0
		for _, other := range []string{"CT", "DE", "RI", "DC", "GU", "VT"} {
			if p, err := (Offline{}).Find(t.Context(), Text(text+", "+other)); err == nil {
				t.Errorf("%s, %s: %+v", text, other, p)
			}
		}
		if _, err := (Offline{}).Find(t.Context(), Text(text+", "+state)); err == nil {
			found++
		}
		if found != 1 {
			t.Errorf("%s, %s is not found", text, state)
		}
	}
	portlands := map[string]commerce.Point{"OR": {Lat: 45.52, Lng: -122.68}, "ME": {Lat: 43.66, Lng: -70.26}}
	for state, near := range portlands {
		if p, err := (Offline{}).Find(t.Context(), Text("Portland, "+state)); err != nil || p.MilesTo(near) > 5 {
			t.Errorf("Portland, %s: %+v, %v", state, p, err)
		}
	}
}

// Every ZIP code of the table is found, as text and in parts, whatever precedes it.
func TestOfflineFindsEveryZIP(t *testing.T) {
	type entry struct {
		text string
		at   commerce.Place
	}
	var all []entry
	gazetteer.ZIPs(func(code int, p commerce.Place) {
		all = append(all, entry{zipText(code), p})
	})
	if len(all) < 41_000 {
		t.Fatalf("%d ZIP codes", len(all))
	}
	is := func(q Query, e entry) bool {
		p, err := Offline{}.Find(context.Background(), q)
		return err == nil && p.Precision == ZIP && p.Valid() && abs(p.Lat-e.at.Lat) < 1e-3 && abs(p.Lng-e.at.Lng) < 1e-3
	}
	for _, e := range all {
		if !is(Text(e.text), e) || !is(Parts(commerce.Address{PostalCode: e.text}), e) {
			t.Errorf("%s is not found", e.text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(all).Draw(t, "entry")
		street := rapid.StringMatching(`[A-Za-z0-9#'.\- ]{0,40}`).Draw(t, "street")
		end := rapid.SampledFrom([]string{"", "-0000", ", USA", " us", ", United States"}).Draw(t, "end")
		if text := street + ", " + e.text + end; !is(Text(text), e) {
			t.Fatalf("%q is not found", text)
		}
	})
}

func zipText(code int) string {
	digits := []byte("00000")
	for i := 4; code > 0; i, code = i-1, code/10 {
		digits[i] += byte(code % 10)
	}
	return string(digits)
}

func abs(x float64) float64 { return max(x, -x) }

// FuzzOffline checks that no text makes Offline panic, and that a place is on earth,
// has one key, and is the same when asked for in parts.
func FuzzOffline(f *testing.F) {
	for _, text := range []string{"350 5th Ave, New York, NY 10118", "94102-1234", "st. louis mo usa", "Cañon City, CO", ", ,\xff,", "us", " us", ",us", "CA 94102 CA"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := Text(text)
		p, err := Offline{}.Find(t.Context(), q)
		if err != nil {
			if !errors.Is(err, ErrNotFound) || p != (Place{}) {
				t.Fatalf("%+v, %v", p, err)
			}
			return
		}
		if !p.Valid() || p.Precision.Exact() {
			t.Errorf("%q: %+v", text, p)
		}
		if again, err := (Offline{}).Find(t.Context(), Parts(commerce.Address{Line1: text})); err != nil || again != p {
			t.Errorf("%q: %+v in parts, %+v, %v", text, p, again, err)
		}
		if len(Key(q)) != 64 || Key(q) != Key(Text(strings.ToUpper(q.Text)+",")) && isASCII(text) {
			t.Errorf("%q: the key is %q", text, Key(q))
		}
	})
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

func BenchmarkOffline(b *testing.B) {
	for name, q := range map[string]Query{
		"ZIP":            Text("94102"),
		"text":           Text("350 5th Ave, New York, NY 10118"),
		"text_no_commas": Text("1000 North Martin Luther King Jr Boulevard Oklahoma City Oklahoma"),
		"city":           Text("Oakland, California, USA"),
		"parts":          Parts(commerce.Address{Line1: "350 5th Ave", City: "New York", State: "NY", PostalCode: "10118", Country: "US"}),
		"area":           Text("10220"),
		"unknown":        Text("1 Main St, Nowhere At All, CA"),
		"too_long":       Text(strings.Repeat("a", 10_000)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Offline{}.Find(b.Context(), q)
			}
		})
	}
}

// TestForReach checks how far an address may be from its place: 0 for a house, a mile
// for a street, and the table's radius for an area, or the largest one if it has
// none.
func TestForReach(t *testing.T) {
	at := commerce.Point{Lat: 42.65, Lng: -73.75}
	for want, places := range map[float64][]Place{
		0:   {{Point: at, Precision: Rooftop}, {Point: at, Precision: Range}},
		1:   {{Point: at, Precision: Street}},
		2.5: {{Point: at, Precision: ZIP, AreaMiles: 2.5}, {Point: at, Precision: City, AreaMiles: 2.5}},
		10:  {{Point: at, Precision: ZIP}, {Point: at, Precision: City}},
	} {
		for _, p := range places {
			if to := p.ForReach(); to == nil || to.Point != at || to.RadiusMiles != want {
				t.Errorf("%+v: %+v, want %v miles", p, to, want)
			}
		}
	}
	for _, precision := range []Precision{Area, "", "county"} {
		if to := (Place{Point: at, Precision: precision}).ForReach(); to != nil {
			t.Errorf("%q: %+v", precision, to)
		}
	}
	zip, err := Offline{}.Find(t.Context(), Text("Pflugerville, TX 78660"))
	if err != nil || zip.AreaMiles != 2.5 {
		t.Errorf("%+v, %v", zip, err)
	}
	city, err := Offline{}.Find(t.Context(), Text("Pflugerville, TX"))
	if err != nil || city.AreaMiles != 1.5 {
		t.Errorf("%+v, %v", city, err)
	}
}
