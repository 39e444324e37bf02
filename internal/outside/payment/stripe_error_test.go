package payment

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakestripe"
)

func TestStripeErrors(t *testing.T) {
	for _, c := range []struct {
		fault   fakestripe.Fault
		says    string
		refused bool
	}{
		{fakestripe.Fault{Status: 402, Type: "card_error", Message: "Your card was declined."}, "Your card was declined.", true},
		{fakestripe.Fault{Status: 400, Type: "invalid_request_error", Message: "Invalid email"}, "Invalid email", true},
		{fakestripe.Fault{Status: 404, Type: "invalid_request_error", Message: "No such thing"}, "No such thing", true},
		{fakestripe.Fault{Status: 400, Type: "idempotency_error", Message: "other parameters"}, "other parameters", true},
		{fakestripe.Fault{Status: 400, Type: "invalid_request_error"}, "invalid_request_error", true},
		{fakestripe.Fault{Status: 401, Type: "invalid_request_error", Message: "Invalid API Key"}, "--stripe-key", false},
		{fakestripe.Fault{Status: 403, Type: "invalid_request_error", Message: "no permission"}, "needs to write Checkout Sessions", false},
		{fakestripe.Fault{Status: 409, Type: "idempotency_error", Message: "in use"}, "at work on an earlier try", false},
		{fakestripe.Fault{Status: 429, Type: "invalid_request_error", Message: "too many"}, "limits our requests", false},
		{fakestripe.Fault{Status: 429, Type: "api_error", Message: "lock"}, "limits our requests", false},
		{fakestripe.Fault{Status: 500, Type: "api_error", Message: "oops"}, "Stripe answered 500", false},
		{fakestripe.Fault{Status: 503, Type: "invalid_request_error", Message: "oops"}, "status.stripe.com", false},
		{fakestripe.Fault{Status: 400, Type: "api_error", Message: "oops"}, "Stripe answered 400", false},
		{fakestripe.Fault{Lost: true}, "cannot be reached", false},
	} {
		s, server := standIn(t)
		c.fault.Header = http.Header{"Stripe-Should-Retry": {"true"}} // only jobs repeat calls, not the library
		server.Next(c.fault)
		_, err := s.OpenSession(t.Context(), request(1))
		if c.refused {
			refusal(t, err, c.says)
		} else {
			temporary(t, err, c.says)
		}
		if errors.As(err, new(*commerce.CredentialsError)) != (c.fault.Status == 401 || c.fault.Status == 403) {
			t.Errorf("%+v: %#v", c.fault, err)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%+v: %d requests", c.fault, n)
		}
	}
}

func TestStripeCheck(t *testing.T) {
	s, server := standIn(t)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	opened(t, s, 1)
	opened(t, s, 2)
	before := len(server.Requests())
	if err := s.Check(t.Context()); err != nil || len(server.Requests()) != before+1 {
		t.Errorf("%v, %d requests", err, len(server.Requests())-before)
	}
	server.Next(fakestripe.Fault{Status: 403, Type: "invalid_request_error", Message: "no permission"})
	denied(t, s.Check(t.Context()), "needs to write Checkout Sessions")
	server.Next(fakestripe.Fault{Status: 500, Type: "api_error"})
	temporary(t, s.Check(t.Context()), "Stripe answered 500")
	server.Revoke(true)
	denied(t, s.Check(t.Context()), "does not accept the key")
}

// An answer may echo our key, which must not end up in errors or logs.
func TestStripeKeyStaysSecret(t *testing.T) {
	const key = "rk_live_51secretsecret"
	printed := captureOutput(t, func(t *testing.T) {
		for _, status := range []int{200, 302, 400, 401, 403, 404, 409, 429, 500, 502} {
			for _, body := range []string{`{"error":{"type":"invalid_request_error","message":"no: ` + key + `"}}`, `<p>` + key, `{"id":"` + key, `{"k":"` + key + `"}`, ""} {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(status)
					_, _ = io.WriteString(w, body)
				}))
				s := NewStripe(StripeOptions{Key: key, URL: server.URL})
				_, err1 := s.OpenSession(t.Context(), request(1))
				_, err2 := s.Session(t.Context(), "cs_1")
				_, err3 := s.ExpireSession(t.Context(), "cs_1")
				_, err4 := s.Refund(t.Context(), RefundRequest{ID: "rfd_1", PaymentID: "pi_1", AmountCents: 1})
				for _, err := range []error{err1, err2, err3, err4} {
					if err == nil || strings.Contains(err.Error(), key) {
						t.Errorf("%d %s: %v", status, body, err)
					}
				}
				server.Close()
			}
		}
	})
	if printed != "" {
		t.Errorf("printed: %s", printed)
	}
}

// captureOutput returns what is printed or logged while act runs.
func captureOutput(t *testing.T, act func(*testing.T)) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	stdout, stderr, logger := os.Stdout, os.Stderr, slog.Default()
	os.Stdout, os.Stderr = file, file
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	act(t)
	os.Stdout, os.Stderr = stdout, stderr
	slog.SetDefault(logger)
	printed, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(printed) + logged.String()
}

func TestStripeEndsInTime(t *testing.T) {
	s, server := standIn(t)
	s.timeout = 100 * time.Millisecond
	server.Next(fakestripe.Fault{Hang: true})
	_, err := s.OpenSession(t.Context(), request(1))
	temporary(t, err, "no answer yet")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Refund(ctx, RefundRequest{ID: "rfd_1", PaymentID: "pi_1", AmountCents: 1})
	if !errors.Is(err, context.Canceled) || refused(err) {
		t.Error(err)
	}
	if NewStripe(StripeOptions{}).timeout > 16*time.Second {
		t.Error("a try lasts too long")
	}
}

// A redirect would send the customer's data wherever it points.
func TestStripeFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the redirect was followed")
		_, _ = io.WriteString(w, `{"id":"cs_1","url":"https://elsewhere.example/","status":"open"}`)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		s := NewStripe(StripeOptions{Key: "sk_test_x", URL: server.URL})
		_, err := s.OpenSession(t.Context(), request(1))
		temporary(t, err, "answered 30")
		_, err = s.Session(t.Context(), "cs_1")
		temporary(t, err, "answered 30")
		server.Close()
	}
}

func TestStripeEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for line := bytes.Repeat([]byte(" "), 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := NewStripe(StripeOptions{Key: "sk_test_x", URL: server.URL}).Session(t.Context(), "cs_1")
	temporary(t, err, "deserialize")
}
