package storagetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// metro is where many people live, and so many stores are.
type metro struct{ lat, lng, millions float64 }

var metros = []metro{
	{40.71, -74.01, 19.5}, {34.05, -118.24, 12.9}, {41.88, -87.63, 9.4}, {32.78, -96.80, 7.9}, {29.76, -95.37, 7.3}, {38.91, -77.04, 6.4},
	{39.95, -75.17, 6.2}, {33.75, -84.39, 6.2}, {25.76, -80.19, 6.1}, {33.45, -112.07, 5.0}, {42.36, -71.06, 4.9}, {33.95, -117.40, 4.7},
	{37.77, -122.42, 4.6}, {42.33, -83.05, 4.3}, {47.61, -122.33, 4.0}, {44.98, -93.27, 3.7}, {27.95, -82.46, 3.3}, {32.72, -117.16, 3.3},
	{39.74, -104.99, 3.0}, {39.29, -76.61, 2.8}, {38.63, -90.20, 2.8}, {28.54, -81.38, 2.8}, {35.23, -80.84, 2.8}, {29.42, -98.49, 2.7},
	{45.52, -122.68, 2.5}, {30.27, -97.74, 2.4}, {40.44, -80.00, 2.4}, {38.58, -121.49, 2.4}, {36.17, -115.14, 2.3}, {39.10, -84.51, 2.3},
	{39.10, -94.58, 2.2}, {39.96, -83.00, 2.2}, {41.50, -81.69, 2.2}, {39.77, -86.16, 2.1}, {36.16, -86.78, 2.1}, {36.85, -76.29, 1.8},
	{43.04, -87.91, 1.6}, {40.76, -111.89, 1.3}, {35.15, -90.05, 1.3}, {29.95, -90.07, 1.0}, {35.08, -106.65, 0.9}, {43.62, -116.20, 0.8},
}

// Spread gives stores about where people live in the United States: 85 of 100
// around cities, the denser the nearer, the others anywhere.
func Spread(n int, random *rand.Rand) []commerce.Store {
	total := 0.0
	for _, m := range metros {
		total += m.millions
	}
	list := make([]commerce.Store, n)
	for i := range list {
		lat, lng := 25+23*random.Float64(), -124+56*random.Float64()
		if random.Float64() < 0.85 {
			at := random.Float64() * total
			m := metros[slices.IndexFunc(metros, func(m metro) bool { at -= m.millions; return at <= 0 })]
			spread := 0.15 * math.Cbrt(m.millions) // degrees
			lat, lng = m.lat+spread*random.NormFloat64(), m.lng+spread*random.NormFloat64()
		}
		list[i] = commerce.Store{ID: fmt.Sprintf("sto_%06d", i), Name: fmt.Sprintf("Store %d", i), Slug: fmt.Sprintf("store-%d", i), Address: "1 Main St",
			City: "City", State: "ST", ZipCode: "12345", Active: true, Open: true, PickupEnabled: random.IntN(10) > 0, DeliveryEnabled: random.IntN(10) > 0,
			Lat: &lat, Lng: &lng, Email: "store@example.com", Phone: "+15185550100"}
		if random.IntN(10) > 0 {
			list[i].RadiusMiles = new(float64(2 + random.IntN(9)))
		}
	}
	return list
}

// SaveStores saves stores, and gives them the numbers that are next.
func SaveStores(t testing.TB, e storage.Engine, list []commerce.Store) {
	t.Helper()
	const batch = 5000
	for part := range slices.Chunk(list, batch) {
		needs := commerce.Needs{Lock: true, NextStoreNo: true}
		for _, s := range part {
			needs.Stores = append(needs.Stores, s.ID)
		}
		Change(t, e, needs, func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
			for i := range part {
				part[i].No, part[i].UpdatedOn = rows.NextStoreNo+int64(i), now
			}
			return commerce.Changes{Stores: part}
		})
	}
}

