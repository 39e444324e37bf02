package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
)

var errEnough = errors.New("enough")

// listening returns a listener whose pauses take no time, and end once they are all.
func listening(to string, all ...time.Duration) (l *listener, paused *[]time.Duration) {
	paused = &[]time.Duration{}
	return &listener{client: http.DefaultClient, sender: webhook.NewSender(true, nil), to: to, key: "sk_test_x", secret: commerce.StandardSecret([32]byte{1, 2}),
		pause: func(_ context.Context, d time.Duration) error {
			if *paused = append(*paused, d); len(*paused) > len(all) {
				return errEnough
			}
			return nil
		}}, paused
}

const oneEvent = `{"id":"evt_1","event":"order.paid", "order_id":"ord_1"}`

// TestForwardIsSigned: what arrives has the headers of a webhook, with signatures of the
// secret by both schemes.
func TestForwardIsSigned(t *testing.T) {
	var got http.Header
	var body []byte
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	t.Cleanup(to.Close)
	l, paused := listening(to.URL)
	l.forward(t.Context(), []byte(oneEvent))
	if string(body) != oneEvent || got.Get("User-Agent") != "purveyor" || got.Get("Content-Type") != "application/json" || got.Get("Webhook-Id") != "evt_1" || len(*paused) > 0 {
		t.Errorf("%s %v", body, got)
	}
	sum := func(key []byte, text string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	key := [32]byte{1, 2}
	if want := "v1," + base64.StdEncoding.EncodeToString(sum(key[:], "evt_1."+got.Get("Webhook-Timestamp")+"."+oneEvent)); got.Get("Webhook-Signature") != want {
		t.Errorf("%s, want %s", got.Get("Webhook-Signature"), want)
	}
	if want := hex.EncodeToString(sum([]byte(l.secret), oneEvent)); got.Get("X-Partner-Signature") != want {
		t.Errorf("%s, want %s", got.Get("X-Partner-Signature"), want)
	}
}

// TestForwardAgain: an event that is not taken is tried again, for a minute at the longest.
func TestForwardAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int // of the first tries
		tries int
	}{{"taken", 0, 1}, {"taken at last", 3, 4}, {"never taken", 100, 8}} {
		tries := 0
		to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tries++; tries <= c.fails {
				w.WriteHeader(http.StatusTeapot)
			}
		}))
		t.Cleanup(to.Close)
		l, paused := listening(to.URL, make([]time.Duration, 100)...)
		l.forward(t.Context(), []byte(oneEvent))
		sum := time.Duration(0)
		for _, d := range *paused {
			sum += d
		}
		if tries != c.tries || sum > listenRetries || c.fails == 100 && sum < listenRetries-10*time.Second {
			t.Errorf("%s: %d tries in %v", c.name, tries, *paused)
		}
	}
}

// TestListenChecksTheKey: a refused key ends the command before anything is forwarded, and a
// service that is away does not.
func TestListenChecksTheKey(t *testing.T) {
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = append(asked, r.Header.Get("X-Api-Key")); len(asked) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"ok":false,"error":"Missing or invalid x-api-key"}`)
	}))
	t.Cleanup(service.Close)
	l, _ := listening("http://127.0.0.1:1/", 0)
	l.base = service.URL
	if err := l.follow(t.Context()); err == nil || !strings.Contains(err.Error(), "401: Missing or invalid x-api-key") || l.begun || len(asked) != 2 {
		t.Errorf("%v after %v", err, asked)
	}
}
