package courier

import (
	"bytes"
	"encoding/json"
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
	"purveyor/internal/testkit/fakeuber"
)

func TestUberRefusals(t *testing.T) {
	u, server := uberStandIn(t)
	for _, c := range []struct {
		status   int
		code     string
		metadata map[string]string
		want     Code
		says     string
	}{
		{400, "address_undeliverable", nil, OutOfZone, "to the place that it takes one of the addresses for"},
		{400, "address_undeliverable_limited_couriers", nil, NoCouriers, "no free courier there now"},
		{503, "couriers_busy", nil, NoCouriers, "busy"},
		{503, "robo_couriers_busy", nil, NoCouriers, "busy"},
		{400, "unknown_location", nil, BadAddress, "does not find"},
		{400, "invalid_params", map[string]string{"dropoff_phone_number": "dropoff phone number is not valid."}, BadAddress, "dropoff_phone_number: dropoff phone number is not valid."},
		{400, "invalid_params", map[string]string{"pickup_phone_number": "x"}, BadAddress, "pickup_phone_number"},
		{400, "invalid_params", map[string]string{"param_details": "cannot determine pickup address"}, BadAddress, "Uber Direct: cannot determine pickup address"},
		{400, "invalid_params", map[string]string{"param_details": "unable to resolve provided address through geocoding"}, BadAddress, "geocoding"},
		{400, "invalid_params", map[string]string{"param_details": "No geocoding result found"}, BadAddress, "geocoding"},
		{400, "invalid_params", map[string]string{"param_details": "Pickup Address and provided Long/Lat distance too far"}, BadAddress, "Long/Lat"},
		{400, "invalid_params", map[string]string{"param_details": "invalid pickup location"}, BadAddress, "location"},
		{400, "invalid_params", map[string]string{"param_details": "delivery location changed"}, BadAddress, "changed"},
		{400, "invalid_params", map[string]string{"address": "This field is required."}, BadAddress, "address: This field is required."},
		{400, "invalid_params", map[string]string{"param_details": "Invalid restaurant gateway request", "tip": "bad"}, Other, "Invalid restaurant gateway request; tip: bad"},
		{400, "invalid_params", nil, Other, "Sorry."},
		{400, "pickup_window_too_small", nil, Other, "Uber Direct: Sorry."},
		{400, "pickup_ready_too_early", nil, Other, "Sorry."},
		{400, "dropoff_deadline_before_pickup_deadline", nil, Other, "Sorry."},
		{400, "expired_quote", nil, QuoteExpired, "Sorry."},
		{400, "used_quote", nil, QuoteExpired, "Sorry."},
		{400, "mismatched_price_quote", nil, QuoteExpired, "Sorry."},
		{400, "noncancelable_delivery", nil, TooLate, "cannot cancel"},
		{404, "delivery_not_found", nil, NotFound, "Sorry."},
		{418, "of_next_year", nil, Other, "Sorry."},
	} {
		server.Next(fakeuber.Fault{Status: c.status, Code: c.code, Message: "Sorry.", Metadata: c.metadata})
		uberRefused(t, uberRead(t, u), c.want, c.says)
	}
}

// An error about our credentials or account does not refuse the delivery.
func TestUberDenials(t *testing.T) {
	u, server := uberStandIn(t)
	for _, c := range []struct {
		status int
		code   string
		says   string
	}{
		{404, "customer_not_found", "look at the account in the Direct dashboard, and at the customer id: Sorry."},
		{402, "customer_suspended", "look at the account"},
		{403, "customer_blocked", "look at the account"},
		{400, "missing_payment", "look at the account"},
		{400, "not_allowed", "look at the account"},
		{403, "of_next_year", "Uber answered 403: Sorry."},
	} {
		server.Next(fakeuber.Fault{Status: c.status, Code: c.code, Message: "Sorry."})
		wantDenied(t, uberRead(t, u), c.says)
	}
	for range 2 { // it requests one new token
		server.Next(fakeuber.Fault{Status: 401, Code: "unauthorized", Message: "Invalid OAuth 2.0 credentials provided."})
	}
	wantDenied(t, uberRead(t, u), "check the client id and secret")
	wantDenied(t, uberRead(t, u), "does not accept its own tokens") // and waits before the next request
	u, server = uberStandIn(t)
	server.ClientSecret = "another"
	wantDenied(t, uberRead(t, u), "does not accept the client id and secret (invalid_client)")
	wantDenied(t, uberRead(t, u), "does not accept the client id and secret (invalid_client)")
}

