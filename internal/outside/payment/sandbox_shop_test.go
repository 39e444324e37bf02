package payment_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/testkit/fakesandbox"
)

// checkout is a sandbox whose pages are served, and the website of a shop that sends its
// customers there.
type checkout struct {
	objects *fakesandbox.Objects
	sandbox *payment.Sandbox
	pages   *httptest.Server
	site    *httptest.Server // another origin, with the pictures
	ahead   atomic.Int64     // nanoseconds, how far the sandbox's clock is ahead
}

const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#2f855a"/><circle cx="4" cy="4" r="2.5" fill="#f6e05e"/></svg>`

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	s := &checkout{objects: &fakesandbox.Objects{}}
	site := http.NewServeMux()
	site.HandleFunc("GET /image.svg", func(w http.ResponseWriter, r *http.Request) {
		if referrer := r.Header.Get("Referer"); referrer != "" {
			t.Errorf("the pictures' host learns the page: %s", referrer)
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(picture))
	})
	site.HandleFunc("GET /{page}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "<!doctype html><title>%s</title>%s", r.PathValue("page"), r.URL.RawQuery)
	})
	s.site = httptest.NewServer(site)
	t.Cleanup(s.site.Close)
	s.pages = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.sandbox.Handler().ServeHTTP(w, r) }))
	t.Cleanup(s.pages.Close)
	s.sandbox = payment.NewSandbox(env.Env{}, s.objects, s.pages.URL+"/")
	s.sandbox.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	return s
}

// order returns what the customer with this address has to pay: $57.40.
func (s *checkout) order(id, email string) payment.SessionRequest {
	return payment.SessionRequest{
		OrderID:   id,
		StoreName: "Harbor Street Market",
		Lines: []payment.Line{
			{Name: "Sourdough bread", ImageURL: s.site.URL + "/image.svg", PriceCents: 650, Quantity: 2},
			{Name: "Olive oil, cold pressed, 1 l", ImageURL: s.site.URL + "/image.svg", PriceCents: 2499, Quantity: 1},
			{Name: "Free-range eggs", PriceCents: 499, Quantity: 2},
		},
		DeliveryFeeCents: 499,
		TaxCents:         444,
		TotalCents:       5740,
		CustomerEmail:    email,
		SuccessURL:       s.site.URL + "/thanks?session={CHECKOUT_SESSION_ID}",
		CancelURL:        s.site.URL + "/cart?order=" + id,
		ExpiresOn:        commerce.MillisOf(time.Now().Add(time.Hour)),
	}
}

func (s *checkout) open(t *testing.T, r payment.SessionRequest) payment.Session {
	t.Helper()
	session, err := s.sandbox.OpenSession(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// read returns the current state of a session.
func (s *checkout) read(t *testing.T, id string) payment.Session {
	t.Helper()
	session, err := s.sandbox.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// postedCallback is the content of a stored callback.
type postedCallback struct {
	ID          string               `json:"id"`
	Kind        payment.CallbackKind `json:"kind"`
	OrderID     string               `json:"order_id"`
	SessionID   string               `json:"session_id"`
	PaymentID   string               `json:"payment_id"`
	AmountCents commerce.Cents       `json:"amount_cents"`
	Message     string               `json:"message"`
	After       time.Duration        `json:"-"`
}

// callbacks returns the callbacks since the last call, in the order in which they are due.
func (s *checkout) callbacks(t *testing.T) []postedCallback {
	t.Helper()
	var all []postedCallback
	for _, callback := range s.objects.TakeCallbacks() {
		if callback.To != payment.CallbackPath {
			t.Errorf("a callback goes to %q", callback.To)
		}
		n := postedCallback{After: callback.After}
		if err := json.Unmarshal(callback.Body, &n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// kinds lists the kinds of the callbacks, and the times at which the later callbacks are due.
func (s *checkout) kinds(t *testing.T) string {
	t.Helper()
	text := ""
	for _, n := range s.callbacks(t) {
		text += " " + string(n.Kind)
		if n.After > 0 {
			text += "@" + n.After.String()
		}
	}
	return text
}
