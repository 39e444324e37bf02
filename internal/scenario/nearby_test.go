package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
)

// places is a geocoder that knows the addresses of the transcripts, by their text, or
// otherwise by postal code or street.
type places map[string]geocode.Place

var atlas = places{
	"12207":                {Point: commerce.Point{Lat: 42.65, Lng: -73.75}, Precision: geocode.ZIP},
	"2 Elm St, Albany, NY": {Point: commerce.Point{Lat: 42.65, Lng: -73.75}, Precision: geocode.Rooftop},
	"2 Elm St":             {Point: commerce.Point{Lat: 42.65, Lng: -73.75}, Precision: geocode.Street},
	"Uelen":                {Point: commerce.Point{Lat: 66.16, Lng: -179.99}, Precision: geocode.City},
	"Pole":                 {Point: commerce.Point{Lat: 90, Lng: 0}, Precision: geocode.Area},
}

const (
	noAnswer = "a town behind the mountains"
	nonsense = "a town below the sea"
)

// Find implements geocode.Geocoder.
func (p places) Find(_ context.Context, q geocode.Query) (geocode.Place, error) {
	asked := cmp.Or(q.Text, strings.Trim(q.Address.PostalCode, "-"), q.Address.Line1)
	if asked == noAnswer {
		return geocode.Place{}, errors.New(secret)
	}
	if asked == nonsense {
		return geocode.Place{Point: commerce.Point{Lat: math.NaN(), Lng: 400}}, nil
	}
	place, known := p[asked]
	if !known {
		return place, geocode.ErrNotFound
	}
	return place, nil
}

// The stores of "around" are north of 42.65, -73.75: a tenth of a degree is 6.909
// miles.
func init() {
	around := func(id string, lat, lng float64, change func(*command.ImportStore)) command.ImportStore {
		s := command.ImportStore{ID: id, Name: "Market " + id[4:], City: new("Albany"), State: new("NY"), Lat: new(lat), Lng: new(lng)}
		change(&s)
		return s
	}
	catalogs["around"] = command.ImportCatalog{Stores: []command.ImportStore{
		around("sto_corner", 42.65, -73.75, func(s *command.ImportStore) {
			s.Address, s.ZipCode, s.Slug, s.RadiusMiles = new("1 Elm St"), new("12207"), new("corner"), new(0.5)
		}),
		around("sto_mile", 42.67, -73.75, func(s *command.ImportStore) { s.Open = new(false) }),
		around("sto_short", 42.68, -73.75, func(s *command.ImportStore) { s.RadiusMiles = new(2.0) }),
		around("sto_window", 42.69, -73.75, func(s *command.ImportStore) { s.DeliveryEnabled, s.RadiusMiles = new(false), new(5.0) }),
		around("sto_kitchen", 42.7, -73.75, func(s *command.ImportStore) { s.PickupEnabled = new(false) }),
		around("sto_closed", 42.66, -73.75, func(s *command.ImportStore) { s.Active = new(false) }),
		around("sto_valley", 42.9, -73.75, func(s *command.ImportStore) { s.RadiusMiles = new(40.0) }),
		around("sto_island", 66.16, 179.99, func(*command.ImportStore) {}),
		around("sto_ice", 89.9, 130, func(*command.ImportStore) {}),
		{ID: "sto_nowhere", Name: "Market without a place"},
	}}
}

