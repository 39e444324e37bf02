package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"

	"zombiezen.com/go/sqlite/sqlitex"
)

// surveyor is a fake geocoder that counts its requests.
type surveyor struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string
	status  int
	answers string
}

const (
	censusFound    = `{"result":{"addressMatches":[{"coordinates":{"x":-122.4180,"y":37.7620}}]}}`
	censusNone     = `{"result":{"addressMatches":[]}}`
	nominatimFound = `[{"osm_type":"node","lat":"37.7620","lon":"-122.4180","category":"place","type":"house","place_rank":30}]`
)

func newSurveyor(t *testing.T, answers string) *surveyor {
	s := &surveyor{status: 200, answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.RequestURI()+" "+r.UserAgent())
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answers)
	}))
	t.Cleanup(s.Close)
	return s
}

// says sets its answer from now on.
func (s *surveyor) says(status int, answers string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.answers = status, answers
}

func (s *surveyor) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

const (
	street = "3180 18th St, San Francisco, CA 94110"
	// The place in the fake geocoders' answers, and the centre of its ZIP code.
	atTheDoor    = "37.7620 -122.4180"
	aroundTheZIP = "37.7500 -122.4152"
)

// origin returns the place that the service finds for an address.
func (c *client) origin(address any) string {
	c.t.Helper()
	var out struct {
		Origin struct{ Lat, Lng float64 } `json:"origin"`
	}
	c.must(200, post("/v1/stores/nearby", "", map[string]any{"delivery_address": address})).decode(c.t, &out)
	return fmt.Sprintf("%.4f %.4f", out.Origin.Lat, out.Origin.Lng)
}

func (c *client) isAt(want string, address any) {
	c.t.Helper()
	if got := c.origin(address); got != want {
		c.t.Errorf("%v is at %s, want %s", address, got, want)
	}
}

func (s *surveyor) askedTimes(t *testing.T, want int) {
	t.Helper()
	if got := s.count(); got != want {
		t.Errorf("the geocoder was asked %d times, want %d", got, want)
	}
}

// TestPlacesAreRemembered checks that an address is looked up once, in whatever
// spelling, by whatever process, and across restarts.
func TestPlacesAreRemembered(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		g := newSurveyor(t, censusFound)
		census := []string{"--geocoder", "census", "--census-url", g.URL}
		first, c := s.serve(census...)
		agent := " Purveyor (" + c.base + ")"
		c.isAt(atTheDoor, street)
		c.isAt(atTheDoor, strings.ToUpper(street))
		c.isAt(atTheDoor, map[string]any{"line1": "3180  18th St", "city": "San Francisco", "state": "ca", "postal_code": "94110"})
		c.isAt(aroundTheZIP, "94110") // needs no geocoder
		g.askedTimes(t, 1)
		if !strings.HasPrefix(g.asked[0], "/locations/onelineaddress?") || !strings.HasSuffix(g.asked[0], agent) {
			t.Errorf("asked was %s", g.asked[0])
		}
		first.kill()
		_, again := s.serve(census...)
		again.isAt(atTheDoor, street)
		g.askedTimes(t, 1)
		if s.postgres != "" {
			_, other := s.serve(census...)
			other.isAt(atTheDoor, street)
			g.askedTimes(t, 1)
		}
		_, without := s.serve() // a service without a geocoder does not use the places of others
		without.isAt(aroundTheZIP, street)
	})
}

// TestPlacesAreLookedForAgain checks that an address is looked up again after half a
// year.
func TestPlacesAreLookedForAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	g := newSurveyor(t, censusFound)
	census := []string{"--geocoder", "census", "--census-url", g.URL}
	p, c := s.serve(census...)
	c.isAt(atTheDoor, street)
	p.stop()
	const placedOn = "SELECT CAST(found_on AS TEXT) || ' ' || source FROM places"
	before := s.rows(placedOn)
	s.change("UPDATE places SET found_on = found_on - 181 * 24 * 3600 * 1000;")
	g.says(200, strings.ReplaceAll(censusFound, "37.7620", "37.7621"))
	p, c = s.serve(census...)
	c.isAt("37.7621 -122.4180", street)
	p.stop()
	g.askedTimes(t, 2)
	_, c = s.serve(census...)
	c.isAt("37.7621 -122.4180", street)
	g.askedTimes(t, 2)
	if after := s.rows(placedOn); len(before) != 1 || len(after) != 1 || after[0] < before[0] || !strings.HasSuffix(after[0], " census") {
		t.Errorf("kept was %v, is %v", before, after)
	}
}

