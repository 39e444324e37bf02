package geocode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"purveyor/internal/commerce"
)

const (
	callLimit = 3 * time.Second // for one lookup, because a request waits for it
	maxAnswer = 1 << 20
)

// asker calls a geocoder over HTTP. Its errors never contain the address, which may
// be a customer's home.
type asker struct {
	client *http.Client
	agent  string
}

// newAsker makes an asker. Contact identifies us to the operator of the geocoder: the
// service's public URL, or an address of its operator. The transport may be nil.
func newAsker(transport http.RoundTripper, contact string) asker {
	return asker{
		client: &http.Client{
			Transport: cmp.Or[http.RoundTripper](transport, http.DefaultTransport),
			Timeout:   callLimit,
			// Never follow redirects: they would send a customer's address wherever
			// they point.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		agent: "Purveyor (" + contact + ")",
	}
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
		return 0, errors.New("its URL is none")
	}
	request.Header.Set("User-Agent", a.agent)
	request.Header.Set("Accept", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	if s := response.StatusCode; s != http.StatusOK && s != http.StatusBadRequest {
		return 0, &laterError{s, retryAfter(response.Header.Get("Retry-After"))}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("its answer breaks off: %w", err)
	case len(body) > maxAnswer:
		return 0, errors.New("its answer is too long")
	case json.Unmarshal(body, answer) != nil: // the decoder's error would quote the answer
		return 0, errNotIts
	}
	return response.StatusCode, nil
}

var errNotIts = errors.New("the answer is not one of such a geocoder; check its URL and proxies")

func withoutURL(err error) error {
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return fmt.Errorf("it cannot be reached: %w", err)
}

// retryAfter reads the header Retry-After, in seconds or as a date. 0: neither.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// onEarth reports whether the coordinates are plausible. Geocoders often write 0, 0
// for unknown.
func onEarth(p commerce.Point) bool { return p.Valid() && p != commerce.Point{} }
