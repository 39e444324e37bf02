package purveyor

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	for _, c := range []struct {
		tries  int
		asked  time.Duration
		random float64
		want   time.Duration
	}{
		{1, 0, 0, 500 * time.Millisecond},
		{1, 0, 1, 2 * time.Second},
		{2, 0, 0, 500 * time.Millisecond},
		{2, 0, 1, 8 * time.Second},
		{9, 0, 1, 8 * time.Second},
		{1, 20 * time.Second, 0.5, 20 * time.Second},
	} {
		if got := pause(c.tries, c.asked, c.random); got != c.want {
			t.Errorf("after %d tries, asked for %v, at random %v: %v, want %v", c.tries, c.asked, c.random, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "99999999999": 0,
		"Mon, 02 Mar 2026 15:04:35 GMT": 30 * time.Second, "Mon, 02 Mar 2026 15:04:00 GMT": 0} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestNew(t *testing.T) {
	for base, ok := range map[string]bool{"https://shop.example.com": true, "http://localhost:8080/": true, "https://shop.example.com/purveyor": true,
		"": false, "shop.example.com": false, "ftp://shop.example.com": false, "https://": false, "https://user:pw@shop.example.com": false, "https://shop.example.com?x=1": false} {
		if _, err := New(base, "sk_test_1", Options{}); (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
	}
	for key, ok := range map[string]bool{"sk_test_1": true, "": false, "sk_test_1\n": false, "sk test": false} {
		if _, err := New("https://shop.example.com", key, Options{}); (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// A deadline of the caller ends a call before a pause that would outlast it.
func TestDeadline(t *testing.T) {
	busy := roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"60"}}, Body: http.NoBody}, nil
	})
	client, err := New("https://shop.example.com", "k", Options{HTTPClient: &http.Client{Transport: busy},
		Sleep: func(context.Context, time.Duration) error { panic("it waits") }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = client.Orders.Get(ctx, "ord_1")
	var e *Error
	if !errors.As(err, &e) || e.Status != 429 || e.Tries != 1 {
		t.Errorf("%v", err)
	}
}

// Only the base URL's service sees the key, and two calls at once have keys of their own.
func TestRequests(t *testing.T) {
	keys := map[string]bool{}
	seen := roundTripper(func(r *http.Request) (*http.Response, error) {
		keys[r.Header.Get("Idempotency-Key")] = true
		if r.URL.String() != "https://shop.example.com/purveyor/v1/inventory/adjustments" || r.Header.Get("X-Api-Key") != "k" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		return nil, errors.New("cut")
	})
	client, err := New("https://shop.example.com/purveyor/", "k", Options{HTTPClient: &http.Client{Transport: seen}, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := client.Inventory.Adjust(t.Context(), AdjustmentsRequest{}); CodeOf(err) != CodeNoAnswer {
			t.Error(err)
		}
	}
	if len(keys) != 3 || keys[""] {
		t.Error(keys)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