// nearby searches stores, and returns their ids.
func (w *world) nearby(t *testing.T, key, body string) []string {
	t.Helper()
	a := w.do(t, call{method: "POST", path: "/v1/stores/nearby", key: key, body: body, lenient: strings.Contains(body, "null")})
	var list struct {
		Count  int `json:"count"`
		Stores []struct {
			ID string `json:"id"`
		} `json:"stores"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil || a.status != http.StatusOK || list.Count != len(list.Stores) {
		t.Fatalf("%s: %d %s", body, a.status, a.body)
	}
	ids := []string{}
	for _, s := range list.Stores {
		ids = append(ids, s.ID)
	}
	return ids
}

func (w *world) finds(t *testing.T, key, body string, want ...string) {
	t.Helper()
	if got := w.nearby(t, key, body); !slices.Equal(got, slices.Concat([]string{}, want)) {
		t.Errorf("%s: got %v, want %v", body, got, want)
	}
}

// A store that an import moves is found at its new place, and no longer at the old
// one.
func TestNearbyAfterImport(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "around")
		body := `{"delivery_address":"2 Elm St, Albany, NY","max_distance_miles":2}`
		w.finds(t, "busy", body, "sto_corner", "sto_mile")
		move := func(s command.ImportStore) {
			s.Name = "Market"
			run(t, w, commit.Command[command.ImportResult](command.ImportCatalog{Stores: []command.ImportStore{s}}))
		}
		move(command.ImportStore{ID: "sto_mile", Lat: new(42.9), Lng: new(-73.75)})
		w.finds(t, "busy", body, "sto_corner")
		move(command.ImportStore{ID: "sto_nowhere", Lat: new(42.66), Lng: new(-73.75)})
		w.finds(t, "busy", body, "sto_corner", "sto_nowhere")
		move(command.ImportStore{ID: "sto_corner", Active: new(false)})
		w.finds(t, "busy", body, "sto_nowhere")
		move(command.ImportStore{ID: "sto_nowhere", RadiusMiles: new(0.1)})
		w.finds(t, "busy", body)
	})
}

// A key for many stores finds the same as one for a few: its own.
func TestNearbyOfRestrictedKeys(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "around")
		var many command.ImportCatalog
		own := []string{"sto_valley", "sto_short", "sto_mile", "sto_nowhere", "sto_closed"}
		for i := range 150 {
			id := fmt.Sprintf("sto_m%03d", i)
			many.Stores = append(many.Stores, command.ImportStore{ID: id, Name: "Many", Lat: new(10.0), Lng: new(10.0)})
			own = append(own, id)
		}
		run(t, w, commit.Command[command.ImportResult](many))
		for _, stores := range [][]string{own[:5], own} {
			run(t, w, commit.Command[commerce.Partner](command.UpdatePartner{ID: partnerID("busy"), StoreIDs: &stores}))
			w.clock.move(time.Minute) // the gate looks the partner up again
			w.finds(t, "busy", `{"delivery_address":"12207","max_distance_miles":100}`, "sto_mile", "sto_valley")
			w.finds(t, "busy", `{"delivery_address":"12207","max_distance_miles":100,"fulfillment_type":"pickup","limit":2}`, "sto_mile", "sto_short")
			w.finds(t, "busy", `{"delivery_address":"12207","active":false}`, "sto_closed")
		}
	})
}

// A limit above the maximum becomes the maximum (BEHAVIOUR, lists).
func TestMostNearby(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		var many command.ImportCatalog
		for i := range 350 {
			many.Stores = append(many.Stores, command.ImportStore{ID: fmt.Sprintf("sto_m%03d", i), Name: "Many", Lat: new(42.65 + float64(i)/1000), Lng: new(-73.75)})
		}
		many.Stores = append(many.Stores, command.ImportStore{ID: "sto_beyond", Name: "Beyond", Lat: new(42.65 + 1.45), Lng: new(-73.75)})
		run(t, w, commit.Command[command.ImportResult](many))
		for _, c := range []struct {
			options     string
			count       int
			first, last string
		}{
			{``, 50, "sto_m000", "sto_m049"}, {`,"limit":300,"max_distance_miles":100`, 300, "sto_m000", "sto_m299"},
			{`,"limit":1e30,"max_distance_miles":1e30`, 300, "sto_m000", "sto_m299"}, {`,"limit":5.0`, 5, "sto_m000", "sto_m004"},
			{`,"limit":null,"max_distance_miles":null,"fulfillment_type":null,"active":null`, 50, "sto_m000", "sto_m049"},
			{`,"limit":300`, 145, "sto_m000", "sto_m144"},
		} {
			ids := w.nearby(t, "busy", `{"delivery_address":"12207"`+c.options+`}`)
			if len(ids) != c.count || ids[0] != c.first || ids[len(ids)-1] != c.last {
				t.Errorf("%s: %d stores, want %d: %v", c.options, len(ids), c.count, ids)
			}
		}
		a := w.do(t, call{method: "POST", path: "/v1/stores/nearby", key: "busy", body: `{"delivery_address":"12207","max_distance_miles":1e3}`})
		if !strings.Contains(string(a.body), `"max_distance_miles":100,`) {
			t.Errorf("%.300s", a.body)
		}
	})
}

// The geocoder fails, or returns an invalid place: the answer shows no details, the
// log has them.
func TestNoGeocoder(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		for i, address := range []string{noAnswer, nonsense} {
			trace := fmt.Sprint("no-geocoder-", i)
			a := w.refuses(t, call{method: "POST", path: "/v1/stores/nearby", key: "busy", body: `{"delivery_address":"` + address + `"}`,
				header: http.Header{"X-Trace-Id": {trace}}}, http.StatusInternalServerError, "geocoder_unavailable")
			if strings.Contains(string(a.body), "secret") || !logged.has(trace) {
				t.Errorf("%s", a.body)
			}
		}
	})
}

// moving lets something happen between the search for stores and the reading of the
// found ones.
type moving struct {
	storage.Engine
	then func()
}

func (m *moving) Reader() storage.Reader { return movingReader{m.Engine.Reader(), m} }

type movingReader struct {
	storage.Reader
	m *moving
}

func (r movingReader) Sites(ctx context.Context, f storage.SiteFilter) ([]commerce.Site, error) {
	sites, err := r.Reader.Sites(ctx, f)
	r.m.then()
	return sites, err
}

// Stores that change during a search are returned as they are afterwards: a store
// that moves closer has its new place, and one that moves away is left out.
func TestStoresMoveMeanwhile(t *testing.T) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			m := &moving{then: func() {}}
			w := newWorld(t, func(t *testing.T, now func() time.Time) storage.Engine {
				m.Engine = e.database(t)(t, now)
				return m
			})
			w.importCatalog(t, "around")
			body := `{"delivery_address":"12207","max_distance_miles":5}`
			w.finds(t, "busy", body, "sto_corner", "sto_mile", "sto_kitchen")
			m.then = func() {
				run(t, w, commit.Command[command.ImportResult](command.ImportCatalog{Stores: []command.ImportStore{
					{ID: "sto_corner", Name: "Away", Lat: new(43.65), Lng: new(-73.75)}, {ID: "sto_kitchen", Name: "Nearer", Lat: new(42.651), Lng: new(-73.75)},
				}}))
			}
			a := w.do(t, call{method: "POST", path: "/v1/stores/nearby", key: "busy", body: body})
			if !strings.Contains(string(a.body), `"distance_miles":0.07,`) {
				t.Errorf("%s", a.body)
			}
			w.finds(t, "busy", body, "sto_kitchen", "sto_mile")
		})
	}
}
