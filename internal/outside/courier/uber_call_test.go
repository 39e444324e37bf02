package courier

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/testkit/fakeuber"
)

// uberTokens returns the number of token requests since the last call.
func uberTokens(server *fakeuber.Server) (n int) {
	for _, r := range server.Requests() {
		if r.Path == "/token" {
			n++
		}
	}
	return n
}

// uberRead makes a call that changes nothing.
func uberRead(t *testing.T, u *Uber) error {
	_, err := u.Quote(t.Context(), uberAsk(u, 1).QuoteRequest)
	return err
}

func TestUberTokenIsKept(t *testing.T) {
	u, server := uberStandIn(t)
	server.TokenLife = 30 * 24 * time.Hour
	for _, c := range []struct {
		later time.Duration
		asks  int
	}{{0, 1}, {time.Minute, 0}, {29 * 24 * time.Hour, 0}, {24*time.Hour - 7*time.Minute, 0}, {2 * time.Minute, 1}, {time.Hour, 0}} {
		server.Advance(c.later)
		if err := uberRead(t, u); err != nil {
			t.Fatal(err)
		}
		uberWant(t, "tokens "+c.later.String()+" later", uberTokens(server), c.asks)
	}
}

// Uber decides how long a token lives.
func TestUberTokenLife(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{"access_token":"a","expires_in":2592000}`:    30*24*time.Hour - 5*time.Minute,
		`{"access_token":"a","expires_in":60}`:         30 * time.Second,
		`{"access_token":"a","expires_in":900.5}`:      900*time.Second + 500*time.Millisecond - 5*time.Minute,
		`{"access_token":"a"}`:                         55 * time.Minute,
		`{"access_token":"a","expires_in":-5}`:         55 * time.Minute,
		`{"access_token":"a","expires_in":1e300}`:      30*24*time.Hour - 5*time.Minute,
		`{"access_token":"a","expires_in":"tomorrow"}`: 55 * time.Minute,
	} {
		u, server := uberStandIn(t)
		now := time.Now()
		u.Now = func() time.Time { return now }
		server.Next(fakeuber.Fault{On: "POST /token", Status: 200, Body: body})
		if _, err := u.useToken(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		s := <-u.token
		uberWant(t, body, s.until.Sub(now), want)
		if s.token != "a" {
			t.Errorf("%s: the token is %q", body, s.token)
		}
	}
}

// A token that Uber no longer knows is replaced at once, by one goroutine.
func TestUberTokenRevoked(t *testing.T) {
	u, server := uberStandIn(t)
	if err := uberRead(t, u); err != nil {
		t.Fatal(err)
	}
	server.Revoke()
	server.Requests()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := uberRead(t, u); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	uberWant(t, "tokens", uberTokens(server), 1)
}

// Uber issues 100 tokens an hour: a refused account makes few requests.
func TestUberTokenRefused(t *testing.T) {
	u, server := uberStandIn(t)
	refused := fakeuber.Fault{Status: 401, Body: `{"code":"unauthorized","message":"Invalid OAuth 2.0 credentials provided."}`}
	server.Always(&refused)
	uberUnavailable(t, uberRead(t, u), "Uber does not accept the token; check the client id and secret")
	uberWant(t, "tokens", uberTokens(server), 2) // a second request is worth trying
	for range 5 {
		uberUnavailable(t, uberRead(t, u), "does not accept its own tokens")
	}
	uberWant(t, "tokens", uberTokens(server), 0)
	server.Always(nil)
	server.Advance(uberTokenPause + time.Second)
	if err := uberRead(t, u); err != nil {
		t.Error(err)
	}
}

func TestUberClientRefused(t *testing.T) {
	u, server := uberStandIn(t)
	u.options.ClientSecret = "of-yesterday"
	for range 5 {
		uberUnavailable(t, uberRead(t, u), "Uber does not accept the client id and secret (invalid_client): take them from the Developer tab")
	}
	uberWant(t, "tokens", uberTokens(server), 1)
	u.options.ClientSecret = server.ClientSecret
	server.Advance(uberTokenPause + time.Second)
	if err := uberRead(t, u); err != nil {
		t.Error(err)
	}
	uberWant(t, "tokens", uberTokens(server), 1)
}

// Every other reason for a missing token passes: the next call requests one again.
func TestUberTokenFaults(t *testing.T) {
	for _, c := range []struct {
		fault fakeuber.Fault
		says  string
	}{
		{fakeuber.Fault{Down: true}, "cannot be reached"},
		{fakeuber.Fault{Half: true}, "not one of Uber's"},
		{fakeuber.Fault{Status: 500}, "a token: Uber answered 500"},
		{fakeuber.Fault{Status: 503, Body: `{"error":"server_error"}`}, "a token: Uber answered 503"},
		{fakeuber.Fault{Status: 403, Body: "<p>Blocked by a firewall"}, "a token: Uber answered 403"},
		{fakeuber.Fault{Status: 302, Header: http.Header{"Location": {"https://elsewhere.example/"}}}, "a token: Uber answered 302"},
		{fakeuber.Fault{Status: 200, Body: "<p>Welcome"}, "not one of Uber's"},
		{fakeuber.Fault{Status: 200, Body: `{"access_token":""}`}, "not one of Uber's"},
		{fakeuber.Fault{Status: 200, Body: `{"access_token":"a\r\nX-Admin: 1"}`}, "not one of Uber's"},
	} {
		u, server := uberStandIn(t)
		c.fault.On = "POST /token"
		server.Next(c.fault)
		uberUnavailable(t, uberRead(t, u), c.says)
		if err := uberRead(t, u); err != nil {
			t.Errorf("after %+v: %v", c.fault, err)
		}
	}
	u, server := uberStandIn(t)
	server.Next(fakeuber.Fault{On: "POST /token", Status: 429, Header: http.Header{"Retry-After": {"600"}}})
	for range 2 {
		if limited, ok := errors.AsType[*Limited](uberRead(t, u)); !ok || limited.RetryAfter != 10*time.Minute {
			t.Errorf("%+v", limited)
		}
	}
	uberWant(t, "tokens", uberTokens(server), 1)
}

// A caller that waits for another's token request waits no longer than its own limit.
// One that gives up passes its turn on.
func TestUberTokenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		u := NewUber(UberOptions{Transport: uberTripper(func(r *http.Request) (*http.Response, error) {
			if !strings.Contains(r.URL.Host, "auth") {
				return uberResponse(200, `{"id":"del_1"}`), nil
			}
			if asked++; asked == 1 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return uberResponse(200, `{"access_token":"a","expires_in":60}`), nil
		})})
		start := time.Now()
		get := func(patience time.Duration) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := u.Get(ctx, Key{ID: "del_1"})
			return time.Since(start), err
		}
		type outcome struct {
			after time.Duration
			err   error
		}
		first, second, third := make(chan outcome, 1), make(chan outcome, 1), make(chan outcome, 1)
		for _, c := range []struct {
			patience time.Duration
			to       chan outcome
		}{{time.Minute, first}, {time.Second, second}, {time.Minute, third}} {
			go func() {
				after, err := get(c.patience)
				c.to <- outcome{after, err}
			}()
			synctest.Wait() // it has the turn, or waits for it
		}
		if o := <-second; o.after != time.Second || !errors.Is(o.err, context.DeadlineExceeded) {
			t.Errorf("who waits: %+v", o)
		}
		if o := <-first; o.after != uberTimeout || !errors.Is(o.err, context.DeadlineExceeded) {
			t.Errorf("who asks: %+v", o)
		}
		// The third started with the first, so its time is over too. The next caller
		// gets the turn.
		<-third
		if _, err := get(time.Minute); err != nil {
			t.Error(err)
		}
	})
}

type uberTripper func(*http.Request) (*http.Response, error)

func (f uberTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func uberResponse(status int, body string) *http.Response {
	w := httptest.NewRecorder()
	w.WriteHeader(status)
	_, _ = w.WriteString(body)
	return w.Result()
}

// A call ends within the time of a job's attempt, however many requests it makes.
func TestUberEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUber(UberOptions{Transport: uberTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Host, "auth") {
				return uberResponse(200, `{"access_token":"a"}`), nil
			}
			time.Sleep(3 * time.Second)
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return uberResponse(400, `{"code":"expired_quote","message":"Stale."}`), nil
		})})
		start := time.Now()
		_, err := u.Create(t.Context(), uberAsk(u, 1))
		if took := time.Since(start); took > 9*time.Second || uberTimeout >= 16*time.Second {
			t.Errorf("it took %s", took)
		}
		uberRefused(t, err, QuoteExpired, "")
	})
}

// A redirect would send addresses and the token wherever it points.
func TestUberFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	u, server := uberStandIn(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server.Next(fakeuber.Fault{Status: status, Header: http.Header{"Location": {elsewhere.URL}}})
		uberUnavailable(t, uberRead(t, u), "Uber answered 30")
	}
}

func TestUberEndlessAnswer(t *testing.T) {
	line := []byte(`{"id":"` + strings.Repeat("x", 64<<10))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	u, _ := uberStandIn(t)
	u.base = server.URL
	uberUnavailable(t, uberRead(t, u), "not one of Uber's")
}
