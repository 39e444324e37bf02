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
