package api_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
)

// atlas places what the benchmark asks for, at no cost.
type atlas map[string]commerce.Point

func (a atlas) Find(_ context.Context, q geocode.Query) (geocode.Place, error) {
	p, known := a[q.Text]
	if !known {
		return geocode.Place{}, geocode.ErrNotFound
	}
	return geocode.Place{Point: p, Precision: geocode.Rooftop}, nil
}

var searched = atlas{
	"New York":   {Lat: 40.75, Lng: -73.98},   // the densest stores
	"Morristown": {Lat: 40.797, Lng: -74.481}, // beside it
	"Albany":     {Lat: 42.65, Lng: -73.75},   // a town
}

// benchmarkNearby searches among 100,000 stores, through the whole chain of
// handlers and the real engine, without sockets and without a real geocoder.
func benchmarkNearby(b *testing.B, engine storage.Engine) {
	c := newChain(b, engine, service.Options{Geocoder: searched})
	storagetest.SaveStores(b, engine, storagetest.Spread(100_000, rand.New(rand.NewPCG(1, 1))))
	for _, options := range []string{``, `,"fulfillment_type":"pickup"`, `,"max_distance_miles":100`, `,"max_distance_miles":100,"limit":300`,
		`,"max_distance_miles":100,"limit":300,"active":false`} {
		for at := range searched {
			b.Run(at+strings.NewReplacer(`"`, "", ":", "=", ",", "/").Replace(options), func(b *testing.B) {
				body := []byte(`{"delivery_address":"` + at + `"` + options + `}`)
				b.ReportAllocs()
				for b.Loop() {
					c.serve(b, &c.response, c.request("POST", "/v1/stores/nearby", body), 200)
				}
				b.ReportMetric(float64(c.response.bytes), "body-bytes")
			})
		}
	}
}

func BenchmarkNearbySQLite(b *testing.B) {
	engine, err := sqlite.Open(filepath.Join(b.TempDir(), "purveyor.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkNearby(b, engine)
}

func BenchmarkNearbyPostgreSQL(b *testing.B) {
	engine, err := postgres.Open(database.Postgres(b), postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkNearby(b, engine)
}