// TestGeocoderIsDown checks that the centre of the ZIP code is used instead, and is
// not stored for the address.
func TestGeocoderIsDown(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	g := newSurveyor(t, "")
	_, c := s.serve("--geocoder", "nominatim", "--nominatim-url", g.URL)
	for i, answer := range []struct {
		status int
		body   string
	}{{500, ""}, {200, htmlPage}, {429, ""}, {200, "[{}]"}} {
		g.says(answer.status, answer.body)
		c.isAt(aroundTheZIP, street)
		g.askedTimes(t, i+1)
	}
	g.says(200, nominatimFound)
	c.isAt(atTheDoor, street)
	c.isAt(atTheDoor, street)
	g.askedTimes(t, 5)
	if kept := s.rows("SELECT source || ' ' || precision FROM places"); len(kept) != 1 || kept[0] != "nominatim rooftop" {
		t.Errorf("kept are %v", kept)
	}
}

// TestGeocoderKnowsNothing checks that the ZIP code is used, and that an address
// without one is not found.
func TestGeocoderKnowsNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	g := newSurveyor(t, censusNone)
	_, c := s.serve("--geocoder", "census", "--census-url", g.URL)
	c.isAt(aroundTheZIP, street)
	c.isAt(aroundTheZIP, street)
	g.askedTimes(t, 1)
	c.must(400, post("/v1/stores/nearby", "", map[string]any{"delivery_address": "1 Nowhere Rd"})).refusal(t, 400, "address_not_found")
	if kept := s.rows("SELECT source FROM places"); len(kept) != 0 {
		t.Errorf("kept are %v", kept)
	}
}

// TestPlacesWithoutDatabase checks that a place that cannot be stored is still found,
// and is stored once the database works again.
func TestPlacesWithoutDatabase(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	g := newSurveyor(t, censusFound)
	_, c := s.serve("--geocoder", "census", "--census-url", g.URL)
	c.isAt(aroundTheZIP, "94110") // so that the service knows the key
	conn := openSQLite(t, s.path())
	defer conn.Close()
	check.OK(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil)) // blocks all other writers
	c.isAt(atTheDoor, street)
	c.isAt(atTheDoor, street)
	g.askedTimes(t, 1)
	check.OK(t, sqlitex.ExecuteTransient(conn, "ROLLBACK", nil))
	c.isAt(atTheDoor, "3190 18th St, San Francisco, CA 94110")
	check.Eventually(t, patience, pollPause, "places to be kept", func() bool { return len(s.rows("SELECT source FROM places")) > 0 })
}

// TestTwoProcessesFindOnePlace checks that two processes can store the same place.
func TestTwoProcessesFindOnePlace(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, postgres: database(t)}
	s.fill()
	g := newSurveyor(t, censusFound)
	var clients []*client
	for range 2 {
		_, c := s.serve("--geocoder", "census", "--census-url", g.URL)
		clients = append(clients, c)
	}
	const many = 20
	var wg sync.WaitGroup
	for i := range many {
		for _, c := range clients {
			wg.Go(func() {
				address := fmt.Sprintf("%d 18th St, San Francisco, CA 94110", 1+i%2)
				a, err := c.send(post("/v1/stores/nearby", "", map[string]any{"delivery_address": address}))
				if err != nil || a.status != 200 || !strings.Contains(string(a.body), "37.762") {
					t.Errorf("%d, %v: %s", a.status, err, a.body)
				}
			})
		}
	}
	wg.Wait()
	if kept := s.rows("SELECT source FROM places"); len(kept) != 2 || g.count() > 4 {
		t.Errorf("kept are %v, asked was %d times", kept, g.count())
	}
}

// TestDeliveryToTheDoor checks that couriers get coordinates only if they are those
// of the door.
func TestDeliveryToTheDoor(t *testing.T) {
	t.Parallel()
	g := newSurveyor(t, censusFound)
	for want, flags := range map[string][]string{`"dropoff_latitude":37.762`: {"--geocoder", "census", "--census-url", g.URL}, "": nil} {
		d := newDispatch(newShop(t), flags...)
		d.sold()
		for _, r := range d.uber.Requests() {
			if r.Method != http.MethodPost || !strings.HasPrefix(r.Path, "/deliver") {
				continue
			}
			if placed := strings.Contains(r.Body, "dropoff_latitude"); placed != (want != "") || !strings.Contains(r.Body, want) {
				t.Errorf("with %v Uber is asked %s", flags, r.Body)
			}
		}
	}
}
