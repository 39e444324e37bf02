package httpcall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2015, 10, 21, 7, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "7.5": 0,
		"86401": LongestWait, "99999999999999999999": LongestWait,
		"Wed, 21 Oct 2015 07:28:00 GMT": 28 * time.Minute, "Wed, 21 Oct 2015 06:28:00 GMT": 0, "Wed, 28 Oct 2015 07:28:00 GMT": LongestWait,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// An answer is cut at the bound, redirects are not followed, and errors do not show
// the URL.
func TestDo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/long", http.StatusFound)
		case "/hang":
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	}))
	defer server.Close()
	call := func(ctx context.Context, address string) (Answer, error) {
		t.Helper()
		return Call{Method: http.MethodGet, URL: address}.Do(ctx, Client(nil), 10)
	}
	if a, err := call(t.Context(), server.URL+"/long"); err != nil || !a.OK() || string(a.Body) != "xxxxxxxxxx" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := call(t.Context(), server.URL+"/away"); err != nil || a.OK() || a.Status != http.StatusFound {
		t.Errorf("a redirect: %+v, %v", a, err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := call(soon, server.URL+"/hang"); err == nil || !strings.HasPrefix(err.Error(), "no answer yet: ") {
		t.Errorf("a call that hangs: %v", err)
	}
	if _, err := call(t.Context(), "http://127.0.0.1:1/secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server: %v", err)
	}
}

func TestCall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		_, _ = fmt.Fprintf(w, "%s %s|%s|%s|%s|%s", r.Method, r.URL, h.Get("Accept"), h.Get("Content-Type"), h.Get("Authorization"), body)
	}))
	defer server.Close()
	for want, c := range map[string]Call{
		"GET /a?b=c|application/json|||":                                           {Method: "GET", URL: "/a?b=c"},
		"GET /|application/json||Bearer x|":                                        {Method: "GET", URL: "/", Header: http.Header{"Authorization": {"Bearer x"}}},
		`POST /|application/json|application/json||["<é"]`:                         {Method: "POST", URL: "/", JSON: []json.RawMessage{[]byte(`"<é"`)}},
		"POST /|application/json|application/x-www-form-urlencoded||a=1&b=%2B+%3D": {Method: "POST", URL: "/", Form: url.Values{"b": {"+ ="}, "a": {"1"}}},
	} {
		c.URL = server.URL + c.URL
		if a, err := c.Do(t.Context(), Client(nil), 1000); err != nil || strings.ReplaceAll(string(a.Body), `\u003c`, "<") != want {
			t.Errorf("%s, %v; want %s", a.Body, err, want)
		}
	}
	for what, c := range map[string]Call{
		"the URL is invalid": {Method: "GET", URL: "http://secret host/"},
		"unsupported type":   {Method: "POST", URL: server.URL, JSON: func() {}},
	} {
		if _, err := c.Do(t.Context(), Client(nil), 10); err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, what)
		}
	}
}

func TestWhole(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}))
	defer server.Close()
	client := http.Client{Transport: Whole{http.DefaultTransport, 10}}
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || len(body) != 10 {
		t.Errorf("%q, %v", body, err)
	}
	if response, err := client.Get(server.URL + "/away"); err == nil {
		_ = response.Body.Close()
		t.Error("a redirect is an answer")
	}
}

func TestBlamesRequest(t *testing.T) {
	for status, want := range map[int]bool{200: false, 302: false, 400: true, 401: false, 403: false, 404: true, 408: false, 409: true, 422: true, 429: false, 500: false} {
		if got := BlamesRequest(status); got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}
