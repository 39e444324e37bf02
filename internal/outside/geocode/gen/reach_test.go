package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"purveyor/internal/commerce"
)

// A degree of latitude is 69.09 miles. The southern ZIP code has neighbours at 2, 4,
// 6 and 8 miles, 5 on average.
func TestZIPAreas(t *testing.T) {
	points := map[int]commerce.Point{}
	for i := range 6 {
		points[10_000+i] = commerce.Point{Lat: 40 + float64(2*i)/69.0933, Lng: -100}
	}
	areas := zipAreas(points)
	if got := areas[10_000].RadiusMiles; math.Abs(got-0.6*5) > 0.01 {
		t.Errorf("the one in the south reaches %v miles", got)
	}
	if got := areas[10_002].RadiusMiles; math.Abs(got-0.6*3) > 0.01 { // 2, 2, 4, 4
		t.Errorf("the one in the middle reaches %v miles", got)
	}
	for _, apart := range []float64{0.1, 100} {
		for code, p := range points {
			points[code] = commerce.Point{Lat: 40 + float64(code-10_000)*apart/69.0933, Lng: -100}
			_ = p
		}
		want := map[float64]float64{0.1: 1, 100: 10}[apart]
		for code, a := range zipAreas(points) {
			if a.RadiusMiles != want {
				t.Errorf("%d of those that are %v miles apart reaches %v", code, apart, a.RadiusMiles)
			}
		}
	}
}

func TestCityAreas(t *testing.T) {
	at := func(miles float64) commerce.Point { return commerce.Point{Lat: 40 + miles/69.0933, Lng: -100} }
	zips := map[int]commerce.Point{10_000: at(1), 10_001: at(-4), 10_002: at(13), 10_003: at(60)}
	areas := cityAreas(map[string]commerce.Point{"NYtown": at(0), "NYone": at(1), "NYwide": at(30), "NYhamlet": at(16)},
		map[string][]commerce.Point{"NYtown": {at(1), at(-4)}, "NYone": {at(1)}, "NYwide": {at(13), at(60)}}, zips)
	for city, want := range map[string]float64{"NYtown": 4, "NYone": 1, "NYwide": 10, "NYhamlet": 3} { // the hamlet's mail goes to 10002
		if got := areas[city].RadiusMiles; math.Abs(got-want) > 0.01 {
			t.Errorf("%s reaches %v miles, want %v", city, got, want)
		}
	}
}

// nearest finds the same points as a search through all of them.
func TestNearest(t *testing.T) {
	point := rapid.Custom(func(t *rapid.T) commerce.Point {
		return commerce.Point{Lat: rapid.Float64Range(-60, 60).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
	})
	rapid.Check(t, func(t *rapid.T) {
		points := map[int]commerce.Point{}
		for i, p := range rapid.SliceOfN(point, 1, 60).Draw(t, "points") {
			points[i] = p
		}
		to, n := point.Draw(t, "to"), rapid.IntRange(1, 5).Draw(t, "n")
		var want []float64
		for _, p := range points {
			want = append(want, to.MilesTo(p))
		}
		slices.Sort(want)
		if got := newField(points).nearest(to, n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
