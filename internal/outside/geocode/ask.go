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
	callLimit = 3 * time.Second // of one look-up: a request waits for it
	maxAnswer = 1 << 20
)

// asker asks a geocoder over HTTP. Its errors never have the address, which is
// somebody's home.
type asker struct {
	client *http.Client
	agent  string
}

// newAsker tells the geocoder who asks: contact is the service's public URL or
// an address of its operator. The transport may be nil.
func newAsker(transport http.RoundTripper, contact string) asker {
	return asker{
		client: &http.Client{
			Transport: cmp.Or[http.RoundTripper](transport, http.DefaultTransport),
			Timeout:   callLimit,
			// A redirect would take a customer's address to wherever it leads.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		agent: "Purveyor (" + contact + ")",
	}
}

// laterError says when the geocoder wants to be asked again.
type laterError struct {
	status int
	after  time.Duration // 0: it does not say
}

func (e *laterError) Error() string { return fmt.Sprintf("it answered %d", e.status) }

// ask decodes what is answered with 200 or 400: the caller tells them apart.
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
	case json.Unmarshal(body, answer) != nil: // whose error would quote it
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

// retryAfter reads seconds or a date. 0: neither.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// onEarth tells whether a geocoder can mean it: what it does not know is often
// written as 0, 0.
func onEarth(p commerce.Point) bool { return p.Valid() && p != commerce.Point{} }
