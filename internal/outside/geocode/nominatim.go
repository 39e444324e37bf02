package geocode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

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
