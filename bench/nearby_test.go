package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
	"purveyor/internal/web"
)

// Searches for nearby stores among 100,000, through the whole chain of handlers
// and the real engine, without sockets and without a real geocoder.

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
	"New York":   {Lat: 40.75, Lng: -73.98},   // where stores are most
	"Morristown": {Lat: 40.797, Lng: -74.481}, // beside it
	"Albany":     {Lat: 42.65, Lng: -73.75},   // a town
}

const nearbyStores = 100_000

func newNearby(b *testing.B, engine storage.Engine) (http.Handler, string) {
	b.Helper()
	committer := commit.New(engine, commit.Options{})
	b.Cleanup(func() {
		committer.Close()
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	storagetest.SaveStores(b, engine, storagetest.Spread(nearbyStores, rand.New(rand.NewPCG(1, 1))))
	key := commerce.Live.NewKey([20]byte{1})
	_, err := commit.Do(context.Background(), committer, command.CreatePartner{
		Partner: commerce.Partner{ID: "ptn_bench", Name: "Bench", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1 << 40},
		Keys:    []commerce.APIKey{{PartnerID: "ptn_bench", Mode: commerce.Live, Hash: commerce.HashKey(key)}}})
	if err != nil {
		b.Fatal(err)
	}
	handler := api.New(engine, committer, api.Options{Geocoder: searched}).Handler()
	return web.Trace(env.Env{}, slog.New(slog.NewTextHandler(io.Discard, nil)), handler), key
}

func benchmarkNearby(b *testing.B, engine storage.Engine) {
	handler, key := newNearby(b, engine)
	for _, options := range []string{``, `,"fulfillment_type":"pickup"`, `,"max_distance_miles":100`, `,"max_distance_miles":100,"limit":300`,
		`,"max_distance_miles":100,"limit":300,"active":false`} {
		for at := range searched {
			b.Run(at+strings.NewReplacer(`"`, "", ":", "=", ",", "/").Replace(options), func(b *testing.B) {
				body := []byte(`{"delivery_address":"` + at + `"` + options + `}`)
				w := &nowhere{header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequest(http.MethodPost, "/v1/stores/nearby", bytes.NewReader(body))
					r.Header.Set("X-Api-Key", key)
					w.reset()
					handler.ServeHTTP(w, r)
					if w.status != http.StatusOK {
						b.Fatalf("status %d", w.status)
					}
				}
				b.ReportMetric(float64(w.bytes), "body-bytes")
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
