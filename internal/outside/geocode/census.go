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

	"purveyor/internal/commerce"
)

// CensusOptions say how the geocoder of the US Census Bureau is asked.
type CensusOptions struct {
	URL       string            // empty: the Bureau's own
	Contact   string            // the service's public URL: who asks
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// Census is the geocoder of the US Census Bureau. It is free and needs no key.
// It knows house numbers of the United States, Puerto Rico and the islands, and
// places them between those at the corners.
type Census struct {
	asker asker
	url   string
}

var _ Geocoder = (*Census)(nil)

const censusURL = "https://geocoding.geo.census.gov/geocoder"

// NewCensus makes the geocoder. It asks nothing yet.
func NewCensus(o CensusOptions) *Census {
	return &Census{newAsker(o.Transport, o.Contact), strings.TrimRight(cmp.Or(o.URL, censusURL), "/")}
}

// Find tells where a house is. What has no house number is not asked for.
func (c *Census) Find(ctx context.Context, q Query) (Place, error) {
	w, ok := read(q)
	if !ok || !strings.ContainsAny(w.street, "0123456789") {
		return Place{}, ErrNotFound
	}
	var answer censusAnswer
	status, err := c.asker.ask(ctx, c.url+censusPath(q, w), &answer)
	if err != nil {
		return Place{}, fmt.Errorf("census geocoder: %w", err)
	}
	place, err := answer.place(status)
	if err != nil && !errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("census geocoder: %w", err)
	}
	return place, err
}

// censusPath asks by parts where there are enough of them.
func censusPath(q Query, w whereabouts) string {
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
	Result *struct {
		AddressMatches *[]struct {
			Coordinates struct{ X, Y *float64 }
		}
	}
	Errors []string
}

// place takes the first of several matches. A refusal is about the address (no
// street, more than 100 characters), unless it is about what we always ask.
func (a censusAnswer) place(status int) (Place, error) {
	if status == http.StatusBadRequest && len(a.Errors) > 0 {
		text := commerce.CleanText(strings.ToLower(strings.Join(a.Errors, "; ")), commerce.MaxNote)
		if strings.Contains(text, "benchmark") {
			return Place{}, errors.New("it refuses to be asked: " + strconv.Quote(text))
		}
		return Place{}, ErrNotFound
	}
	if status != http.StatusOK || a.Result == nil || a.Result.AddressMatches == nil {
		return Place{}, errNotIts
	}
	if len(*a.Result.AddressMatches) == 0 {
		return Place{}, ErrNotFound
	}
	at := (*a.Result.AddressMatches)[0].Coordinates
	if at.X == nil || at.Y == nil {
		return Place{}, errNotIts
	}
	p := commerce.Point{Lat: *at.Y, Lng: *at.X}
	if !onEarth(p) {
		return Place{}, errNotIts
	}
	return Place{Point: p, Precision: Range}, nil
}
