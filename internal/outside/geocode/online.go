package geocode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
