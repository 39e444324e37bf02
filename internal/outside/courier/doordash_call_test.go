package courier

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/testkit/fakedoordash"
)

// The fake server refuses the tokens that DoorDash would refuse.
func TestDoorDashToken(t *testing.T) {
	d, server := doordashStandIn(t)
	for ahead, fine := range map[time.Duration]bool{
		0: true, 25 * time.Second: true, -4 * time.Minute: true, time.Minute: false, -time.Hour: false,
	} {
		d.now = func() time.Time { return time.Now().Add(ahead) }
		if _, err := d.Quote(t.Context(), doordashRequest().QuoteRequest); fine != (err == nil) {
			t.Errorf("with a clock that is %s ahead: %v", ahead, err)
		}
	}
	o := DoorDashOptions{DeveloperID: server.DeveloperID, KeyID: server.KeyID, SigningSecret: "b3RoZXI", BaseURL: server.URL}
	d, err := NewDoorDash(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Create(t.Context(), doordashRequest())
	wantUnknown(t, err, "signing secret")
}

type doordashTransport func(*http.Request) (*http.Response, error)

func (f doordashTransport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestDoorDashEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := NewDoorDash(DoorDashOptions{DeveloperID: "d", KeyID: "k", SigningSecret: "cw",
			Transport: doordashTransport(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})})
		if err != nil {
			t.Fatal(err)
		}
		for what, call := range map[string]func() error{
			"quote":  func() error { _, err := d.Quote(t.Context(), doordashRequest().QuoteRequest); return err },
			"create": func() error { _, err := d.Create(t.Context(), doordashRequest()); return err },
			"read":   func() error { _, err := d.Get(t.Context(), Key{Ref: "dlv_a"}); return err },
			"cancel": func() error { _, err := d.Cancel(t.Context(), Key{Ref: "dlv_a"}); return err },
		} {
			begun := time.Now()
			err := call()
			wantUnknown(t, err, what+" a delivery: no answer yet")
			if took := time.Since(begun); took != doordashTimeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v after %s", what, err, took)
			}
		}
	})
}

// A redirect would send customers' data wherever it points.
func TestDoorDashFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		d := doordashAt(t, server.URL, fakedoordash.New(t))
		_, err := d.Create(t.Context(), doordashRequest())
		wantUnknown(t, err, "not one of DoorDash's")
		server.Close()
	}
}

func TestDoorDashEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for line := bytes.Repeat([]byte(" "), 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := doordashAt(t, server.URL, fakedoordash.New(t)).Get(t.Context(), Key{Ref: "dlv_a"})
	wantUnknown(t, err, "not one of DoorDash's")
}

// An answer may echo our token, which must not end up in an error.
func TestDoorDashTokenStaysSecret(t *testing.T) {
	for _, status := range []int{200, 302, 400, 401, 403, 404, 409, 422, 500, 503} {
		for _, body := range []string{`{"code":"x","message":"no: %"}`, `{"code":"%","field_errors":[{"field":"%","error":"%"}]}`, "<p>%", `{"external_delivery_id":"%"}`} {
			var token string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.ReplaceAll(body, "%", token))
			}))
			d := doordashAt(t, server.URL, fakedoordash.New(t))
			_, err1 := d.Quote(t.Context(), doordashRequest().QuoteRequest)
			_, err2 := d.Create(t.Context(), doordashRequest())
			_, err3 := d.Get(t.Context(), Key{Ref: "dlv_a"})
			_, err4 := d.Cancel(t.Context(), Key{Ref: "dlv_a"})
			for _, err := range []error{err1, err2, err3, err4} {
				if err == nil || token == "" || strings.Contains(err.Error(), token) {
					t.Errorf("%d %s: %v", status, body, err)
				}
			}
			server.Close()
		}
	}
}