// sites looks for stores where it is easy and where it is hard, and compares
// with all stores filtered in Go.
func sites(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	list := Spread(400, rand.New(rand.NewPCG(5, 6)))
	for i, p := range [][2]float64{{90, 0}, {-90, 7}, {89.9, 100}, {0, 180}, {0.2, -180}, {-0.3, 179.6}, {40.7, -74}, {40.7, -74}} {
		list[i].Lat, list[i].Lng = &p[0], &p[1]
	}
	list[8].Lat, list[8].Lng = nil, nil
	for i := range list {
		list[i].Active = i%9 != 7
	}
	SaveStores(t, e, list)
	origins := [][2]float64{{90, -50}, {-89.9, 0}, {0, 179.9}, {0, -179.9}, {0, 180}, {40.7, -74}, {40.75, -74.2}, {36, -100}, {41.9, -87.6}, {-45, 10}}
	for _, p := range origins {
		at := commerce.Point{Lat: p[0], Lng: p[1]}
		for _, miles := range []float64{0.1, 30, 100, 1500} {
			for _, active := range []bool{true, false} {
				sameSites(t, e, list, at, miles, active)
			}
		}
	}
	if none, err := e.Reader().Sites(context.Background(), storage.SiteFilter{Active: true}); err != nil || len(none) > 0 {
		t.Errorf("no area has %v, %v", none, err)
	}
}

// sameSites checks that Sites returns every store of the list in the circle, and no store
// twice or from outside of the list.
func sameSites(t *testing.T, e storage.Engine, list []commerce.Store, at commerce.Point, miles float64, active bool) {
	t.Helper()
	got, err := e.Reader().Sites(context.Background(), storage.SiteFilter{Active: active, Area: commerce.StripsAround(at, miles)})
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]commerce.Site{}
	for _, s := range list {
		if site, known := s.Site(); known && s.Active == active {
			left[s.ID] = site
		}
	}
	for _, s := range got {
		if left[s.StoreID] != s {
			t.Errorf("within %v miles of %v: %+v, want %+v, once", miles, at, s, left[s.StoreID])
		}
		delete(left, s.StoreID)
	}
	for _, s := range left {
		if at.MilesTo(s.At) <= miles {
			t.Errorf("within %v miles of %v is missing: %+v", miles, at, s)
		}
	}
}

// moveStores: a store is found where it is now, from the moment it is saved.
func moveStores(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	list := Spread(1, rand.New(rand.NewPCG(7, 8)))
	move := func(p *commerce.Point, active bool) {
		list[0].Active, list[0].Lat, list[0].Lng = active, nil, nil
		if p != nil {
			list[0].Lat, list[0].Lng = &p.Lat, &p.Lng
		}
		Change(t, e, commerce.Needs{Lock: true, Stores: []string{list[0].ID}}, func(_ *commerce.Rows, now commerce.Millis) commerce.Changes {
			list[0].UpdatedOn = now
			return commerce.Changes{Stores: list}
		})
	}
	SaveStores(t, e, list)
	list[0].No = 1
	here, there := commerce.Point{Lat: 10, Lng: 10}, commerce.Point{Lat: 10.01, Lng: 10.02}
	for _, step := range []struct {
		to     *commerce.Point
		active bool
	}{{&here, true}, {&there, true}, {&there, false}, {&here, false}, {&here, true}, {nil, true}, {&there, true}} {
		move(step.to, step.active)
		for _, at := range []commerce.Point{here, there} {
			for _, active := range []bool{true, false} {
				sameSites(t, e, list, at, 0.1, active)
				sameSites(t, other, list, at, 0.1, active)
			}
		}
	}
}

// BenchmarkSites measures what a search for nearby stores reads, among 100,000
// stores: around New York, where they are most, and around a town.
func BenchmarkSites(b *testing.B, db Database) {
	e := db.Open(b, time.Now)
	const stores = 100_000
	SaveStores(b, e, Spread(stores, rand.New(rand.NewPCG(1, 1))))
	for _, place := range []struct {
		name string
		at   commerce.Point
	}{{"NewYork", commerce.Point{Lat: 40.75, Lng: -73.98}}, {"Albany", commerce.Point{Lat: 42.65, Lng: -73.75}}} {
		for _, miles := range []float64{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%vmiles", place.name, miles), func(b *testing.B) {
				f := storage.SiteFilter{Active: true, Area: commerce.StripsAround(place.at, miles)}
				found := 0
				b.ReportAllocs()
				for b.Loop() {
					list, err := e.Reader().Sites(context.Background(), f)
					if err != nil {
						b.Fatal(err)
					}
					found = len(list)
				}
				b.ReportMetric(float64(found), "stores")
			})
		}
	}
}
