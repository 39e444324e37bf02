package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/env"
)

func TestLimitPages(t *testing.T) {
	now := at(0)
	asked := 0
	handler := Trace(env.Env{}, slog.New(slog.DiscardHandler), limitPages(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if strings.HasPrefix(r.URL.Path, "/none/") {
			http.NotFound(w, r)
		}
	}), func() time.Time { return now }))
	get := func(address, path string) int {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.RemoteAddr = address + ":1"
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Errorf("%v", w.Header())
		}
		return w.Code
	}
	for i := range pagePerMinute {
		if code := get("192.0.2.1", "/page/a"); code != 200 {
			t.Fatalf("request %d: %d", i, code)
		}
	}
	for range missingPerMinute {
		get("192.0.2.2", fmt.Sprint("/none/", asked))
	}
	before := asked
	for _, c := range []struct {
		address, path string
		code          int
	}{
		{"192.0.2.1", "/page/a", 429}, {"192.0.2.1", "/page/b", 200}, {"192.0.2.3", "/page/a", 200},
		{"192.0.2.2", "/none/x", 429}, {"192.0.2.2", "/page/a", 429}, {"192.0.2.3", "/none/x", 404},
	} {
		if code := get(c.address, c.path); code != c.code {
			t.Errorf("%s %s: %d, want %d", c.address, c.path, code, c.code)
		}
	}
	if asked != before+3 {
		t.Errorf("%d of the last requests were served", asked-before)
	}
	now = now.Add(time.Minute)
	if get("192.0.2.1", "/page/a") != 200 || get("192.0.2.2", "/none/x") != 404 {
		t.Error("the next minute")
	}
}
