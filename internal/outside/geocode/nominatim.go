package geocode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
)

// NominatimOptions say which server is asked, and how often.
type NominatimOptions struct {
	URL string // of the server, to which /search is added
	// Contact is the service's public URL or its operator's address: the policy of
	// the public server asks for it, and that of most others.
	Contact string
	// Interval between requests of this process; 0: a second, which is the policy of
	// the public server; below 0: none, for a server of one's own.
	Interval  time.Duration
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// Nominatim is a server that searches the data of OpenStreetMap. One of them may
// be made for a process: the pace is its own.
type Nominatim struct {
	asker  asker
	search *url.URL
	pace   *pace
}

var _ Geocoder = (*Nominatim)(nil)

// NewNominatim makes the geocoder. It asks nothing yet.
func NewNominatim(o NominatimOptions) (*Nominatim, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("the URL of Nominatim must be like https://nominatim.example.com")
	}
	if o.Contact == "" {
		return nil, errors.New("Nominatim must be told who asks: a public URL or an e-mail address")
	}
	return &Nominatim{
		asker:  newAsker(o.Transport, o.Contact),
		search: base.JoinPath("search"),
		pace:   &pace{interval: cmp.Or(o.Interval, time.Second)},
	}, nil
}

// Find tells where an address is.
func (n *Nominatim) Find(ctx context.Context, q Query) (Place, error) {
	if _, ok := read(q); !ok {
		return Place{}, ErrNotFound
	}
	if err := n.pace.wait(ctx, callLimit/2); err != nil { // the rest is for the answer
		return Place{}, fmt.Errorf("nominatim: %w", err)
	}
	search := *n.search
	search.RawQuery = url.Values{
		"q": {q.Line()}, "format": {"jsonv2"}, "limit": {"1"}, "countrycodes": {"us,pr,vi,gu,as,mp"},
	}.Encode()
	var answer nominatimAnswer
	status, err := n.asker.ask(ctx, search.String(), &answer)
	if err == nil && status != http.StatusOK {
		err = &laterError{status: status}
	}
	if err != nil {
		return Place{}, fmt.Errorf("nominatim: %w", err)
	}
	place, err := answer.place()
	if err != nil && !errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("nominatim: %w", err)
	}
	return place, err
}

type nominatimAnswer []struct {
	Lat, Lon       string
	Category, Type string
	OSMType        string `json:"osm_type"`
	PlaceRank      int    `json:"place_rank"`
}

func (a nominatimAnswer) place() (Place, error) {
	if a == nil { // null
		return Place{}, errNotIts
	}
	if len(a) == 0 {
		return Place{}, ErrNotFound
	}
	found := a[0]
	lat, errLat := strconv.ParseFloat(found.Lat, 64)
	lng, errLng := strconv.ParseFloat(found.Lon, 64)
	p := commerce.Point{Lat: lat, Lng: lng}
	if errLat != nil || errLng != nil || !onEarth(p) || found.PlaceRank <= 0 {
		return Place{}, errNotIts
	}
	switch rank := found.PlaceRank; {
	case strings.HasPrefix(found.Type, "post"): // postcode, postal_code
		return Place{Point: p, Precision: ZIP}, nil
	case rank < 13: // a county, a state: the middle of one tells nothing
		return Place{}, ErrNotFound
	case rank < 26:
		return Place{Point: p, Precision: City}, nil
	case rank < 28:
		return Place{Point: p, Precision: Street}, nil
	case found.Type == "house" && found.OSMType == "way": // on the line of a street's numbers
		return Place{Point: p, Precision: Range}, nil
	}
	return Place{Point: p, Precision: Rooftop}, nil
}

// errBusy says that others wait already, as many as will be served in time. It
// is nobody's failure.
var errBusy = errors.New("too many addresses are looked up at once")

// pace lets one pass in each interval.
type pace struct {
	interval time.Duration // not above 0: no pace

	mu   sync.Mutex
	next time.Time // when the next one may pass
}

// wait for one's turn. Who would wait longer than the limit has none, so that
// nobody after them waits for nothing.
func (p *pace) wait(ctx context.Context, limit time.Duration) error {
	turn := p.turn(time.Now(), limit)
	if turn < 0 {
		return errBusy
	}
	timer := time.NewTimer(turn)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turn is how long the next one waits, or below 0: too long.
func (p *pace) turn(now time.Time, limit time.Duration) time.Duration {
	if p.interval <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := max(p.next.Sub(now), 0)
	if wait > limit {
		return -1
	}
	p.next = now.Add(wait + p.interval)
	return wait
}
