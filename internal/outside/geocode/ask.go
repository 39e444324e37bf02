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

// asker calls a geocoder over HTTP. Its errors never contain the address, which may
// be a customer's home.
type asker struct {
	env    env.Env
	client *http.Client
	agent  string
}

// newAsker makes an asker. Contact identifies us to the operator of the geocoder: the
// service's public URL, or an address of its operator. The transport may be nil.
func newAsker(e env.Env, transport http.RoundTripper, contact string) asker {
	client := httpcall.Client(transport)
	client.Timeout = callLimit
	return asker{env: e, client: client, agent: "Purveyor (" + contact + ")"}
}

// laterError means that the geocoder wants fewer calls.
type laterError struct {
	status int
	after  time.Duration // 0: the geocoder did not say
}

func (e *laterError) Error() string { return fmt.Sprintf("it answered %d", e.status) }

// ask decodes an answer with status 200 or 400: the caller tells them apart.
func (a asker) ask(ctx context.Context, address string, answer any) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, errors.New("its URL is invalid")
	}
	request.Header.Set("User-Agent", a.agent)
	request.Header.Set("Accept", "application/json")
	got, err := httpcall.Do(a.client, request, maxAnswer)
	switch {
	case err != nil:
		return 0, err
	case got.Status != http.StatusOK && got.Status != http.StatusBadRequest:
		return 0, &laterError{got.Status, httpcall.RetryAfter(got.Header, a.env.Now())}
	case json.Unmarshal(got.Body, answer) != nil: // the decoder's error would quote the answer
		return 0, errNotIts
	}
	return got.Status, nil
}

var errNotIts = errors.New("the answer is not a geocoder's; check its URL and proxies")

// onEarth reports whether the coordinates are plausible. Geocoders often write 0, 0
// for unknown.
func onEarth(p commerce.Point) bool { return p.Valid() && p != commerce.Point{} }
