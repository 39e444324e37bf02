package geocode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

const (
	callLimit = 3 * time.Second // for one lookup, because a request waits for it
	maxAnswer = 1 << 20
)

// OnlineOptions say where an online geocoder is, and how it knows us.
type OnlineOptions struct {
	Env env.Env
	URL string // of the server; empty: the geocoder's own, if there is one
	// Contact is the service's public URL or its operator's address. The policy of
	// the public Nominatim server requires it, as most others do.
	Contact   string
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// client calls a geocoder over HTTP. Its errors never contain the address, which may
// be a customer's home.
type client struct {
	name  string // of the geocoder, for errors
	env   env.Env
	http  *http.Client
	agent string
}

func newClient(name string, o OnlineOptions) client {
	httpClient := httpcall.Client(o.Transport)
	httpClient.Timeout = callLimit
	return client{name, o.Env, httpClient, "Purveyor (" + o.Contact + ")"}
}

// laterError means that the geocoder wants fewer calls.
type laterError struct {
	status int
	after  time.Duration // 0: the geocoder did not say
}

func (e *laterError) Error() string { return fmt.Sprintf("it answered %d", e.status) }

// find asks for a place. It decodes the JSON of a response with status 200 or 400 into
// answer, whose method place interprets it.
func (c client) find(ctx context.Context, address string, answer interface {
	place(status int) (Place, error)
}) (Place, error) {
	call := httpcall.Call{Method: http.MethodGet, URL: address, Header: http.Header{"User-Agent": {c.agent}}}
	got, err := call.Do(ctx, c.http, maxAnswer)
	var found Place
	switch {
	case err != nil:
	case got.Status != http.StatusOK && got.Status != http.StatusBadRequest:
		err = &laterError{got.Status, httpcall.RetryAfter(got.Header, c.env.Now())}
	case json.Unmarshal(got.Body, answer) != nil: // the decoder's error would quote the answer
		err = errNotIts
	default:
		found, err = answer.place(got.Status)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	return found, err
}

var errNotIts = errors.New("the answer is not a geocoder's; check its URL and proxies")

// onEarth reports whether the coordinates are plausible. Geocoders often write 0, 0
// for unknown.
func onEarth(p commerce.Point) bool { return p.Valid() && p != commerce.Point{} }

// Census is the geocoder of the US Census Bureau. It is free and needs no key. It
// knows house numbers of the United States, Puerto Rico and the islands, and
// interpolates between those at the street corners.
type Census struct {
	client client
	url    string
}

var _ Geocoder = (*Census)(nil)

const censusURL = "https://geocoding.geo.census.gov/geocoder"

// NewCensus makes the geocoder without calling it.
func NewCensus(o OnlineOptions) *Census {
	return &Census{newClient("census geocoder", o), strings.TrimRight(cmp.Or(o.URL, censusURL), "/")}
}

// Find returns the place of a house. It makes no call for an address without a house
// number.
func (c *Census) Find(ctx context.Context, q Query) (Place, error) {
	w, ok := read(q)
	if !ok || !strings.ContainsAny(w.street, "0123456789") {
		return Place{}, ErrNotFound
	}
	return c.client.find(ctx, c.url+censusPath(q, w), &censusAnswer{})
}

// censusPath asks by parts if there are enough of them.
func censusPath(q Query, w parsedAddress) string {
	a := q.Address
	parameters := url.Values{"benchmark": {"Public_AR_Current"}, "format": {"json"}}
	if q.Text != "" || a.Line1 == "" || w.zip == noZIP && (a.City == "" || a.State == "") {
		parameters.Set("address", q.Line())
		return "/locations/onelineaddress?" + parameters.Encode()
	}
	parameters.Set("street", a.Line1)
	for name, value := range map[string]string{"city": a.City, "state": a.State} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	if w.zip != noZIP {
		parameters.Set("zip", fmt.Sprintf("%05d", w.zip))
	}
	return "/locations/address?" + parameters.Encode()
}

type censusAnswer struct {
	Result struct {
		AddressMatches []struct { // nil: missing
			Coordinates struct{ X, Y *float64 }
		}
	}
	Errors []string
}

// place returns the first of several matches. A refusal counts as "not found" if it
// is about the address (no street, more than 100 characters), and as an error if it
// is about the fixed part of the request.
func (a *censusAnswer) place(status int) (Place, error) {
	if status == http.StatusBadRequest && len(a.Errors) > 0 {
		text := commerce.CleanText(strings.ToLower(strings.Join(a.Errors, "; ")), commerce.MaxNote)
		if strings.Contains(text, "benchmark") {
			return Place{}, errors.New("it refuses the request: " + strconv.Quote(text))
		}
		return Place{}, ErrNotFound
	}
	matches := a.Result.AddressMatches
	switch {
	case status != http.StatusOK || matches == nil:
		return Place{}, errNotIts
	case len(matches) == 0:
		return Place{}, ErrNotFound
	}
	at := matches[0].Coordinates
	if at.X == nil || at.Y == nil || !onEarth(commerce.Point{Lat: *at.Y, Lng: *at.X}) {
		return Place{}, errNotIts
	}
	return Place{Point: commerce.Point{Lat: *at.Y, Lng: *at.X}, Precision: Range}, nil
}

// Nominatim is a server that searches the data of OpenStreetMap. Make one per
// process, because each has its own rate limit.
type Nominatim struct {
	client client
	search *url.URL
	pace   *pace
}

var _ Geocoder = (*Nominatim)(nil)

// NewNominatim makes the geocoder without calling it. The URL of its server ends
// before /search. The interval between requests of this process is one second for the
// public server, whose policy requires it, and 0 for a private one.
func NewNominatim(o OnlineOptions, interval time.Duration) (*Nominatim, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("the URL of Nominatim must be like https://nominatim.example.com")
	}
	if o.Contact == "" {
		return nil, errors.New("Nominatim requires a contact: a public URL or an e-mail address")
	}
	return &Nominatim{
		client: newClient("nominatim", o),
		search: base.JoinPath("search"),
		pace:   &pace{env: o.Env, interval: interval},
	}, nil
}

// Find implements Geocoder.
func (n *Nominatim) Find(ctx context.Context, q Query) (Place, error) {
	if _, ok := read(q); !ok {
		return Place{}, ErrNotFound
	}
	if err := n.pace.wait(ctx, callLimit/2); err != nil { // the rest of the time is for the answer
		return Place{}, fmt.Errorf("nominatim: %w", err)
	}
	search := *n.search
	search.RawQuery = url.Values{
		"q": {q.Line()}, "format": {"jsonv2"}, "limit": {"1"}, "countrycodes": {"us,pr,vi,gu,as,mp"},
	}.Encode()
	return n.client.find(ctx, search.String(), &nominatimAnswer{})
}

type nominatimAnswer []struct {
	Lat       float64 `json:",string"`
	Lon       float64 `json:",string"`
	Type      string
	OSMType   string `json:"osm_type"`
	PlaceRank int    `json:"place_rank"`
}

func (a *nominatimAnswer) place(status int) (Place, error) {
	switch {
	case status != http.StatusOK:
		return Place{}, &laterError{status: status}
	case *a == nil: // null
		return Place{}, errNotIts
	case len(*a) == 0:
		return Place{}, ErrNotFound
	}
	found := (*a)[0]
	p := commerce.Point{Lat: found.Lat, Lng: found.Lon}
	if !onEarth(p) || found.PlaceRank <= 0 {
		return Place{}, errNotIts
	}
	precision := Rooftop
	switch rank := found.PlaceRank; {
	case strings.HasPrefix(found.Type, "post"): // postcode, postal_code
		precision = ZIP
	case rank < 13: // a county or a state: its centre says nothing
		return Place{}, ErrNotFound
	case rank < 26:
		precision = City
	case rank < 28:
		precision = Street
	case found.Type == "house" && found.OSMType == "way": // interpolated on the line of a street's numbers
		precision = Range
	}
	return Place{Point: p, Precision: precision}, nil
}

// errBusy means that the queue is full: a new caller would not be served in time. The
// geocoder did not fail.
var errBusy = errors.New("too many addresses are looked up at once")

// pace lets one caller pass per interval.
type pace struct {
	env      env.Env
	interval time.Duration // 0: no limit

	mu   sync.Mutex
	next time.Time // time of the next turn
}

// wait waits for the caller's turn. A caller that would wait longer than limit gets
// no turn, so that the callers after it do not wait for nothing.
func (p *pace) wait(ctx context.Context, limit time.Duration) error {
	p.mu.Lock()
	now := p.env.Now()
	turn := max(p.next.Sub(now), 0)
	if turn <= limit {
		p.next = now.Add(turn + p.interval)
	}
	p.mu.Unlock()
	if turn > limit {
		return errBusy
	}
	return p.env.Sleep(ctx, turn)
}