func TestUberCheck(t *testing.T) {
	u, server := uberStandIn(t)
	if err := u.Check(t.Context()); err != nil {
		t.Error(err)
	}
	server.Next(fakeuber.Fault{Status: 500, Code: "internal_server_error"})
	uberUnavailable(t, u.Check(t.Context()), "uber: list deliveries: Uber answered 500")
	server.CustomerID = "another"
	wantDenied(t, u.Check(t.Context()), "the customer id")
	u, server = uberStandIn(t)
	server.ClientSecret = "another"
	wantDenied(t, u.Check(t.Context()), "does not accept the client id and secret")
}

func wantDenied(t *testing.T, err error, says string) {
	t.Helper()
	var denied *commerce.CredentialsError
	if !errors.As(err, &denied) || errors.As(err, new(*Refusal)) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v; want a refusal of our credentials with %q", err, says)
	}
}

func TestUberPassingErrors(t *testing.T) {
	u, server := uberStandIn(t)
	for _, c := range []struct {
		fault fakeuber.Fault
		says  string
	}{
		{fakeuber.Fault{Status: 408, Code: "request_timeout", Message: "The request timed out."}, "uber: quote: Uber answered 408: The request timed out."},
		{fakeuber.Fault{Status: 400, Code: "request_timeout", Message: "The request timed out."}, "Uber answered 400: The request"},
		{fakeuber.Fault{Status: 500, Code: "internal_server_error"}, "Uber answered 500: internal_server_error"},
		{fakeuber.Fault{Status: 500, Code: "unknown_error"}, "Uber answered 500"},
		{fakeuber.Fault{Status: 400, Code: "unknown_error"}, "Uber answered 400"},
		{fakeuber.Fault{Status: 503, Code: "service_unavailable"}, "Uber answered 503"},
		{fakeuber.Fault{Status: 502, Code: "of_next_year"}, "Uber answered 502"},
		{fakeuber.Fault{Status: 504}, "with nothing that it documents"},
		{fakeuber.Fault{Status: 404, Body: "<p>404"}, "Uber answered 404, with nothing that it documents; check the URL and proxies"},
		{fakeuber.Fault{Status: 403, Body: "<p>Blocked by a firewall"}, "nothing that it documents"},
		{fakeuber.Fault{Status: 400, Body: `{"code":5}`}, "nothing that it documents"},
		{fakeuber.Fault{Status: 400, Body: `{}`}, "nothing that it documents"},
		{fakeuber.Fault{Status: 400, Body: `null`}, "nothing that it documents"},
		{fakeuber.Fault{Status: 500, Body: `{"code":"x","metadata":[1]}`}, "Uber answered 500: x"},
		{fakeuber.Fault{Status: 200, Body: "<p>Welcome"}, "not one of Uber's"},
		{fakeuber.Fault{Status: 200, Body: `{"id":""}`}, "not one of Uber's"},
		{fakeuber.Fault{Status: 200, Body: `[]`}, "not one of Uber's"},
		{fakeuber.Fault{Status: 204}, "not one of Uber's"},
		{fakeuber.Fault{Down: true}, "cannot be reached, check the network"},
		{fakeuber.Fault{Lost: true}, "cannot be reached"},
		{fakeuber.Fault{Half: true}, "not one of Uber's"},
	} {
		server.Next(c.fault)
		uberUnavailable(t, uberRead(t, u), c.says)
	}
	unreachable := NewUber(UberOptions{AuthURL: "http://127.0.0.1:1/", BaseURL: "http://127.0.0.1:1"})
	uberUnavailable(t, uberRead(t, unreachable), "connection refused")
	unreachable = NewUber(UberOptions{AuthURL: "://", BaseURL: "://"})
	uberUnavailable(t, uberRead(t, unreachable), "the URL is invalid")
}

