package payment_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/paymenttest"
)

func TestSandboxContract(t *testing.T) {
	paymenttest.Run(t, func(t *testing.T) paymenttest.Harness { return newCheckout(t) })
}

func (s *checkout) Processor() payment.Processor { return s.sandbox }

func (s *checkout) Pay(t *testing.T, session payment.Session) { s.click(t, session.ID, "pay") }

func (s *checkout) Decline(t *testing.T, session payment.Session) { s.click(t, session.ID, "decline") }

func (s *checkout) Lapse(_ *testing.T, _ payment.Session) {
	// The sessions of these tests end within two hours.
	s.ahead.Add(int64(2 * time.Hour))
}

func (s *checkout) Posted(t *testing.T) []paymenttest.Post {
	var posts []paymenttest.Post
	for _, callback := range s.objects.TakeCallbacks() {
		now := time.Now().Add(time.Duration(s.ahead.Load()))
		posts = append(posts, paymenttest.Post{Header: s.Sign(t, callback.Body, now), Body: callback.Body})
	}
	return posts
}

func (s *checkout) Sign(t *testing.T, body []byte, at time.Time) http.Header {
	t.Helper()
	signature, err := sandbox.NewSigner(env.Env{}, s.objects).Sign(context.Background(), at, body)
	if err != nil {
		t.Fatal(err)
	}
	return http.Header{sandbox.SignatureHeader: {signature}}
}

// click presses one of the page's buttons.
func (s *checkout) click(t *testing.T, session, outcome string) *httptest.ResponseRecorder {
	t.Helper()
	return s.post(t, session, url.Values{"outcome": {outcome}}.Encode())
}

func (s *checkout) post(t *testing.T, session, form string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sandbox/pay/"+session, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.serve(r)
}

func (s *checkout) get(t *testing.T, session string) *httptest.ResponseRecorder {
	t.Helper()
	return s.serve(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sandbox/pay/"+session, nil))
}

func (s *checkout) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.sandbox.Handler().ServeHTTP(w, r)
	return w
}
