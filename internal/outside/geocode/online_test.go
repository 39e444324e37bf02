package geocode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
)

var (
	empireState = Text("350 5th Ave, New York, NY 10118")
	inParts     = Parts(commerce.Address{Line1: "350 5th Ave", Line2: "Floor 86", City: "New York", State: "NY", PostalCode: "10118-0110", Country: "US"})
)

const (
	censusFound = `{"result":{"input":{"address":{"address":"350 5th Ave, New York, NY 10118"},"benchmark":{"id":"4","isDefault":true}},
		"addressMatches":[{"tigerLine":{"side":"R","tigerLineId":"59653473"},"coordinates":{"x":-73.985,"y":40.748},
		"addressComponents":{"zip":"10118","streetName":"5TH","city":"NEW YORK"},"matchedAddress":"350 5TH AVE, NEW YORK, NY, 10118"}]}}`
	censusNone    = `{"result":{"input":{},"addressMatches":[]}}`
	censusRefuses = `{"errors":["Specify House number and Street name along with City and State and/or ZIP Code"],"status":"400"}`
	nominatimOne  = `[{"place_id":1,"licence":"ODbL","osm_type":"%s","osm_id":2,"lat":"40.748","lon":"-73.985","category":"%s","type":"%s","place_rank":%d,"importance":0.5}]`
)

// standIn gives every request the same answer, and keeps the last request.
type standIn struct {
	*httptest.Server
	status  int
	header  http.Header
	body    string
	asked   int
	request *http.Request
}