func TestUberLimits(t *testing.T) {
	u, server := uberStandIn(t)
	for text, want := range map[string]time.Duration{
		"":       0,
		"7":      7 * time.Second,
		"-7":     0,
		"soon":   0,
		"999999": 24 * time.Hour,
		server.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat): 90 * time.Second,
		"Sun, 06 Nov 1994 08:49:37 GMT":                                  0,
	} {
		for _, status := range []int{429, 400} {
			server.Next(fakeuber.Fault{Status: status, Code: "customer_limited", Header: http.Header{"Retry-After": {text}}})
			limited, ok := errors.AsType[*Limited](uberRead(t, u))
			if !ok || limited.RetryAfter > want || limited.RetryAfter < want-time.Minute {
				t.Errorf("%d %q: %+v, want %s", status, text, limited, want)
			}
		}
	}
	server.Next(fakeuber.Fault{Status: 429, Body: "<p>Slow down"})
	if err := uberRead(t, u); !errors.As(err, new(*Limited)) {
		t.Error(err)
	}
}

// An answer may echo our secret and the token, which must not end up in errors or
// logs.
func TestUberSecretsStaySecret(t *testing.T) {
	const secret, token = "secret+of/ours", "IA.token-of-ours"
	quoted, _ := json.Marshal("no: " + secret + " " + token)
	bodies := []string{`{"code":"of_next_year","message":` + string(quoted) + `}`, `{"code":"invalid_params","metadata":{"address":` + string(quoted) + `}}`,
		`{"code":"internal_server_error","message":"no: secret+of\/ours ` + token + `"}`, `{"error":` + string(quoted) + `}`, `<p>` + secret + token, `{"id":"` + token,
		`{"code":"duplicate_delivery","metadata":{"delivery_id":` + string(quoted) + `}}`, `{"id":"` + secret + `","live_mode":true}`, ""}
	printed := uberPrinted(t, func(t *testing.T) {
		for _, status := range []int{200, 302, 400, 401, 403, 404, 409, 429, 500, 502} {
			for _, body := range bodies {
				for _, inToken := range []bool{false, true} { // true: before there is a token
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/token" && !inToken {
							_, _ = io.WriteString(w, `{"access_token":"`+token+`"}`)
							return
						}
						w.WriteHeader(status)
						_, _ = io.WriteString(w, body)
					}))
					u := NewUber(UberOptions{ClientID: "client", ClientSecret: secret, BaseURL: server.URL, AuthURL: server.URL + "/token", Robo: true})
					r := uberAsk(u, 1)
					_, err1 := u.Quote(t.Context(), r.QuoteRequest)
					_, err2 := u.Create(t.Context(), r)
					_, err3 := u.Get(t.Context(), Key{Ref: r.Ref})
					_, err4 := u.Cancel(t.Context(), Key{ID: "del_1"})
					for i, err := range []error{err1, err2, err3, err4} {
						switch {
						case err == nil && (status != 200 || i < 3):
							t.Errorf("%d %s: no error", status, body)
						case err != nil && (strings.Contains(err.Error(), secret) || !inToken && strings.Contains(err.Error(), token)):
							t.Errorf("%d %s: %v", status, body, err)
						}
					}
					server.Close()
				}
			}
		}
		// The network's errors may echo an answer.
		u := NewUber(UberOptions{ClientSecret: secret, Transport: uberTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Host, "auth") {
				return uberResponse(200, `{"access_token":"`+token+`"}`), nil
			}
			return nil, errors.New("malformed HTTP response " + r.Header.Get("Authorization") + secret)
		})})
		if err := uberRead(t, u); !strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), token) {
			t.Error(err)
		}
	})
	if strings.Contains(printed, secret) || strings.Contains(printed, token) {
		t.Errorf("printed: %s", printed)
	}
}

// uberPrinted returns what is printed or logged while act runs.
func uberPrinted(t *testing.T, act func(*testing.T)) string {
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