func newStandIn(t *testing.T, status int, body string) *standIn {
	s := &standIn{status: status, body: body, header: http.Header{"Content-Type": {"application/json"}}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked++
		s.request = r
		for name, values := range s.header {
			w.Header()[name] = values
		}
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) census() *Census {
	return NewCensus(OnlineOptions{URL: s.URL, Contact: "https://shop.example"})
}

func (s *standIn) nominatim(t *testing.T) *Nominatim {
	t.Helper()
	n, err := NewNominatim(OnlineOptions{URL: s.URL + "/maps/", Contact: "https://shop.example"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCensusFinds(t *testing.T) {
	s := newStandIn(t, 200, censusFound)
	want := Place{Point: commerce.Point{Lat: 40.748, Lng: -73.985}, Precision: Range}
	for _, c := range []struct {
		query      Query
		path       string
		parameters map[string]string
	}{
		{empireState, "/locations/onelineaddress", map[string]string{"address": "350 5th Ave, New York, NY 10118"}},
		{inParts, "/locations/address", map[string]string{"street": "350 5th Ave", "city": "New York", "state": "NY", "zip": "10118"}},
		{Parts(commerce.Address{Line1: "1 Main St", PostalCode: "01001"}), "/locations/address", map[string]string{"street": "1 Main St", "zip": "01001"}},
		{Parts(commerce.Address{Line1: "1 Main St, Agawam, MA"}), "/locations/onelineaddress", map[string]string{"address": "1 Main St, Agawam, MA"}},
	} {
		place, err := s.census().Find(t.Context(), c.query)
		if err != nil || place != want {
			t.Errorf("%+v, %v", place, err)
		}
		c.parameters["benchmark"], c.parameters["format"] = "Public_AR_Current", "json"
		got := s.request.URL.Query()
		if s.request.URL.Path != c.path || len(got) != len(c.parameters) || s.request.UserAgent() != "Purveyor (https://shop.example)" {
			t.Errorf("asked %s as %s", s.request.URL, s.request.UserAgent())
		}
		for name, value := range c.parameters {
			if got.Get(name) != value {
				t.Errorf("%s is %q", name, got.Get(name))
			}
		}
	}
}

func TestCensusKnowsNoSuchPlace(t *testing.T) {
	for _, s := range []*standIn{newStandIn(t, 200, censusNone), newStandIn(t, 400, censusRefuses)} {
		if place, err := s.census().Find(t.Context(), empireState); !errors.Is(err, ErrNotFound) || place != (Place{}) {
			t.Errorf("%+v, %v", place, err)
		}
		for _, text := range []string{"94102", "Oakland, CA", "Main St, Oakland, CA", "東京", ""} { // a geocoder would know neither of them
			if _, err := s.census().Find(t.Context(), Text(text)); !errors.Is(err, ErrNotFound) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if s.asked != 1 {
			t.Errorf("asked %d times", s.asked)
		}
	}
}

func TestNominatimFinds(t *testing.T) {
	for _, c := range []struct {
		osmType, category, kind string
		rank                    int
		precision               Precision // empty: not found
	}{
		{"way", "building", "office", 30, Rooftop},
		{"node", "place", "house", 30, Rooftop},
		{"way", "place", "house", 30, Range}, // interpolated
		{"way", "highway", "residential", 26, Street},
		{"relation", "place", "postcode", 21, ZIP},
		{"relation", "boundary", "postal_code", 11, ZIP},
		{"node", "place", "suburb", 20, City},
		{"relation", "boundary", "administrative", 16, City},
		{"relation", "boundary", "administrative", 12, ""},
		{"relation", "boundary", "administrative", 8, ""},
	} {
		s := newStandIn(t, 200, fmt.Sprintf(nominatimOne, c.osmType, c.category, c.kind, c.rank))
		place, err := s.nominatim(t).Find(t.Context(), inParts)
		if c.precision == "" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%+v: %+v, %v", c, place, err)
			}
		} else if want := (Place{Point: commerce.Point{Lat: 40.748, Lng: -73.985}, Precision: c.precision}); err != nil || place != want {
			t.Errorf("%+v: %+v, %v", c, place, err)
		}
		q := s.request.URL.Query()
		if s.request.URL.Path != "/maps/search" || q.Get("q") != "350 5th Ave, New York, NY 10118-0110" || q.Get("format") != "jsonv2" ||
			!strings.HasPrefix(q.Get("countrycodes"), "us,") || s.request.UserAgent() != "Purveyor (https://shop.example)" {
			t.Errorf("asked %s as %s", s.request.URL, s.request.UserAgent())
		}
	}
	s := newStandIn(t, 200, "[]")
	for _, q := range []Query{empireState, Text("東京"), Parts(commerce.Address{Line1: "1 Main St", PostalCode: "94102", Country: "DE"})} {
		if _, err := s.nominatim(t).Find(t.Context(), q); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if s.asked != 1 {
		t.Errorf("asked %d times, also for what is in no state", s.asked)
	}
}

func TestNominatimOptions(t *testing.T) {
	for _, o := range []OnlineOptions{
		{}, {URL: "nominatim.example", Contact: "x"}, {URL: "ftp://nominatim.example", Contact: "x"}, {URL: "https://", Contact: "x"}, {URL: "https://nominatim.example"},
	} {
		if n, err := NewNominatim(o, 0); err == nil || n != nil {
			t.Errorf("%+v is taken", o)
		}
	}
	n, err := NewNominatim(OnlineOptions{URL: "https://nominatim.example", Contact: "x"}, time.Second)
	if err != nil || n.pace.interval != time.Second {
		t.Errorf("%+v, %v", n, err)
	}
}

// An answer that is not the geocoder's says nothing about the address, and the error
// does not contain the address.
func TestOnlineCannotBeAsked(t *testing.T) {
	var endless strings.Builder
	for endless.Len() < maxAnswer {
		endless.WriteString(strings.Repeat(" ", 1<<16))
	}
	for _, c := range []struct {
		status int
		body   string
	}{
		{200, ""}, {200, "<html>350 5th Ave</html>"}, {200, "null"}, {200, `"x"`}, {200, "{}"}, {200, `{"result":{}}`}, {200, `{"result":{"addressMatches":null}}`},
		{200, `{"result":{"addressMatches":[{}]}}`}, {200, `{"result":{"addressMatches":[{"coordinates":{"x":1}}]}}`},
		{200, strings.ReplaceAll(censusFound, "-73.985", "-273.985")}, {200, strings.ReplaceAll(censusFound, "40.748", "1e9")},
		{200, `{"result":{"addressMatches":[{"coordinates":{"x":0,"y":0}}]}}`}, {200, censusFound[:100]}, {200, censusFound + "x"}, {200, endless.String() + censusFound},
		{200, `[{}]`}, {200, `[{"lat":"x","lon":"1","place_rank":30}]`}, {200, `[{"lat":"91","lon":"1","place_rank":30}]`}, {200, `[{"lat":"NaN","lon":"1","place_rank":30}]`},
		{200, `[{"lat":"0","lon":"0","place_rank":30}]`}, {200, `[{"lat":"1","lon":"1"}]`}, {200, `[null]`}, {200, endless.String() + "[]"},
		{201, censusFound}, {204, ""}, {302, censusFound}, {307, ""}, {400, ""}, {400, "<p>350 5th Ave</p>"}, {400, "[]"}, {400, censusNone}, {400, `{"errors":["Invalid benchmark"]}`},
		{401, ""}, {403, "<p>blocked: 350 5th Ave</p>"}, {404, censusNone}, {404, "[]"}, {429, ""}, {500, censusFound}, {502, ""}, {503, "[]"},
	} {
		s := newStandIn(t, c.status, c.body)
		for _, g := range []Geocoder{s.census(), s.nominatim(t)} {
			place, err := g.Find(t.Context(), empireState)
			if err == nil || errors.Is(err, ErrNotFound) || place != (Place{}) {
				t.Errorf("%T, %d %.80q: %+v, %v", g, c.status, c.body, place, err)
			} else if strings.Contains(err.Error(), "5th") {
				t.Errorf("%T tells the address: %v", g, err)
			}
		}
	}
}

// A redirect would send a customer's address wherever it points.
func TestOnlineFollowsNoRedirect(t *testing.T) {
	for body, dial := range map[string]func(*standIn) Geocoder{
		censusFound: func(s *standIn) Geocoder { return s.census() },
		"[]":        func(s *standIn) Geocoder { return s.nominatim(t) },
	} {
		elsewhere, s := newStandIn(t, 200, body), newStandIn(t, 307, "")
		s.header.Set("Location", elsewhere.URL)
		if _, err := dial(s).Find(t.Context(), empireState); err == nil || errors.Is(err, ErrNotFound) || elsewhere.asked != 0 {
			t.Errorf("%v, asked %d times elsewhere", err, elsewhere.asked)
		}
	}
}

func TestOnlineUnreachable(t *testing.T) {
	s := newStandIn(t, 200, censusFound)
	s.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hanging.Close()
	soon, cancelSoon := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancelSoon()
	for _, c := range []struct {
		ctx context.Context
		url string
		is  error
	}{{t.Context(), s.URL, nil}, {ended, hanging.URL, context.Canceled}, {soon, hanging.URL, context.DeadlineExceeded}} {
		nominatim, err := NewNominatim(OnlineOptions{URL: c.url, Contact: "x"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []Geocoder{NewCensus(OnlineOptions{URL: c.url}), nominatim} {
			_, err := g.Find(c.ctx, empireState)
			if err == nil || errors.Is(err, ErrNotFound) || strings.Contains(err.Error(), "5th") || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%T: %v", g, err)
			}
		}
	}
}

func TestOnlineRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "": 0, "soon": 0, "-1": 0, "99999999999": 24 * time.Hour, "999999999999999999999999": 24 * time.Hour, "Wed, 21 Oct 2015 07:28:00 GMT": 0} {
		for _, status := range []int{429, 503} {
			s := newStandIn(t, status, "")
			s.header.Set("Retry-After", header)
			for _, g := range []Geocoder{s.census(), s.nominatim(t)} {
				_, err := g.Find(t.Context(), empireState)
				var later *laterError
				if !errors.As(err, &later) || later.after != want {
					t.Errorf("%T, %q: %v, %+v", g, header, err, later)
				}
			}
		}
	}
}

// Of three concurrent callers one per second passes, and one that would wait too long
// is refused.
func TestNominatimPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		n, err := NewNominatim(OnlineOptions{URL: "http://nominatim.example", Contact: "x", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(start))
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("[]"))}, nil
		})}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := n.Find(t.Context(), empireState)
				results <- err
			}()
		}
		var busy, answered int
		for range 3 {
			switch err := <-results; {
			case errors.Is(err, errBusy):
				busy++
			case errors.Is(err, ErrNotFound):
				answered++
			default:
				t.Error(err)
			}
		}
		if busy != 1 || answered != 2 || len(asked) != 2 || asked[0] != 0 || asked[1] != time.Second {
			t.Errorf("%d busy, asked after %v", busy, asked)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := n.Find(ended, empireState); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
